"""Where the key is and is not: in the header of a request to the platform, and nowhere else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.api_key.source import KeySource
from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_api import FakeMem0

KEY = "m0-" + "lighthouse" * 3
"""Of no platform's form, so that only its being known can have it left out."""


@pytest.fixture
def keyed(hosted: Home, api: FakeMem0) -> Home:
    """Give a home whose key lies in a file, as documented."""
    del hosted.environ["MEM0_API_KEY"]
    api.keys = {KEY}
    file = hosted.root / "key"
    file.write_text(KEY)
    file.chmod(0o600)
    hosted.environ["MEMSYNCD_PLATFORM_API_KEY_FILE"] = str(file)
    return hosted


def descendants(pid: int) -> list[int]:
    """Return a process and those it started."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [pid, *(each for child in children for each in descendants(child))]


COMMANDS = (
    ("status",),
    ("status", "--json"),
    ("doctor", "--json"),
    ("config", "show"),
    ("jobs", "list", "--json"),
    ("search", "what of it?"),
)

TROUBLE: dict[str, Callable[[], behave.Behaviour]] = {
    "the platform repeats it in a refusal": lambda: behave.reject(400, f"the key {KEY} is not allowed to do that"),
    "the platform repeats it in a refused key": lambda: behave.commit_and_answer(
        401, {"detail": f"Token {KEY} is wrong"}
    ),
    "the platform repeats it in an error of its own": lambda: behave.commit_and_answer(500, {"error": f"{KEY}"}),
    "the connection breaks": behave.cut,
    "a redirect": lambda: behave.redirect(f"http://127.0.0.1:9/?key={KEY}"),
}


@pytest.mark.parametrize("trouble", TROUBLE.values(), ids=TROUBLE)
def test_the_key_is_nowhere_but_in_its_file(
    keyed: Home, api: FakeMem0, trouble: Callable[[], behave.Behaviour]
) -> None:
    """In no log, status, error, job, database, command line, environment, and in no output of any command, also where
    the platform itself repeats it or the call ends badly."""
    for route in ("add", "search", "ping", "list", "events"):
        api.always(route, trouble())
    daemon = keyed.start()
    keyed.exchange("s", 1)
    keyed.end("s")
    keyed.until(lambda: any(word in keyed.logged() for word in ('"retried"', '"cooled"')), "nothing went wrong")
    for pid in descendants(daemon.pid):
        for name in ("cmdline", "environ"):
            assert KEY.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
    for arguments in COMMANDS:
        done = keyed.run(*arguments)
        assert KEY not in done.stdout + done.stderr, arguments
        assert "Traceback" not in done.stderr, arguments
    for route in ("/status", "/jobs", "/events?since=0", "/sessions", "/metrics"):
        assert KEY.encode() not in keyed.client.request("GET", route)
    assert KEY not in keyed.logged()
    keyed.stop()
    held = {path for path in keyed.root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()}
    assert held == {keyed.root / "key"}
    assert api.requests("add")  # it had been asked, and knew the key


def test_a_prompt_that_the_platform_repeats_is_told_by_nothing(hosted: Home, api: FakeMem0) -> None:
    """An answer that quotes what it cannot take puts nobody's words where a monitor or a browser reads them
    (CONTRACT: Status socket)."""
    said, answered = "Tell nobody that the lighthouse moves to Ostend", "It moves in the night of the third of May."
    quoted = f"invalid input: {json.dumps(said)}; {answered.upper()}"
    api.always("add", behave.answer(400, {"detail": quoted}))
    hosted.start()
    hosted.exchange("s", 1, prompt=said, answer=answered)
    hosted.end("s")
    hosted.until(lambda: "[what was sent]" in hosted.run("jobs", "list", "--json").stdout, "it was not refused")
    for route in ("add", "search", "list", "events", "event", "ping"):
        api.always(route, behave.answer(500, {"error": quoted}))
    hosted.exchange("t", 1, prompt=said, answer=answered)
    hosted.end("t")
    hosted.until(lambda: "[what was sent]" in str(hosted.status()["problems"]), "it does not cool")
    told = [hosted.run(*arguments).stdout for arguments in COMMANDS[:2] + COMMANDS[4:5]]
    routes = ("/status", "/jobs", "/events?since=0", "/sessions")
    told += [hosted.client.request("GET", route).decode() for route in routes]
    told.append(hosted.logged())
    for words in ("lighthouse", "ostend", "third of may"):
        assert [text for text in told if words in text.casefold()] == []


def test_what_asks_for_a_key_is_told_nothing_and_gives_it_to_nobody(tmp_path: Path) -> None:
    """The command gets neither input nor a place for errors, and its answer is in no word about it."""
    told = tmp_path / "told"
    command = f"sh -c 'env > {told}; cat >> {told}; echo {KEY} >&2; echo {KEY}'"
    source = KeySource(command=command, command_environment={"PATH": os.environ["PATH"]})
    assert source.current() == KEY
    assert KEY not in repr(source) + source.origin() + " ".join(source.problems()) + source.fingerprint()
    assert KEY not in told.read_text()


def test_an_unforeseen_error_tells_where_and_not_what(tmp_path: Path) -> None:
    """Its words may be anybody's: the log has its kind and its place."""
    script = (
        "import sys, structlog\n"
        "from daemon.logs import setup\n"
        "setup('debug', 'json', stream=sys.stderr)\n"
        "log = structlog.get_logger()\n"
        "key = sys.argv[1]\n"
        "try:\n    raise RuntimeError(f'the key {key} broke')\n"
        "except RuntimeError:\n    log.exception('it-broke', secret=key, headers={'Authorization': key})\n"
        "import logging\nlogging.getLogger('httpx').error('a\\n%s', key)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, KEY], capture_output=True, text=True, check=True)
    assert KEY not in done.stderr + done.stdout
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines[0]["error"] == "RuntimeError" and "<string>" in lines[0]["where"]
