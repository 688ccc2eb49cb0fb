"use strict";

// Keeps what is shown up to date. Without it the page shows what was true when it was loaded.
(() => {
  const live = document.getElementById("live");
  if (!live || !live.dataset.path || !window.EventSource) return;
  const source = "/events?of=" + encodeURIComponent(live.dataset.path);
  let events = null;
  let shown = null;

  // What has the focus, or is scrolled, is so afterwards too.
  function show(html) {
    if (html === shown) return;
    shown = html;
    const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
    const regions = () => Array.from(live.querySelectorAll(".wide"));
    const regionAt = regions().indexOf(document.activeElement);
    const places = regions().map((region) => region.scrollLeft);
    live.innerHTML = html;
    regions().forEach((region, i) => { region.scrollLeft = places[i] || 0; });
    const again = focused ? document.getElementById(focused) : regions()[regionAt];
    if (again) again.focus({ preventScroll: true });
  }

  // The server no longer knows this browser: it was started anew, or the time is over.
  function stopped() {
    if (events.readyState !== EventSource.CLOSED) return;
    const notice = document.createElement("p");
    notice.className = "message";
    notice.setAttribute("role", "alert");
    notice.textContent = "No longer up to date: load the page anew and sign in.";
    live.before(notice);
  }

  function open() {
    if (events || document.hidden) return;
    events = new EventSource(source);
    events.onmessage = (event) => show(event.data);
    events.onerror = stopped;
  }
  function close() {
    if (events) events.close();
    events = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  open();
})();
