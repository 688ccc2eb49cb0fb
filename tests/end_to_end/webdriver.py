"""Chromium without a window, driven over WebDriver (W3C Recommendation, 2018) by Debian's chromium-driver."""

import base64
import http.client
import json
import pathlib
import re
import subprocess

from service import wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver 11
ENTER = "\ue007"


class Element:
    def __init__(self, browser, reference):
        self.browser = browser
        self.path = f"/element/{reference[ELEMENT]}"

    def click(self):
        self.browser.tell("POST", self.path + "/click", {})

    def type(self, text):
        self.browser.tell("POST", self.path + "/value", {"text": text})

    def text(self):
        return self.browser.tell("GET", self.path + "/text")

    def value(self):
        return self.browser.tell("GET", self.path + "/property/value")


class Browser:
    """Entered: a window of that size. `scripts`: whether pages may run any."""

    def __init__(self, scripts=True, dark=False, size=(1280, 900)):
        self.scripts = scripts
        self.dark = dark
        self.size = size
        self.session = None

    def __enter__(self):
        self.start_driver()
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_driver(self):
        """It looks for a port that is free on one address, and may find it taken on another."""
        for _ in range(5):
            self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
            for line in self.driver.stdout:
                if found := re.search(r"started successfully on port (\d+)", line):
                    self.port = int(found.group(1))
                    return
            self.driver.wait(30)
            self.driver.stdout.close()
        raise AssertionError("chromedriver does not start")

    def __exit__(self, *_):
        if self.session:
            self.tell("DELETE", "")
        self.driver.terminate()
        self.driver.wait(30)
        self.driver.stdout.close()

    def begin(self):
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                            "--hide-scrollbars"]}
        if not self.scripts:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        begun = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + begun["sessionId"]
        self.develop("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1],
                     deviceScaleFactor=1, mobile=self.size[0] < 500)
        self.develop("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}])

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            value = json.loads(answer.read())["value"]
        finally:
            connection.close()
        if answer.status != 200:
            raise AssertionError(f"{method} {path}: {value['error']}: {value['message']}")
        return value

    def tell(self, method, path, body=None):
        return self.ask(method, self.session + path, body)

    def develop(self, command, **parameters):
        """A command of the Chrome DevTools Protocol."""
        return self.tell("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def evaluate(self, expression):
        """What an expression, or its promise, comes to; also where pages run no scripts of their own."""
        found = self.develop("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def open(self, url):
        self.tell("POST", "/url", {"url": url})

    def url(self):
        return self.tell("GET", "/url")

    def all(self, selector):
        return [Element(self, reference) for reference in
                self.tell("POST", "/elements", {"using": "css selector", "value": selector})]

    def one(self, selector):
        return Element(self, self.tell("POST", "/element", {"using": "css selector", "value": selector}))

    def first(self, selector):
        """The first such element, once there is one: a click does not always wait for the page it leads to."""
        return wait_until(lambda: self.all(selector), 20, selector)[0]

    def text_of(self, selector):
        """What the first such element says, once there is one; a page that follows may replace it at any time."""
        found = f"document.querySelector({json.dumps(selector)})?.innerText"
        return wait_until(lambda: self.evaluate(found), 20, selector)

    def button(self, text):
        return Element(self, self.tell("POST", "/element",
                                       {"using": "xpath", "value": f"//button[text()='{text}']"}))

    def cookie(self, name):
        return self.tell("GET", "/cookie/" + name)

    def plant(self, name, value):
        self.tell("POST", "/cookie", {"cookie": {"name": name, "value": value}})

    def console(self):
        return [line["message"] for line in self.tell("POST", "/se/log", {"type": "browser"})]

    def picture(self, file):
        pathlib.Path(file).write_bytes(base64.b64decode(self.tell("GET", "/screenshot")))
