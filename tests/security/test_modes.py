"""Whatever the umask, everything of memsyncd's is its owner's alone from the moment it exists."""

import json
import os
import signal
import stat
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest

from daemon.demo.play import play
from daemon.intake.spool import Spool
from daemon.service.failed_starts import FailedStarts
from daemon.service.files import DIRECTORY_MODE, MODE, replace
from daemon.status.history import NAME, History, Sample
from memsyncd.hooks.error_log import MAX_BYTES
from tests.end_to_end.conftest import Home
from tests.fakes.posthog import PROJECT_KEY, FakePostHog
from tests.security import page
from tests.standing_still import stand_still

WATCHED = Path(__file__).with_name("watched")
TOO_LARGE = 97 * 1024 * 1024


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def below(root: Path) -> Mapping[str, os.stat_result]:
    """Return everything below a directory, and itself, by its relative path."""
    return {str(path.relative_to(root)): path.lstat() for path in (root, *root.rglob("*"))}


def swallow(home: Home) -> None:
    """Have a hook meet something odd, and note it."""
    home.run("hook", "stop", "--harness", "No Such!", input="{}")


def everything(home: Home) -> Mapping[str, os.stat_result]:
    """Have the daemon, the hooks and the commands make all that they ever make; return what there was of it."""
    data, seen = home.places.data, {}
    with FakePostHog() as posthog:
        home.environ["MEMSYNCD_TELEMETRY_ENABLED"] = "true"
        home.environ["MEMSYNCD_TELEMETRY_ENDPOINT"] = posthog.url
        home.environ["MEMSYNCD_TELEMETRY_API_KEY"] = PROJECT_KEY
        home.start()
        home.exchange("s", 1, prompt="We decided that the zanzibar bucket holds the invoices.", answer="Ok.")
        home.hook("stop", {"session_id": "odd"}, harness="claude-code")
        home.end("s")
        home.until_quiet()
        oversized = home.spool() / "pending" / "large.json"
        os.close(os.open(oversized, os.O_CREAT | os.O_WRONLY, 0o600))
        os.truncate(oversized, TOO_LARGE)
        home.until(lambda: list((home.spool() / "dead").glob("*.reason.json")), "nothing was given up")
        for arguments in (
            ("pause", "--project", str(home.project)),
            ("forget", "--yes", "--session", "s"),
            ("doctor", "--deep"),
            ("export", "--to", str(home.root / "export.jsonl")),
            ("hooks", "install", "--harness", "claude-code"),
            ("mcp", "install", "--harness", "claude-code"),
        ):
            home.run(*arguments)
        (home.root / "lines").write_text('{"type": "memsyncd-export", "version": 1}\nnot json\n')
        home.run("import", str(home.root / "lines"))
        home.environ["MEM0_TELEMETRY"] = ""
        assert home.daemon is not None
        stand_still(home.daemon.pid)
        home.hook("user-prompt", {"session_id": "unanswered", "prompt": "Who answers this?"})
        seen |= below(data)
        home.daemon.send_signal(signal.SIGCONT)
        home.stop()
    home.exchange("waits", 1)
    broken = home.spool() / "pending" / "broken"
    for name in (".running", ".tmp"):
        os.close(os.open(f"{broken}{name}", os.O_CREAT | os.O_WRONLY, 0o600))
    seen |= below(data)
    Spool(home.spool(), "claude-code", own=True).quarantine("broken", "nothing in it")
    home.run("pause")
    seen |= below(data)
    home.run("resume")
    home.run("resume", "--project", str(home.project))
    FailedStarts(data).tell("it was a test")
    History(data / NAME).keep(Sample(1))
    swallow(home)
    os.truncate(home.places.hook_error_log, MAX_BYTES)
    swallow(home)  # which renames the log, now that it is large
    swallow(home)
    return seen | below(data)


def test_every_file_has_the_mode_that_the_page_tells_from_the_moment_it_exists(home: Home, no_umask: None) -> None:
    """Under a umask of 0: each path matches a row, each row has a path, and nothing is ever made more open than it
    ends up, as those who make it see it themselves."""
    log = home.root / "made.log"
    home.environ |= {"MADE_LOG": str(log), "PYTHONPATH": str(WATCHED)}
    seen = everything(home)
    told = page.made()
    unmatched = {
        name: f"{stat.S_IMODE(status.st_mode):o}"
        for name, status in seen.items()
        if not any(row.covers(name, status) and stat.S_IMODE(status.st_mode) == row.mode for row in told)
    }
    assert unmatched == {}
    missing = [row.pattern for row in told if not any(row.covers(name, status) for name, status in seen.items())]
    assert missing == []
    made = dict(json.loads(line) for line in log.read_text().splitlines())
    ours = {path: mode for path, mode in made.items() if path.startswith(str(home.places.data))}
    assert {str(home.places.queue_file), str(home.places.status_socket.parent / ".status.new")} <= set(ours)
    of_the_tests = ("__pycache__", "/.coverage")
    open_to_others = {path: f"{mode:o}" for path, mode in made.items() if mode & 0o077}
    assert {path: mode for path, mode in open_to_others.items() if not any(part in path for part in of_the_tests)} == {}


def test_the_demo_leaves_nothing_that_others_can_read(tmp_path: Path, no_umask: None) -> None:
    """Its throw-away home too, with the repository it plays in."""
    play(tmp_path, StringIO())
    found = {name: status for name, status in below(tmp_path).items() if name != "."}
    assert "memsyncd/spools/claude-code/evidence.sqlite3" in found
    assert {name: f"{status.st_mode:o}" for name, status in found.items() if status.st_mode & 0o077} == {}


def test_a_unit_s_missing_directories_are_nobody_else_s_to_write(tmp_path: Path, no_umask: None) -> None:
    """Whoever could write there could have a service manager run what he likes."""
    path = tmp_path / ".config" / "systemd" / "user" / "memsyncd.service"
    assert replace(path, b"[Unit]\n")
    modes = {name: stat.S_IMODE(status.st_mode) for name, status in below(tmp_path / ".config").items()}
    assert modes == dict.fromkeys((".", "systemd", "systemd/user"), DIRECTORY_MODE) | {
        "systemd/user/memsyncd.service": MODE
    }
