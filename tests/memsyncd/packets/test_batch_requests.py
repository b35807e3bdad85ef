"""The requests made of a packet (facts 2.30 to 2.32, 5.21)."""

from collections.abc import Sequence

import pytest

from memsyncd.evidence.event import Packet, Scope
from memsyncd.packets.request import batch_requests, parent_directories
from memsyncd.platforms.platform import Batch, Message

PACKET = Packet("f" * 32, "https://git.example.org/team/tool", "team-tool", "s-1", "idle", 1, 9, "prepared")
SCOPE = Scope(PACKET.repo_id, "team-tool", "team-tool-0123456789", "/w", "feature/x", "abc123", "services/billing")
MESSAGES = (Message("user", "q"), Message("assistant", "a"))


def _requests(messages: Sequence[Message] = MESSAGES, scope: Scope = SCOPE) -> Sequence[Batch]:
    return batch_requests(PACKET, scope, messages, user_id="ana", source="claude_code_plugin")


def test_identity_and_metadata() -> None:
    """A batch carries the identity fields and what it is found by again (facts 2.30, 2.31, 2.32)."""
    (batch,) = _requests()
    assert (batch.user_id, batch.app_id, batch.agent_id, batch.run_id) == (
        "ana",
        "team-tool",
        "team-tool-0123456789",
        "s-1",
    )
    assert batch.metadata == {
        "source": "claude_code_plugin",
        "author": "ana",
        "dirs": ["services", "services/billing"],
        "branch": "feature/x",
        "git_sha": "abc123",
        "memsyncd_packet": "f" * 32,
        "memsyncd_batch": 0,
    }


@pytest.mark.parametrize("branch", ["", "detached", "unknown"])
def test_no_branch_and_no_commit(branch: str) -> None:
    """An unknown branch or commit is left out of the metadata (facts 2.31, 5.23)."""
    (batch,) = _requests(scope=Scope("r", "a", branch=branch, head_sha=""))
    assert not {"branch", "git_sha"} & set(batch.metadata)
    assert batch.metadata["dirs"] == []


@pytest.mark.parametrize(
    ("directory", "parents"),
    [("", []), ("a", ["a"]), ("services/billing/src", ["services", "services/billing", "services/billing/src"])],
)
def test_parent_directories(directory: str, parents: list[str]) -> None:
    """Every directory above is named, none at the root (facts 5.21)."""
    assert parent_directories(directory) == parents


def test_batches_are_numbered_and_alike() -> None:
    """Two batches differ in number and messages alone, and keep the order (facts 4.8)."""
    messages = [
        Message(role, letter * 20_000)
        for role, letter in (("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
    ]
    first, second = _requests(messages)
    assert (first.number, second.number) == (0, 1)
    assert [*first.messages, *second.messages] == messages
    assert {**first.metadata, "memsyncd_batch": 1} == second.metadata
    assert (first.user_id, first.app_id, first.agent_id, first.run_id) == (
        second.user_id,
        second.app_id,
        second.agent_id,
        second.run_id,
    )


def test_nothing_to_say_makes_no_request() -> None:
    """A packet without messages makes no request (facts 2.17, 4.3)."""
    assert _requests(()) == ()


def test_the_same_packet_makes_the_same_request() -> None:
    """Requests follow from their arguments alone (DESIGN, promise 3)."""
    assert _requests() == _requests()
