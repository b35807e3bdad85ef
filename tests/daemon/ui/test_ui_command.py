"""`memsyncd ui` as a process of its own, with no daemon there."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from daemon.cli import ui as ui_command
from daemon.places import resolve
from daemon.status.history import MINUTE_SECONDS, NAME, History, Sample
from daemon.ui.serving import Serving
from memsyncd.clock import Clock
from tests.daemon.composed import composed


class Ui:
    """The command, running."""

    def __init__(self, root: Path) -> None:
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "USER": "ada",
            "MEMSYNCD_HOME": str(root / "m"),
            **{name: value for name, value in os.environ.items() if name.startswith(("COVERAGE", "COV_"))},
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "daemon", "ui"],
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.port = int(urlsplit(self.url).port or 0)
        self.root = self.cookie = self.acting = ""

    def enter(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/?" + urlsplit(self.url).query)
        answer = connection.getresponse()
        self.root = str(answer.getheader("Location"))
        self.cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]
        connection.close()
        self.acting = self.get("")[1].decode().partition('memsyncd-token" content="')[2].partition('"')[0]

    def get(self, name: str) -> tuple[int, bytes]:
        return self._ask("GET", name, {}, None)

    def post(self, name: str, document: Any) -> tuple[int, Any]:
        headers = {
            "Origin": f"http://127.0.0.1:{self.port}",
            "Memsyncd-Token": self.acting,
            "Content-Type": "application/json",
        }
        status, body = self._ask("POST", name, headers, json.dumps(document))
        return status, json.loads(body)

    def _ask(self, method: str, name: str, headers: dict[str, str], body: str | None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, self.root + name, body, {"Cookie": self.cookie, **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def is_open(self) -> bool:
        return is_open(self.port)

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def is_open(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(60)
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[Ui]:
    running = Ui(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_with_its_port_on_ctrl_c_and_with_the_terminal(ui: Ui, number: int) -> None:
    """No port stays open, and ending it is no failure."""
    assert ui.url.startswith("http://127.0.0.1:")
    assert ui.is_open()
    assert ui.end(number) == 0
    assert not ui.is_open()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """A shell that was killed told its children nothing."""
    script = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-m', 'daemon', 'ui'], stdout=sys.stdout, start_new_session=True)\n"
        "sys.stdin.read()\n"
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MEMSYNCD_HOME": str(tmp_path / "m"), "USER": "ada"}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        port = int(urlsplit(parent.stdout.readline().strip()).port or 0)
        assert is_open(port)
        parent.kill()
        end = time.monotonic() + 60
        while is_open(port):
            assert time.monotonic() < end, "it outlived its parent"
            time.sleep(0.05)


def test_it_ends_by_itself_when_nobody_looks() -> None:
    """And says so."""
    import asyncio

    told: list[str] = []
    serving = Serving(None, Clock(), told.append, 0.0, signals=())  # type: ignore[arg-type]
    asyncio.run(serving.until_over(lambda _: None))
    assert told == ["Nobody has looked for 0 minutes: the page has ended."]


def test_with_the_daemon_down_the_files_tell_and_nothing_is_changed(tmp_path: Path) -> None:
    """Status, sessions, jobs, charts and the embedded platform's memories; what would act says why not."""
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        made.record("s-1", "how are releases cut")
        minute = int(time.time() // MINUTE_SECONDS)
        History(made.places.data / NAME).keep(Sample(minute - 1, taken=7))
        made.parts.close()
        look(Ui(tmp_path))


def look(ui: Ui) -> None:
    try:
        ui.enter()
        assert json.loads(ui.get("api/overview")[1])["status"]["state"] == "down"
        (session,) = json.loads(ui.get("api/sessions")[1])["sessions"]
        assert (session["id"], session["events"]) == ("s-1", 2)
        assert json.loads(ui.get("api/jobs")[1])["jobs"] is not None
        assert [each["taken"] for each in json.loads(ui.get("api/history?minutes=60")[1])["samples"]] == [7]
        status, found = ui.post("api/search", {"query": "releases", "cwd": "/w/tool"})
        assert (status, found["source"]) == (200, "local")
        assert ui.post("api/search", {"query": " "})[0] == 409
        for name, document in (
            ("forget", {"memory": "m", "yes": True}),
            ("pin", {"namespace": "n", "key": "k", "value": "v"}),
            ("retry", {"id": "flush:x"}),
            ("discard", {"id": "handoff:claude-code/x"}),
        ):
            status, said = ui.post(f"api/{name}", document)
            assert status == 503 and "not running" in said["error"]
        assert ui.get("api/namespaces")[0] == 503
        assert ui.end() == 0
    finally:
        if ui.process.poll() is None:
            ui.process.kill()
        ui.process.communicate()


def test_the_browser_is_opened_beside_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One that cannot be started is told of, and the link is there all the same."""
    import threading

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: bool(opened.append(url)))
    ui_command._open("http://127.0.0.1:1/")
    for thread in threading.enumerate():
        if thread.name == "browser":
            thread.join(60)
    assert opened == ["http://127.0.0.1:1/"]
    assert "by hand" in capsys.readouterr().err


def test_it_needs_no_place_of_its_own(tmp_path: Path) -> None:
    """It writes nothing: a look must not make what is looked for."""
    ui = Ui(tmp_path)
    try:
        ui.enter()
        assert ui.get("api/overview")[0] == ui.get("api/sessions")[0] == ui.get("api/history")[0] == 200
        assert ui.end() == 0
    finally:
        ui.process.communicate()
    assert list(tmp_path.iterdir()) == []
    assert not resolve(ui.environ, tmp_path, os.getuid(), sys.platform).data.exists()
