"""The composition root: every part of the daemon made once, from settings and places, and tied to the others."""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon import clock_trust
from daemon.api_key.source import KeySource
from daemon.chosen_platform import platform_of, whose_memories
from daemon.configuration_error import ConfigurationError
from daemon.extracting.starting import model_of
from daemon.fleet.composing import fleet_of
from daemon.fleet.fleet import Fleet
from daemon.forgetting.tombstones import Tombstones
from daemon.gate import PAUSED, Gate
from daemon.intake import in_hand
from daemon.intake.foreign_claims import is_claimed_elsewhere
from daemon.intake.ingest import Ingest
from daemon.intake.served import PLUGIN_SUFFIX, Place, Served, places_to_serve
from daemon.intake.sessions import Sessions
from daemon.places import Places
from daemon.searching.composing import index_of, learner, search_of
from daemon.searching.search import Search
from daemon.settings import Settings
from daemon.status import history
from daemon.status.findings import Findings
from daemon.status.journal import Journal
from daemon.telemetry.consent import target
from jobs import checkpoint, delivery, flush, forgetting, poll
from jobs.extractions import Extractions
from jobs.queue.claims import Handler
from jobs.queue.errors import NewerSchema as NewerQueue
from jobs.queue.policy import Policy
from jobs.queue.schema import set_aside_damaged
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters
from memsyncd.platforms.local import deleting
from memsyncd.platforms.local.local_index import LocalIndex
from memsyncd.platforms.platform import Platform
from memsyncd.platforms.transport import HttpSettings
from memsyncd.redaction import redact
from memsyncd.scope.remote import project_id
from memsyncd.scope.resolve import ScopeResolver

if TYPE_CHECKING:
    from daemon.extracting.running import ModelExtraction
    from daemon.telemetry.running import Telemetry
    from memsyncd.telemetry.lifecycle import Lifecycle


@dataclass(frozen=True)
class Parts:
    """Everything that runs, made and not yet started. `telemetry` is None while it is off, `model` without one,
    `fleet` where the queue is the daemon's own."""

    places: Places
    settings: Settings
    clock: Clock
    clock_trust: clock_trust.ClockTrust
    counters: Counters
    findings: Findings
    journal: Journal
    queue: SqliteQueue
    platform: Platform
    key_source: KeySource
    gate: Gate
    tombstones: Tombstones
    resolver: ScopeResolver
    served: Served
    sessions: Sessions
    ingest: Ingest
    extractions: Extractions
    delivery: delivery.Delivery
    search: Search
    index: LocalIndex | None
    history: history.History
    handlers: Mapping[str, Handler]
    telemetry: "Telemetry | None" = None
    model: "ModelExtraction | None" = None
    fleet: Fleet | None = None
    is_queue_damaged: Callable[[], bool] = lambda: False

    def close(self) -> None:
        """Close every store and connection."""
        if self.telemetry is not None:
            self.telemetry.close()
        if self.model is not None:
            self.model.close()
        if self.fleet is not None:
            self.fleet.close()
        self.platform.close()
        if self.index is not None:
            self.index.close()
        self.served.close()
        self.queue.close()


