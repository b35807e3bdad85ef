"""What the hook saw excluded stays so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.intake import exclusion_noted
from memsyncd.hooks.handoff import Handoff
from tests.daemon.intake.ingesting import Ingesting
from tests.daemon.intake.test_transcripts import Talking


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Ingesting]:
    made = Ingesting(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("noted", "directory", "covered"),
    [
        ("/w/shop", "/w/shop", True),
        ("/w/shop", "/w/shop/src", True),
        ("/w/shop", "/w/shop-old", False),
        ("/w/shop/src", "/w/shop", False),
        ("/", "/w", True),
        ("/w/shop", "", False),
        ("", "/w", False),
        ("w", "w", False),
        ("/w", "/w\0", False),
        ("/w", "/w/" + "x" * 5_000, False),
        (7, "/w", False),
        (None, "/w", False),
    ],
)
def test_what_lies_below_a_noted_directory_is_covered(noted: Any, directory: str, covered: bool) -> None:
    """Whoever wrote the handoff: it is another program's text."""
    handoff = Handoff(id="h", action="stop", hook_input={}, extra={} if noted is None else {"excluded": noted})
    assert exclusion_noted.covers(handoff, directory) is covered


def test_a_directory_that_a_link_names_is_the_one_that_was_noted(tmp_path: Path) -> None:
    """The hook tells the real path, and the harness its own."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    handoff = Handoff(id="h", action="stop", hook_input={}, extra={"excluded": str((tmp_path / "real").resolve())})
    assert exclusion_noted.covers(handoff, str(tmp_path / "link" / "src"))


def test_what_a_hook_noted_as_excluded_is_discarded_and_counted(at: Ingesting) -> None:
    """By the directory it is about: an agent may have gone elsewhere."""
    noted = {"excluded": "/w/shop"}
    at.prompt("excluded", envelope=noted)
    at.prompt("elsewhere", envelope=noted, cwd="/w/other")
    at.scan()
    assert at.texts() == ["elsewhere"]
    assert at.counters.snapshot()["events_excluded"] == 1


def test_a_transcript_is_passed_over_where_the_hook_noted_an_exclusion(tmp_path: Path) -> None:
    """Its later look begins behind it."""
    at = Talking(tmp_path)
    at.talk("before", "a1")
    at.scan()
    at.write(*at.exchange("excluded", "a2"))
    at.hands.move(1.0)
    at.drop("stop", envelope={"harness": "kimi", "excluded": "/w/shop"})
    at.hands.move(1.0)
    at.talk("after", "a3")
    at.scan()
    assert at.texts() == ["before", "a1", "after", "a3"]
    at.close()
