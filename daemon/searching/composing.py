"""The search's parts, made from the daemon's."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from daemon.searching.away import away
from daemon.searching.search import Search
from jobs.delivery import Delivery
from memsyncd.clock import Clock
from memsyncd.counters import Counters
from memsyncd.evidence.event import Packet, Scope
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.local.mirror import Asker
from memsyncd.platforms.platform import Memory, Platform
from memsyncd.redaction import redact


def index_of(platform: Platform, memory_file: Path, clock: Clock, counters: Counters) -> LocalIndex | None:
    """Return the index of a platform elsewhere; the embedded one is its own."""
    if platform.kind == "local":
        return None
    return LocalIndex(memory_file, clock, counters, platform=platform.destination, redact=redact)


def learner(
    index: LocalIndex | None, user_id: Callable[[], str]
) -> Callable[[Packet, Scope, Sequence[Memory]], object]:
    """Return what hears of the memories that a platform made of a packet."""

    def learn(packet: Packet, scope: Scope, told: Sequence[Memory]) -> None:
        if index is not None:
            app_id = packet.app_id or scope.app_id
            index.hear(told, Asker(user_id(), app_id, (scope.project_id,), packet.session_id, packet.packet_id))

    return learn


def search_of(shared: Delivery, resolve: Callable[[str], Scope], index: LocalIndex | None) -> Search:
    """Return the one search over the platform that deliveries go to."""
    return Search(
        shared.platform,
        resolve=resolve,
        user_id=shared.user_id,
        hold=shared.hold,
        away=partial(away, shared.queue, shared.platform, shared.clock),
        index=index,
    )