def compose(
    places: Places, settings: Settings, environ: Mapping[str, str], lifecycle: "Lifecycle | None" = None
) -> Parts:
    """Return the parts. Raises ConfigurationError (exit 78) where a store is from a newer version or a setting names
    something this version does not have. `lifecycle` is telemetry's, where that is on."""
    for file in (places.queue_file, places.memory_file):
        if os.path.lexists(file) and not file.is_file():
            raise ConfigurationError(f"{file} is in the way, for it is no regular file: move it elsewhere.")
    clock, counters = Clock(), Counters()
    findings, journal = Findings(clock), Journal(clock)
    key_source = KeySource.from_settings(settings, environ, clock)
    queue = _queue(places, settings, clock, counters)
    platform = platform_of(places, settings, key_source, clock)
    index = index_of(platform, places.memory_file, clock, counters)
    serves = settings.queue.role != "worker" or not settings.queue.url
    served = Served(partial(_place_list, places, settings) if serves else list, clock, counters, project_id)
    resolver = ScopeResolver(places.home, environ)
    gate = Gate(settings.exclude, places.data / "paused", resolver.resolve)
    tombstones = Tombstones(places.data)
    sessions = Sessions(idle_seconds=settings.flush.idle_seconds)
    ingest = Ingest(
        served=served,
        queue=queue,
        clock=clock,
        counters=counters,
        findings=findings,
        sessions=sessions,
        resolve=resolver.resolve,
        is_excluded=gate.is_excluded,
        pauses_of=gate.pauses_of,
        on_event=journal.note,
        home=places.home,
        is_forgotten=tombstones.covers,
        in_hand=in_hand.InHand(places.data / in_hand.NAME, clock.monotonic),
    )
    extractions = Extractions(clock, first_interval_seconds=settings.flush.event_poll_seconds)
    extractions.on_open = partial(queue.hasten, poll.poll_job(platform.destination).id)
    whose = partial(whose_memories, settings, environ)
    shared = delivery.Delivery(
        store=served.store,
        queue=queue,
        platform=platform,
        extractions=extractions,
        clock=clock,
        user_id=whose,
        hold=gate.hold,
        redact=redact,
        extraction_wait_seconds=settings.flush.extraction_wait_seconds,
        is_claimed_elsewhere=partial(_is_claimed_elsewhere, served, ingest, clock),
        on_memories=learner(index, whose),
    )
    try:
        fleet = fleet_of(
            settings,
            places,
            shared,
            policy=policy_of(settings),
            key_source=key_source,
            reached=lambda key_source: platform_of(places, settings, key_source, clock),
            stores=lambda: [(spool.name, store) for spool, store in served.stores() if store.own],
            hold=lambda: PAUSED if gate.is_paused else None,
            counters=counters,
            findings=findings,
        )
    except BaseException:
        platform.close()
        queue.close()
        raise
    telemetry = _telemetry(
        settings,
        places=places,
        platform=platform,
        key_source=key_source,
        gate=gate,
        served=served,
        queue=queue,
        clock=clock,
        counters=counters,
        lifecycle=lifecycle,
    )
    ingest.on_stored = telemetry.recording.stored if telemetry else None
    model = model_of(
        settings,
        platform,
        memory_file=places.memory_file,
        queue=queue,
        extractions=extractions,
        findings=findings,
        hold=lambda: "paused" if gate.is_paused else None,
        clock=clock,
        counters=counters,
    )
    standing = {each.kind: each.run for each in (telemetry, model) if each is not None}
    return Parts(
        places=places,
        settings=settings,
        clock=clock,
        clock_trust=clock_trust.ClockTrust(places.data / clock_trust.NAME, clock),
        counters=counters,
        findings=findings,
        journal=journal,
        queue=queue,
        platform=platform,
        key_source=key_source,
        gate=gate,
        tombstones=tombstones,
        resolver=resolver,
        served=served,
        sessions=sessions,
        ingest=ingest,
        extractions=extractions,
        delivery=shared,
        search=search_of(shared, resolver.resolve, index),
        index=index,
        history=history.History(places.data / history.NAME),
        handlers=_handlers(shared, places.memory_file, index) | standing | (dict(fleet.handlers) if fleet else {}),
        fleet=fleet,
        telemetry=telemetry,
        model=model,
        is_queue_damaged=queue.is_damaged,
    )


def _is_claimed_elsewhere(served: Served, ingest: Ingest, clock: Clock, name: str, session_id: str) -> bool:
    try:
        spool = served.spool(name)
    except KeyError:
        return False
    held = {stem for owner, stem in list(ingest.requests.held.values()) if owner.name == name}
    return is_claimed_elsewhere(spool, session_id, held, clock.age)


def _handlers(shared: delivery.Delivery, memory_file: Path, index: LocalIndex | None) -> dict[str, Handler]:
    jobs: Mapping[str, Callable[..., Any]] = {
        delivery.CHECKPOINT: checkpoint.checkpoint,
        delivery.FLUSH: flush.flush,
        poll.POLL: poll.poll,
        forgetting.FORGET: partial(
            forgetting.forget, forget_late=partial(_forget_late, memory_file, shared.clock, index)
        ),
    }
    return {kind: partial(job, delivery=shared) for kind, job in jobs.items()}


def _forget_late(memory_file: Path, clock: Clock, index: LocalIndex | None, packets: Sequence[str]) -> int:
    if index is not None:
        index.settle()
    return deleting.delete_late(memory_file, packets, at=rfc3339(clock.wall()))


def _telemetry(settings: Settings, **needed: Any) -> "Telemetry | None":
    """Return telemetry's parts; None while it is off, and then none of its code is loaded."""
    wanted = target(settings)
    if wanted is None:
        return None
    from daemon.telemetry.running import Telemetry  # noqa: PLC0415  (only with the user's consent)

    http = HttpSettings(settings.http.timeout_seconds, settings.http.proxy, settings.http.ca_file)
    return Telemetry(wanted, http=http, **needed)


def policy_of(settings: Settings) -> Policy:
    """Return how long jobs and destinations wait."""
    return Policy(
        first_delay=settings.retry.first_delay_seconds,
        max_delay=settings.retry.max_delay_seconds,
        max_cooldown=settings.platform.max_cooldown_seconds,
    )


def _queue(places: Places, settings: Settings, clock: Clock, counters: Counters) -> SqliteQueue:
    try:
        if set_aside_damaged(places.queue_file, clock.wall()):
            counters.add("queues_set_aside")
        return SqliteQueue(
            places.queue_file,
            clock=clock,
            policy=policy_of(settings),
            counters=counters,
            random=random.Random(os.urandom(8)),
        )
    except NewerQueue as error:
        raise ConfigurationError(str(error)) from error


def _place_list(places: Places, settings: Settings) -> list[Place]:
    configured = [
        (Path(spool.path), spool.harness or Path(spool.path).name.removesuffix(PLUGIN_SUFFIX) or "generic")
        for spool in settings.spools
    ]
    return list(places_to_serve(places.spools, configured, places.home, discover=settings.discover))
