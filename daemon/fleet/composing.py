"""Makes a daemon's part in a fleet from the settings."""

import os
import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from daemon.api_key.source import KeySource
from daemon.fleet import identity, payload_key
from daemon.fleet.accounts import Accounts
from daemon.fleet.connection import Connection
from daemon.fleet.fleet import Fleet
from daemon.fleet.troubles import Troubles
from daemon.places import Places
from daemon.settings import Settings
from daemon.status.findings import Findings
from jobs.delivery import Delivery
from jobs.fleet.deliver import Worker
from jobs.fleet.ends import End
from jobs.fleet.learn import Learner
from jobs.fleet.share import Edge, lost
from jobs.flush import EXTRACTION_OPEN
from jobs.queue.claims import LEASE_SECONDS
from jobs.queue.policy import Policy
from jobs.queue.shared import open_shared
from memsyncd.counters import Counters
from memsyncd.evidence.event import Packet
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Platform

if TYPE_CHECKING:
    from jobs.queue.postgres.queue import PostgresQueue

log = structlog.get_logger()

BESIDE_REQUEST_SECONDS = 30.0
"""Of a claim, beside its request: a place among the calls in the air is waited for, and a stop of the process met."""


def fleet_of(
    settings: Settings,
    places: Places,
    delivery: Delivery,
    *,
    policy: Policy,
    key_source: KeySource,
    reached: Callable[[KeySource], Platform],
    stores: Callable[[], Iterable[tuple[str, EvidenceStore]]],
    hold: Callable[[], str | None],
    counters: Counters,
    findings: Findings,
) -> Fleet | None:
    """Return this daemon's part in a fleet, None where the queue is its own.

    `reached` gives the platform asked with another key; `stores` the spools' names with their stores of ours; `hold`
    why nothing is delivered at present. Raises ConfigurationError.
    """
    queue = settings.queue
    if not queue.url:
        return None
    name, clock = identity.own_name(places.data), delivery.clock
    sealing = payload_key.read(Path(queue.payload_key_file)) if queue.payload_key_file else None

    accounts = Accounts(
        queue.account,
        key_source=key_source,
        platform=delivery.platform,
        needs_no_key=settings.platform.kind != "mem0",
        directory=Path(queue.keys_directory) if queue.keys_directory else None,
        reached=reached,
        clock=clock,
    )

    def opened() -> "PostgresQueue":
        return open_shared(
            queue.url,
            host=identity.host(),
            worker=name,
            clock=clock,
            policy=policy,
            counters=counters,
            random=random.Random(os.urandom(8)),
            account=queue.account,
            sealing=sealing,
            serves=lambda: accounts.serves,
            lease=lease_of(settings),
        )

    connection = Connection(opened)
    connection.look_first()
    troubles = Troubles(queue.account, clock.monotonic, findings)
    is_edge, is_worker = queue.role != "worker", queue.role != "edge"
    worker = Worker(
        account=accounts.account,
        hold=hold,
        behind=lambda job: connection.queue().behind(job.id, EXTRACTION_OPEN),
        redact=delivery.redact,
        first_interval=settings.flush.event_poll_seconds,
        extraction_wait_seconds=settings.flush.extraction_wait_seconds,
        on_newer=troubles.met_newer,
    )
    edge = Edge(delivery, connection.queue, name)
    learner = Learner(
        stores,
        connection.queue,
        name,
        on_end=partial(_ended, counters),
        on_lost=partial(_lost, edge, counters),
        clock=clock,
    )
    return Fleet(
        connection=connection,
        accounts=accounts,
        edge=edge if is_edge else None,
        learner=learner if is_edge else None,
        worker=worker if is_worker else None,
        threads=queue.workers,
        clock=clock,
        counters=counters,
        findings=findings,
        troubles=troubles,
        keeps=(settings.retention.jobs_days, settings.retention.dead_days),
    )


def lease_of(settings: Settings) -> float:
    """Return for how many seconds a claim lasts: for longer than a request may be on its way, however the settings have
    it, for one that was cut off from the database ends its request and renews no claim."""
    return max(LEASE_SECONDS, settings.http.timeout_seconds + BESIDE_REQUEST_SECONDS)


def _ended(counters: Counters, packet: Packet, end: End) -> None:  # noqa: ARG001  (a learner's word)
    counters.add("packets_refused" if end.error and end.status == "gave-up" else "packets_delivered")


def _lost(edge: Edge, counters: Counters, store: EvidenceStore, packet: Packet) -> None:
    lost(store, packet, edge)
    counters.add("packets_put_in_again")
    log.warning("shared-queue-lost-packet", packet=packet.packet_id)
