"""`status --watch` and colours on a real pseudo-terminal, against a real socket."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.status_socket.socket_file import listen
from tests.daemon.cli.on_terminal import DEADLINE, ROOT, daemon, terminal

LIVE = ("status", "--watch")
ENTERED, LEFT, SHOWN = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"
HOME = "\x1b[H"


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def served() -> Iterator[Path]:
    """Return a home whose daemon answers to all that do not change it."""
    directory = Path(tempfile.mkdtemp(dir="/tmp"))
    with daemon(directory, "1.1.1"):
        yield directory
    shutil.rmtree(directory)


def test_watch_survives_the_daemon_going_and_coming(home: Path) -> None:
    """The screen follows the daemon down and up again; q ends it with 0, quietly."""
    with terminal(home, *LIVE) as screen:
        screen.until("The daemon is not running")
        with daemon(home, "1.1.1"):
            screen.until("1.1.1, pid 7")
            screen.forget()
        screen.until("The daemon is not running")
        with daemon(home, "2.2.2"):
            screen.until("2.2.2, pid 7")
        screen.press("q")
        assert screen.ended() == 0
        assert "Traceback" not in screen.seen


def test_the_charts_show_the_daemons_history(served: Path) -> None:
    """Depth, throughput and latency of the last hour are drawn, with what their highest column stands for."""
    with terminal(served, *LIVE, columns=80, rows=24) as screen:
        screen.until("q quit")
        told = screen.plain()
    for words in ("waiting ", "41", "3 now", "delivered ", "7/h", "latency ", "1.5 s", "60 min ago", "█"):
        assert words in told


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, "\x03", "q"])
def test_however_it_ends_the_terminal_is_as_before(served: Path, how: signal.Signals | str) -> None:
    """By a key, Ctrl-C or a signal: 0, the first screen, the cursor and the modes are back."""
    with terminal(served, *LIVE) as screen:
        screen.until("q quit")
        assert ENTERED in screen.seen and not screen.is_as_before()
        screen.press(how) if isinstance(how, str) else screen.process.send_signal(how)
        assert screen.ended() == 0
        assert screen.is_as_before()
        assert screen.seen.rindex(LEFT) > screen.seen.rindex(ENTERED)
        assert screen.seen.endswith((SHOWN + LEFT, LEFT + SHOWN, SHOWN))


def test_an_error_gives_the_terminal_back_too(home: Path) -> None:
    """What cannot be drawn or looked at ends it with its own code, on the first screen."""
    script = (
        "import sys, daemon.cli.watch_feed as feed; looks = []\n"
        "def look(self):\n"
        "    looks.append(1)\n"
        "    if len(looks) > 1: raise RuntimeError('of a test')\n"
        "    return feed.Look({'state': 'ok', 'summary': 'Well.'}, [None] * 60, 0.0)\n"
        "feed.Looker.look = look\n"
        "import daemon.__main__; sys.exit(daemon.__main__.main(['status', '--watch']))"
    )
    with terminal(home, program=script) as screen:
        assert screen.ended() == 1
        assert screen.is_as_before()
        assert screen.seen.rindex("RuntimeError: of a test") > screen.seen.rindex(LEFT)


def test_a_closed_terminal_is_a_quiet_end(served: Path) -> None:
    """Where the window is closed there is nobody to tell anything, and nothing failed."""
    with terminal(served, *LIVE) as screen:
        screen.until("q quit")
        screen.hang_up()
        assert screen.process.wait(DEADLINE) == 0


def test_keys_do_what_they_say(home: Path) -> None:
    """With p it pauses and resumes, f flushes, r asks once and retries; arrows and other keys do nothing."""
    with daemon(home, "1.1.1"), terminal(home, *LIVE) as screen:
        screen.until("p pause")
        screen.press("\x1b[Ax")
        screen.press("p")
        screen.until("Everything is paused until")
        screen.until("p resume")
        screen.forget()
        screen.press("p")
        screen.until("Everything goes on.")
        screen.press("f")
        screen.until("Delivered: 2 packets.")
        screen.press("r")
        screen.until("1 packet was given up. Have all of it tried again?")
        screen.press("n")
        screen.forget()
        screen.press("r")
        screen.until("(y/n)")
        screen.press("y")
        screen.until("1 job ready again.")
        screen.press("r")
        screen.until("Nothing was given up.")


def test_keys_without_a_daemon(home: Path) -> None:
    """A pause is made on the files, and what needs the daemon says so."""
    with terminal(home, *LIVE) as screen:
        screen.until("The daemon is not running")
        screen.press("f")
        screen.until("The daemon is not running. Start it with `memsyncd run`.")
        screen.press("p")
        screen.until("Everything is paused until")
        assert (home / "paused").exists()
        screen.until("p resume")
        screen.press("p")
        screen.until("Everything goes on.")
        assert not (home / "paused").exists()


def test_a_daemon_that_hangs_stops_no_key(home: Path) -> None:
    """While an answer is waited for, the screen is alive."""
    with daemon(home, "1.1.1", "silent"), terminal(home, *LIVE) as screen:
        screen.until("Asking the daemon")
        screen.press("q")
        assert screen.ended() == 0


def test_watch_fits_the_terminal(served: Path) -> None:
    """However small the window gets while it is drawn, it is filled and no more."""
    with terminal(served, *LIVE) as screen:
        screen.until("q quit")
        for columns, rows in ((80, 24), (40, 12), (20, 5), (1, 1)):
            screen.resize(columns, rows)
            for _ in range(2):  # of what was drawn before it was resized there may be a rest
                screen.until(HOME, raw=True)
                screen.seen = screen.seen.rpartition(HOME)[2]
            lines = screen.plain().split("\r\n")
            assert len(lines) <= rows
            assert max(len(line) for line in lines) <= columns


def test_it_stands_aside_for_ctrl_z(served: Path) -> None:
    """Stopped, it has given the terminal back; continued, it draws again and has its keys."""
    with terminal(served, *LIVE) as screen:
        screen.until("q quit")
        screen.press("\x1a")
        assert os.waitid(os.P_PID, screen.process.pid, os.WSTOPPED | os.WNOWAIT) is not None
        assert screen.is_as_before()
        screen.process.send_signal(signal.SIGCONT)
        screen.forget()
        screen.until("q quit")
        screen.press("q")
        assert screen.ended() == 0


def test_a_terminal_that_cannot_be_drawn_on(home: Path) -> None:
    """A dumb one is told the sentence each time it changes, without a control character."""
    with terminal(home, *LIVE, TERM="dumb") as screen:
        screen.until("down: The daemon is not running")
        with daemon(home, "1.1.1"):
            screen.until("ok: 3 jobs wait")
        screen.press("q")
        assert screen.ended() == 0
        assert "\x1b" not in screen.seen


def test_charts_in_ascii(served: Path) -> None:
    """Where the locale has no blocks, characters of every keyboard stand in; and NO_COLOR leaves colours out."""
    with terminal(served, *LIVE, LC_ALL="C", NO_COLOR="1") as screen:
        screen.until("q quit")
        assert screen.seen.isascii()
        assert "#" in screen.seen
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", screen.seen)


def test_colours_only_where_wanted(home: Path) -> None:
    """A terminal gets colour; NO_COLOR, a dumb terminal and a pipe get none."""
    with terminal(home, "status") as screen:
        assert screen.ended() == 3
        assert "\x1b[31m" in screen.seen
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with terminal(home, "status", **environ) as screen:
            assert screen.ended() == 3
            assert "\x1b" not in screen.seen
    piped = subprocess.run(
        [sys.executable, "-m", "daemon", "status"],
        cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert b"\x1b" not in piped.stdout


def test_an_encoding_without_our_marks(home: Path) -> None:
    """Where the terminal's encoding has no bullet and no arrow, plain ones stand in."""
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "status"],
        cwd=ROOT,
        env={"HOME": str(home), "MEMSYNCD_HOME": str(home), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )
    assert ended.stdout.startswith(b"! down: The daemon is not running")


