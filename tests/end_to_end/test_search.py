"""One search, with the platform there and away, over the socket and from the command line."""

import json
from typing import Any

import pytest

from daemon.gate import PAUSED, no_search
from tests.end_to_end.conftest import Home
from tests.fakes import mem0_behaviours as behave

STATEMENT = "We use pnpm as package manager for the web client."
QUESTION = "which package manager is used?"


def remember(home: Home) -> None:
    """Have a session say STATEMENT, and its delivery confirmed."""
    home.exchange("s1", 1, prompt=STATEMENT, answer="Noted.")
    home.end("s1")
    home.until_quiet()


def search(home: Home, *options: str) -> tuple[int, dict[str, Any]]:
    done = home.run("search", QUESTION, "--cwd", str(home.project), "--json", *options)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def texts(answer: dict[str, Any]) -> list[str]:
    return [memory["memory"] for memory in answer["memories"]]


def test_a_hosted_platform_that_went_away_is_answered_for(hosted: Home) -> None:
    """Nobody has searched before: what the extraction told is known, after a restart too; in this project only."""
    assert hosted.api is not None
    hosted.start()
    remember(hosted)
    assert hosted.stop() == 0
    hosted.api.script("search", *[behave.busy(503)] * 50)
    hosted.start()
    code, answer = search(hosted)
    assert (code, answer["source"], texts(answer)) == (0, "local-index", [STATEMENT])
    assert "503" in answer["why"]
    (hosted.root / "other").mkdir()
    code, answer = search(hosted, "--cwd", str(hosted.root / "other"))
    assert (code, answer["succeeded"], answer["memories"]) == (1, False, [])
    assert search(hosted, "--scope", "mine")[0] == 1  # the extraction told no lane, so it is not said to be mine


@pytest.mark.parametrize("is_running", [True, False])
def test_the_embedded_platform_answers_with_and_without_the_daemon(
    home: Home,
    is_running: bool,
) -> None:
    """From the same memories; without it the answer says so."""
    home.start()
    remember(home)
    if not is_running:
        assert home.stop() == 0
    code, answer = search(home)
    assert (code, answer["source"], texts(answer)) == (0, "local", [STATEMENT])
    assert ("not running" in answer["why"]) is not is_running
    assert home.run("search", QUESTION, "--scope", "team").returncode == 2


def test_a_pause_holds_whoever_answers(home: Home) -> None:
    """With the daemon and without it (never-again 74)."""
    home.start()
    remember(home)
    (home.places.data / "paused").touch()
    assert search(home)[0] == 1
    assert home.stop() == 0
    code, answer = search(home)
    assert (code, answer["succeeded"], answer["why"]) == (1, False, no_search(PAUSED))
