"""The requests of a packet: the same packet makes the same requests, also after a restart (DESIGN, promise 3)."""

from collections.abc import Sequence
from typing import Any

from memsyncd.evidence.event import Packet, Scope
from memsyncd.packets.batches import batches
from memsyncd.platforms.platform import Batch, Message

_NO_BRANCH = frozenset({"", "detached", "unknown"})


def batch_requests(
    packet: Packet, scope: Scope, messages: Sequence[Message], *, user_id: str, source: str
) -> Sequence[Batch]:
    """Return the packet's batches, numbered from 0; none if there is nothing to say (facts 2.17).

    `scope` is the store's `packet_to_send`, whose branch and commit stay those of the reservation. `source` is the
    tag of what recorded the evidence.
    """
    if not messages:
        return ()
    return [
        Batch(
            packet_id=packet.packet_id,
            number=number,
            messages=part,
            user_id=user_id,
            app_id=packet.app_id or scope.app_id,
            agent_id=scope.project_id,
            run_id=packet.session_id,
            metadata=_metadata(packet.packet_id, number, scope, user_id, source),
        )
        for number, part in enumerate(batches(messages))
    ]


def parent_directories(directory: str) -> list[str]:
    """Return a directory and every one above it, outermost first; none at the root (facts 5.21)."""
    parts = [part for part in directory.split("/") if part]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _metadata(packet_id: str, number: int, scope: Scope, user_id: str, source: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "source": source,
        "author": user_id,
        "dirs": parent_directories(scope.directory),
        "memsyncd_packet": packet_id,
        "memsyncd_batch": number,
    }
    if scope.branch not in _NO_BRANCH:
        metadata["branch"] = scope.branch
    if scope.head_sha:
        metadata["git_sha"] = scope.head_sha
    return metadata
