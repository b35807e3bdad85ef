"""The requests that a packet makes, and why none may be made of it at present: the same for whoever sends them."""

from collections.abc import Sequence
from dataclasses import replace

from jobs.delivery import Delivery
from memsyncd.evidence.event import Packet, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.packets.messages import messages
from memsyncd.packets.request import batch_requests
from memsyncd.platforms.platform import Batch
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.scope.remote import app_name, project_id

SOURCE = "memsyncd"

NOTHING_IN_IT = "nothing to deliver: no dialogue in it"
"""What became of a packet that makes no request."""


def requests(store: EvidenceStore, packet: Packet, scope: Scope, delivery: Delivery) -> Sequence[Batch]:
    """Return a packet's batches; none where there is no dialogue in it. `scope` is as `named` gives it."""
    dialogue = messages(store.iterate_packet_events(packet.packet_id), root=scope.root, redact=delivery.redact)
    return batch_requests(packet, scope, dialogue, user_id=delivery.user_id(), source=SOURCE)


def named(scope: Scope) -> Scope:
    """Return a scope with an app id: an old plugin's file may lack it, and no platform takes a batch without one."""
    if scope.app_id:
        return scope
    app_id = app_name(scope.repo_id)
    return replace(scope, app_id=app_id, project_id=project_id(app_id, scope.repo_id))


def held(packet: Packet, scope: Scope, delivery: Delivery) -> str | None:
    """Return why nothing of a packet may be sent now, None where it may: paused, excluded, or too wide."""
    return delivery.hold(scope) or _too_wide(packet, scope, delivery)


def _too_wide(packet: Packet, scope: Scope, delivery: Delivery) -> str | None:
    """Return why nothing may be sent under these ids: a wildcard would mean everybody (facts 2.15)."""
    ids = {"user": delivery.user_id(), "app": packet.app_id or scope.app_id, "project": scope.project_id}
    wild = next((name for name, value in ids.items() if is_wildcard(value)), None)
    return None if wild is None else f"wildcard-scope: its {wild} id is a wildcard"
