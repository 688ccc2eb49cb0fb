"""The page of operators in a browser: read, used with mouse and keyboard, narrow, dark, and without scripts."""

import os
import pathlib
import re
import shutil
import unittest

import samples
from admin_test import ADMIN, TOKEN, AdminService
from jobs_test import STUCK
from service import wait_until
from webdriver import ENTER, Browser

AXE = pathlib.Path(__file__).resolve().parents[1] / "tools/node_modules/axe-core/axe.min.js"
# Where pictures go, for whoever wants to look at them.
PICTURES = os.environ.get("PAGE_PICTURES")


class Paged(AdminService):
    """One request waits for readiness, one was cancelled, one is completed."""

    def __init__(self):
        super().__init__(ADMIN + 'admin_token_file = "{token_file}"\n' + STUCK)

    def accept(self, name):
        answer = self.post(samples.path_of(name), samples.body(name), headers={"Content-Type": "application/json"})
        assert answer.status == 202, answer
        return answer.json["result"]["jobId"]

    def tell(self, method, path):
        return self.admin(method, "{}" if method == "POST" else None, path=path)

    def status_of(self, job):
        return self.tell("GET", "/admin/jobs/" + job).json["status"]

    def fill(self):
        self.cancelled = self.accept("public-decrypt.json")
        assert self.tell("POST", f"/admin/jobs/{self.cancelled}/cancel").status == 200
        self.waiting = self.accept("user-decrypt.json")
        ended = self.accept("input-proof-1-value.json")
        wait_until(lambda: self.status_of(ended) == "completed", 10, "an input proof ends")


@unittest.skipUnless(shutil.which("chromedriver"), "no chromedriver (Debian: chromium-driver)")
class PageTest(unittest.TestCase):
    def setUp(self):
        self.service = self.enterContext(Paged())
        self.service.start()
        self.service.fill()
        self.base = f"http://127.0.0.1:{self.service.admin_port()}"

    def signed_in(self, **options):
        browser = self.enterContext(Browser(**options))
        browser.open(self.base + "/")
        browser.one("[name=token]").type(TOKEN + ENTER)
        browser.first("#live")
        browser.console()  # the page that asks for the token is a 401
        return browser

    def look(self, browser, name):
        """Axe finds nothing, the console is empty, and nothing is wider than the window."""
        if PICTURES:
            browser.picture(pathlib.Path(PICTURES) / f"{name}.png")
        found = browser.evaluate(AXE.read_text(encoding="utf-8") + """;
            axe.run().then(found => found.violations.map(one => [one.impact, one.id, one.nodes.map(n => n.html)]))""")
        self.assertEqual(found, [], name)
        width = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        self.assertLessEqual(width, 0, name)
        self.assertEqual(browser.console(), [], name)

    def pages(self):
        return {"overview": "/", "jobs": "/jobs", "waiting": "/jobs/" + self.service.waiting,
                "cancelled": "/jobs/" + self.service.cancelled}

    def test_every_page_is_accessible_wide_and_narrow_light_and_dark(self):
        for dark in (False, True):
            for size in ((1280, 900), (390, 844)):
                browser = self.signed_in(dark=dark, size=size)
                for name, path in self.pages().items():
                    browser.open(self.base + path)
                    self.look(browser, f"{name}-{size[0]}-{'dark' if dark else 'light'}")

    def test_a_job_is_retried_with_the_mouse_and_cancelled_with_the_keyboard(self):
        job = self.service.cancelled
        for scripts in (True, False):
            with self.subTest(scripts=scripts):
                browser = self.signed_in(scripts=scripts)
                browser.open(f"{self.base}/jobs/{job}")
                browser.one("summary").click()
                browser.button("Retry it").click()
                self.assertTrue(browser.text_of(".message").startswith("Asked anew"))
                again = re.search(r"/jobs/([0-9a-f-]{36})$", browser.url()).group(1)
                self.assertNotEqual(again, job)
                self.assertEqual(self.service.status_of(again), "queued")
                browser.open(browser.url())
                self.assertEqual(browser.all(".message"), [])

                browser.one("summary").type(ENTER)
                browser.button("Cancel it").type(ENTER)
                wait_until(lambda: self.service.status_of(again) == "failure", 10, "it is cancelled")
                job = again

    def test_a_kind_is_paused_and_resumed(self):
        browser = self.signed_in()
        browser.button("Pause input_proof").click()
        self.assertIn("Paused: input_proof", browser.text_of(".alerts"))
        browser.button("Resume input_proof").click()
        browser.first(".well")

    def test_an_open_page_follows_and_leaves_focus_and_typing_where_they_are(self):
        browser = self.signed_in()
        browser.open(self.base + "/jobs?status=unfinished")
        mark = "job-" + self.service.waiting
        browser.one("[name=client]").type("hal")
        browser.evaluate(f"document.getElementById('{mark}').focus()")
        later = self.service.accept("public-decrypt-context.json")
        browser.first("#job-" + later)
        self.assertEqual(browser.evaluate("document.activeElement.id"), mark)
        self.assertEqual(browser.one("[name=client]").value(), "hal")

    def test_nobody_acts_without_the_token_of_the_forms_and_signing_out_ends_it(self):
        browser = self.signed_in()
        browser.evaluate("document.querySelectorAll('[name=form_token]').forEach(f => { f.value = 'x' })")
        browser.button("Pause input_proof").click()
        self.assertIn("not from this page", browser.text_of(".message"))
        self.assertEqual(self.service.tell("GET", "/admin/status").json["paused"], [])
        cookie = browser.cookie("posthouse_session")
        self.assertEqual((cookie["httpOnly"], cookie["sameSite"]), (True, "Strict"))
        browser.open(self.base + "/")
        browser.button("Sign out").click()
        browser.first("[name=token]")
        browser.plant("posthouse_session", cookie["value"])
        browser.open(self.base + "/jobs")
        browser.first("[name=token]")
        for secret in (cookie["value"], TOKEN):
            self.assertNotIn(secret, self.service.log())

    def test_an_open_page_says_when_it_is_signed_out(self):
        browser = self.signed_in()
        form_token = browser.evaluate("document.querySelector('[name=form_token]').value")
        browser.evaluate(f"fetch('/logout', {{method: 'POST', body: new URLSearchParams({{form_token: '{form_token}'}})}})"
                         ".then(() => 0)")
        self.assertIn("No longer up to date", browser.text_of("[role=alert]"))


if __name__ == "__main__":
    unittest.main()
