"""A small client of a browser's DevTools protocol over its pipe: no port, no library, every message a line.

The browser reads descriptor 3 and writes 4; each JSON message ends with a zero byte.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60.0

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # of no use to root, whose pages here are our own
    "--no-first-run",
    "--no-proxy-server",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en",
)


def found() -> str | None:
    """Return a browser of this machine."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One headless browser with a profile of its own. `errors` are what its person's pages logged, `requests` what they
    asked for: method and URL."""

    def __init__(self, executable: str, *flags: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="browser-", dir="/tmp")
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        command = f'exec "$@" 3<&{theirs_read} 4>&{theirs_write} {theirs_read}<&- {theirs_write}>&-'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, "browser", executable, *FLAGS, *flags, f"--user-data-dir={self._profile}"],
            pass_fds=(theirs_read, theirs_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": self._profile, "TZ": "UTC", "LANG": "C.UTF-8"},
        )
        os.close(theirs_read)
        os.close(theirs_write)
        self._out, self._in = os.fdopen(ours_write, "wb", buffering=0), os.fdopen(ours_read, "rb")
        self._answers: dict[int, Any] = {}
        self._news = threading.Condition()
        self._last = 0
        self._session = ""
        self._is_over = False
        self._person = ""
        self.errors: list[str] = []
        self.requests: list[tuple[str, str]] = []
        threading.Thread(target=self._read, name="browser", daemon=True).start()

    def sit_down(self) -> None:
        """Be a new person: no page, no cookie, no cache, nothing noted."""
        self._session = ""
        if self._person:
            self.command("Target.disposeBrowserContext", browserContextId=self._person)
        self._person = self.command("Target.createBrowserContext")["browserContextId"]
        target = self.command("Target.createTarget", url="about:blank", browserContextId=self._person)["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")
        self.errors.clear()
        self.requests.clear()

    def command(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result; fail where the browser says it failed."""
        self._last += 1
        number = self._last
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        with self._news:
            arrived = self._news.wait_for(lambda: number in self._answers or self._is_over, SECONDS)
            assert arrived and not self._is_over, f"{method} was not answered"
            answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, url: str) -> None:
        """Go to a page as a person who types its address."""
        self.command("Page.navigate", url=url, transitionType="typed")
        self.until("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """Return what an expression, or its promise, gives."""
        answer = self.command("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, (
                f"not in time: {condition}; errors: {self.errors}; on the page: {self.text()[:2000]}"
            )
            time.sleep(0.03)

    def text(self, selector: str = "body") -> str:
        """Return what a person reads there."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def click(self, selector: str, text: str = "") -> None:
        """Click with the pointer on the first element that is shown and says `text`."""
        point = self.evaluate(
            f"""(() => {{
            const all = [...document.querySelectorAll({json.dumps(selector)})];
            const one = all.find((each) => each.getClientRects().length && each.innerText.includes({json.dumps(text)}));
            if (!one) return null;
            one.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = one.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        assert point, f"nothing to click: {selector} {text}; errors: {self.errors}; on the page: {self.text()[:2000]}"
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=point[0], y=point[1], button="left", clickCount=1)

    def write(self, text: str) -> None:
        """Type into what has the focus."""
        self.command("Input.insertText", text=text)

    def press(self, key: str, *, text: str = "") -> None:
        """Press a key."""
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37}.get(key, ord(key[0].upper()))
        told: Mapping[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.command("Input.dispatchKeyEvent", type="keyDown", **told, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **told)

    def look(self, *, width: int, height: int, dark: bool = False) -> None:
        """Be a screen of this size, and a person who likes it light or dark."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """Keep what is to be seen as a PNG."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser and remove its profile."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _read(self) -> None:
        rest = b""
        with self._in:
            while more := os.read(self._in.fileno(), 1 << 20):
                *messages, rest = (rest + more).split(b"\0")
                for message in messages:
                    self._take(json.loads(message))
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def _take(self, message: Mapping[str, Any]) -> None:
        with self._news:
            if "id" in message:
                self._answers[message["id"]] = message
                self._news.notify_all()
                return
            note = NOTES.get(message.get("method", ""))
            if note is not None and message.get("sessionId") == self._session:
                note(self, message["params"])


def _logged(browser: Browser, entry: Mapping[str, Any]) -> None:
    if entry["level"] in ("error", "warning"):
        browser.errors.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")


NOTES: Mapping[str, Callable[[Browser, Any], None]] = {
    "Runtime.exceptionThrown": lambda browser, told: browser.errors.append(str(told["exceptionDetails"])),
    "Runtime.consoleAPICalled": lambda browser, told: browser.errors.append(f"console.{told['type']}: {told['args']}"),
    "Log.entryAdded": lambda browser, told: _logged(browser, told["entry"]),
    "Network.requestWillBeSent": lambda browser, told: browser.requests.append(
        (told["request"]["method"], told["request"]["url"])
    ),
    "Page.javascriptDialogOpening": lambda browser, told: browser.errors.append(f"dialog: {told['message']}"),
}
"""What a page does that a test looks at afterwards."""
