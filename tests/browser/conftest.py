"""A person at a real browser, beside a real daemon with a recorded session."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from daemon.demo.recording import steps
from tests.browser.devtools import Browser, found
from tests.end_to_end.conftest import Home

FOREIGN = "evil.example"
"""A name that leads to loopback, as its owner may let it."""


@dataclass
class Visit:
    """One browser at one page of `memsyncd ui`."""

    home: Home
    browser: Browser
    ui: "subprocess.Popen[str]"
    url: str

    @property
    def origin(self) -> str:
        split = urlsplit(self.url)
        return f"{split.scheme}://{split.netloc}"

    def go(self, page: str) -> None:
        """Follow the link to one of the pages, and wait until it shows something."""
        self.browser.click("nav a", page)
        name = {"Charts": "charts"}.get(page, page.lower())
        self.browser.until(
            f"!document.querySelector('#page-{name}').hidden && document.querySelector('#{name}').children.length"
        )


@pytest.fixture(scope="session")
def executable() -> str:
    """Return the system's browser; none is downloaded."""
    browser = found()
    if browser is None:
        if os.environ.get("MEMSYNCD_REQUIRE_BROWSER"):
            pytest.fail("MEMSYNCD_REQUIRE_BROWSER is set, and there is no browser (Debian: apt-get install chromium)")
        pytest.skip("no browser here (Debian: apt-get install chromium)")
    return browser


@pytest.fixture(scope="session")
def played(executable: str) -> Iterator[Home]:
    """Give a home whose daemon has delivered the recorded session."""
    home = Home(Path(tempfile.mkdtemp(prefix="b-", dir="/tmp")))
    try:
        home.start()
        for step in steps(home.project):
            home.hook(step.action, step.hook_input, reason=step.reason)
            if step.action == "flush":  # before more is said, which would go with it
                home.until_quiet()
        yield home
    finally:
        home.close()


@pytest.fixture(scope="session")
def browser(executable: str) -> Iterator[Browser]:
    """Give a browser for all tests; each has a person of its own at it."""
    running = Browser(executable, f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1")
    yield running
    running.close()


@pytest.fixture
def visit(played: Home, browser: Browser) -> Iterator[Visit]:
    """Give the page, opened by its link."""
    ui = subprocess.Popen(
        [sys.executable, "-m", "daemon", "ui"],
        env=played.environ,
        cwd=played.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert ui.stdout is not None
        url = ui.stdout.readline().strip()
        browser.sit_down()
        browser.look(width=1200, height=900)
        browser.open(url)
        browser.until("document.querySelector('#overview').children.length")
        yield Visit(played, browser, ui, url)
    finally:
        ui.kill()
        ui.communicate()
