"""The sessions as people look at them, live and from the files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.status.session_document import from_file, sessions_document
from memsyncd.evidence.event import NewEvent, PacketStatus, Scope
from tests.daemon.composed import Composed, composed


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Composed]:
    with composed(tmp_path) as made:
        made.spool()
        made.upkeep.maintain()
        yield made


def test_a_session_is_told_by_its_counts_and_packets_never_by_its_words(home: Composed) -> None:
    """Where it belongs, how much was recorded, what is unsent, and how each packet stands."""
    home.record("s-1", "the password of the vault", at=1_800_000_000.0)
    store = home.parts.served.store("claude-code")
    packet = store.prepare("s-1", "session-end", list)
    assert packet is not None
    store.close_packet(packet.packet_id, PacketStatus.SUCCEEDED)
    home.record("s-2", "elsewhere", at=1_800_000_030.0)
    home.record("s-1", "one more", at=1_800_000_060.0)
    told = home.view.sessions(100)
    first, second = told["sessions"]
    assert [first["id"], first["events"], first["unsent"], first["harness"]] == ["s-1", 4, 2, "claude-code"]
    assert [first["first_at"], first["last_at"]] == ["2027-01-15T08:00:00.000Z", "2027-01-15T08:01:00.000Z"]
    assert [first["project"], first["directory"], first["branch"]] == ["team-tool", "/w/tool/src", "main"]
    (shown,) = first["packets"]
    assert [shown["status"], shown["events"], shown["is_open"]] == ["semantic-succeeded", 2, False]
    assert [second["id"], second["packets"]] == ["s-2", []]
    assert "vault" not in str(told)
    assert [session["id"] for session in home.view.sessions(1)["sessions"]] == ["s-1"]


@pytest.mark.parametrize(("head_sha", "branch"), [("", ""), ("0123abc", "detached")])
def test_a_directory_without_a_repository_has_no_branch(home: Composed, head_sha: str, branch: str) -> None:
    """Only a commit can be checked out without one; evidence keeps the same word for both (facts 5.23)."""
    scope = Scope("local:/w", "w", root="/w", branch="detached", head_sha=head_sha)
    event = NewEvent("s", "user_prompt", {"prompt": "hello"}, "2027-01-15T08:00:00Z", "h", scope)
    home.parts.served.store("claude-code").append([event])
    assert [session["branch"] for session in home.view.sessions(10)["sessions"]] == [branch]


def test_the_files_tell_the_same_and_are_not_changed_by_it(home: Composed) -> None:
    """While no daemon runs."""
    home.record("s-1", "a", "b")
    spools = home.parts.served.spools()
    live = home.view.sessions(10)
    home.parts.served.close()
    before = {path.name: path.read_bytes() for path in spools[0].path.iterdir() if path.is_file()}
    assert sessions_document(spools, 10, from_file) == live
    assert {path.name: path.read_bytes() for path in spools[0].path.iterdir() if path.is_file()} == before


def test_one_spool_that_cannot_be_read_hides_no_other(home: Composed) -> None:
    """It is named."""
    home.record("s-1", "a")
    other = home.spool("codex")
    (other / "evidence.sqlite3").write_bytes(b"no database at all")
    home.parts.served.close()
    spools = [*home.parts.served.spools(), type(home.parts.served.spools()[0])(other, "codex", own=True)]
    told = sessions_document(spools, 10, from_file)
    assert (len(told["sessions"]), told["unreadable"]) == (1, [spools[-1].name])
