# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A browser for tests of the page: Debian's chromium, without a window, driven by selenium.

What it loads is watched: errors in its console and requests to anywhere but the page's own
server are kept for the end."""

import contextlib
import json
import shutil

import pytest

from checks import wait_until
from labs import BUILDDIR

_WAIT_S = 30
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--disable-background-networking", "--disable-component-update", "--no-first-run",
          "--disable-extensions", "--disable-sync", "--window-size=1400,900")
# Nothing is under way, and what was asked for is drawn.
_IS_READY = """
const main = document.querySelector("#main"), canvas = document.querySelector("#canvas");
return main && main.getAttribute("aria-busy") !== "true"
    && !main.textContent.startsWith("Asking") && (!canvas || canvas.dataset.drawn === "true");
"""
REQUESTS = "return performance.getEntriesByType('resource').map((it) => it.name)"


class Browser:
    """One page of a browser; 'base' is the address of the server."""

    def __init__(self, driver, base):
        self.driver, self.base = driver, base

    @property
    def text(self):
        return self.js("return document.querySelector('#main').innerText")

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, route):
        """Loads the page anew at a route: '/links?down=1'."""
        self.driver.get("about:blank")
        self.driver.get(f"{self.base}/#{route}")
        self.wait_ready()

    def go(self, route):
        """Another route of the page that is there, or of this one if another is."""
        if not self.driver.current_url.startswith(f"{self.base}/"):
            self.open(route)
            return
        self.js("location.hash = arguments[0]", f"#{route}")
        # A view is asked for in the next turn of the browser's loop.
        self.driver.execute_async_script("setTimeout(arguments[0], 0)")
        self.wait_ready()

    def wait_ready(self):
        wait_until(lambda: self.js(_IS_READY), _WAIT_S, lambda: f"a view; {self.text}")
        for mistake in ("[object", "undefined", "NaN", "null"):
            assert mistake not in self.text, self.text

    def wait_for_text(self, text, timeout_s=_WAIT_S):
        wait_until(lambda: text in self.text, timeout_s, lambda: f"{text!r}, in {self.text}")

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 500)

    def prefer(self, **features):
        """Media features: prefer(prefers_color_scheme="dark")."""
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value}
            for name, value in features.items()])

    def screenshot(self, name):
        """Kept as the test's output."""
        folder = BUILDDIR / "page-screenshots"
        folder.mkdir(exist_ok=True)
        self.driver.save_screenshot(str(folder / f"{name}.png"))

    def errors(self):
        """What its console had since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE"]

    def strangers(self):
        """Addresses of other servers that it asked since the page was loaded."""
        return [name for name in self.js(REQUESTS)
                if not name.startswith((f"{self.base}/", "data:"))]


@contextlib.contextmanager
def browser(base):
    """A Browser, ended with the block.  Skips the test where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program = shutil.which("chromium")
    if not program or not shutil.which("chromedriver"):
        pytest.skip("no chromium and chromedriver: scripts/deps check installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    driver = webdriver.Chrome(service=service, options=options)
    try:
        driver.set_script_timeout(_WAIT_S)
        yield Browser(driver, base)
    finally:
        driver.quit()


def print_figures(name, figures):
    print(json.dumps({name: figures}))