def test_watch_without_a_terminal(home: Path) -> None:
    """Without a terminal --watch is wrong use; with --json it prints a line at a time until it is ended."""
    words = [sys.executable, "-m", "daemon", "status", "--watch"]
    environ = {"HOME": str(home), "MEMSYNCD_HOME": str(home)}
    ended = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"--json" in ended.stderr
    with subprocess.Popen([*words, "--json"], cwd=ROOT, env=environ, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert [json.loads(process.stdout.readline())["state"] for _ in range(2)] == ["down", "down"]
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0


def test_a_silent_socket_does_not_hang_the_status(home: Path) -> None:
    """A socket that was left behind by a killed daemon is no daemon: exit 3 at once."""
    (home / "run").mkdir(mode=0o700)
    listen(home / "run/status.sock", uid=os.geteuid()).close()
    ended = subprocess.run(
        [sys.executable, "-m", "daemon", "status", "--json"],
        cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["state"] == "down"


def test_status_loads_only_what_it_needs(home: Path) -> None:
    """With a daemon that answers, `status` loads no queue, database, event loop, settings or rich."""
    script = (
        "import sys; from daemon.__main__ import main; code = main(['status']);"
        "heavy = {'rich', 'huey', 'sqlite3', 'asyncio', 'httpx', 'msgspec', 'structlog', 'daemon.status.offline'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    with daemon(home, "1.1.1"):
        ended = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT, env={"HOME": str(home), "MEMSYNCD_HOME": str(home)}, capture_output=True, timeout=DEADLINE, check=True,
        )  # fmt: skip
    assert ended.stdout.decode().endswith("\n0 []\n")
