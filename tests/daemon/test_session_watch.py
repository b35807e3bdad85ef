"""Sessions watched until they end."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.session_watch import SessionWatch
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path, MEM0_CODE_IDLE_FLUSH_SECONDS="1") as made:
        made.spool()
        made.upkeep.refresh()
        yield made


def test_a_spool_that_goes_between_two_looks_ends_nobody(home: Composed) -> None:
    """Its sessions are let go with it, and whoever looks on another thread is not stopped by that."""
    watch = SessionWatch(home.parts)
    home.parts.sessions.moved("claude-code", "s", "h", at=home.parts.clock.monotonic() - 60.0)
    over = watch.over()
    assert [ended.session_id for ended in over["claude-code"]] == ["s"]
    shutil.rmtree(home.places.spools / "claude-code")
    home.upkeep.refresh()
    watch.end("claude-code", over["claude-code"])
    assert home.jobs("checkpoint") == []
    assert watch.over() == {}
    assert not home.parts.sessions.knows("claude-code", "s")
