"""`memsyncd search`, with a daemon behind the socket and without one."""

import asyncio
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings
from daemon.status_socket.http_socket import HttpSocket
from daemon.status_socket.routes import routes
from memsyncd.clock import Clock
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Batch, Message
from memsyncd.scope.resolve import ScopeResolver
from tests.daemon.composed import Composed, composed

STATEMENT = "We use pnpm as package manager."
QUESTION = ("search", "what", "manages", "packages?")


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    (directory / "m").mkdir(mode=0o700)
    (directory / "shop").mkdir()
    yield directory
    shutil.rmtree(directory)


def around(home: Path, **environ: str) -> Surroundings:
    whole = {"MEMSYNCD_HOME": str(home / "m"), "HOME": str(home), "USER": "ada", **environ}
    return Surroundings(environ=whole, home=home, uid=os.geteuid(), platform="linux", wall=lambda: 1_800_000_000.0)


def remember(home: Path, text: str = STATEMENT) -> None:
    """Leave a memory of the project `shop`, as an earlier run of the daemon did."""
    platform = LocalPlatform(home / "m" / "memory.sqlite3", Clock(wall=lambda: 1_799_999_000.0))
    project = ScopeResolver(home, {}).resolve(str(home / "shop"))
    batch = Batch("p", 0, [Message("user", text)], "ada", project.app_id, project.project_id, "s1", {})
    platform.extraction(platform.add(batch).event_id)
    platform.close()


@contextmanager
def daemon(home: Path, **environ: str) -> Iterator[Composed]:
    """Answer at the socket as the daemon does."""
    with composed(home, **environ) as made:
        loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

        async def serve() -> None:
            table = routes(made.view)
            listening = HttpSocket(made.places.status_socket, table)
            await listening.start()
            ready.set()
            await stop.wait()
            await listening.stop()
            table.close()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
        thread.start()
        assert ready.wait(60)
        try:
            yield made
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(60)
            loop.close()


def test_the_running_daemon_answers(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The memory with what is to be known about it; nothing on standard error, for there is nothing to say."""
    remember(home)
    with daemon(home):
        assert main([*QUESTION, "--cwd", str(home / "shop")], around(home)) == 0
    told = capsys.readouterr()
    first, second = told.out.splitlines()
    assert first == f"1. {STATEMENT}"
    assert second.startswith("   project_knowledge · 16 min ago · ")
    assert told.err == ""


def test_json_is_the_agreed_shape(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same from the daemon and from the file, but for the reason."""
    remember(home)
    asked = [*QUESTION, "--cwd", str(home / "shop"), "--top-k", "1", "--json"]
    with daemon(home):
        assert main(asked, around(home)) == 0
        running = json.loads(capsys.readouterr().out)
    (home / "m").mkdir(mode=0o700)
    remember(home)
    assert main(asked, around(home)) == 0
    alone = json.loads(capsys.readouterr().out)
    assert running["succeeded"] is alone["succeeded"] is True
    assert running["source"] == alone["source"] == "local"
    assert [each["memory"] for each in running["memories"]] == [each["memory"] for each in alone["memories"]]
    assert set(alone["memories"][0]) == {"id", "memory", "category", "score", "created_at", "metadata"}
    assert (running["why"], alone["why"]) == ("", "The daemon is not running: found in the memory file.")


def test_without_a_daemon_the_file_answers_and_stays_as_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so; not a byte of the file changes, and none is made where there is none."""
    path = home / "m" / "memory.sqlite3"
    asked = [*QUESTION, "--cwd", str(home / "shop")]
    assert main(asked, around(home)) == 0
    assert capsys.readouterr().out == "No matching memories found.\n"
    assert not path.exists()
    remember(home)
    before = path.read_bytes()
    assert main(asked, around(home)) == 0
    told = capsys.readouterr()
    assert STATEMENT in told.out
    assert "daemon is not running" in told.err
    assert path.read_bytes() == before


@pytest.mark.parametrize("is_running", [True, False])
def test_a_narrower_question_and_another_project_find_less(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    is_running: bool,
) -> None:
    """Options narrow; the directory says which project; an exclusion holds, whoever answers."""
    remember(home)
    (home / "other").mkdir()
    (home / "m" / "config.toml").write_text(f'exclude = ["{home}/secret"]\n')
    (home / "secret").mkdir()
    cases = [
        (["--run-id", "s1", "--scope", "repo"], "shop", 0, STATEMENT),
        (["--run-id", "s2"], "shop", 0, "No matching"),
        (["--category", "results"], "shop", 0, "No matching"),
        (["--scope", "mine"], "other", 0, "No matching"),
        ([], "secret", 1, ""),
    ]

    def ask() -> None:
        for options, place, code, words in cases:
            assert main([*QUESTION, "--cwd", str(home / place), *options], around(home)) == code
            told = capsys.readouterr()
            assert words in told.out
            assert ("No search here: its project is excluded" in told.err) is (code == 1)

    if not is_running:
        return ask()
    with daemon(home):
        ask()
    return None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scope", "team"], "Unknown search scope 'team'"),
        (["--category", "secrets"], "Unknown category 'secrets'"),
        (["--top-k", "0"], "from 1 to 20"),
        (["--run-id", "*"], "no wildcard"),
    ],
)
def test_a_wrong_question_is_wrong_use(
    home: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    """Exit 2 with a sentence, before anybody is asked."""
    assert main([*QUESTION, *options], around(home)) == 2
    assert words in capsys.readouterr().err


def test_a_platform_elsewhere_needs_the_daemon(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 3: its key and its index are the daemon's affair."""
    remember(home)
    assert main(list(QUESTION), around(home, MEMSYNCD_PLATFORM_KIND="mem0")) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "The daemon is not running" in told.err


def test_a_failed_search_is_no_empty_answer(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 with the reason; JSON says the same."""
    (home / "m" / "memory.sqlite3").write_bytes(b"no database at all" * 100)
    asked = [*QUESTION, "--cwd", str(home / "shop")]
    assert main(asked, around(home)) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("memsyncd: Memory search failed. The memory store is damaged")
    assert main([*asked, "--json"], around(home)) == 1
    assert json.loads(capsys.readouterr().out)["succeeded"] is False
