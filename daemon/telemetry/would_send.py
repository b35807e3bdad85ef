"""What would be sent now, exactly as it would be: the requests' bodies, made by the sender's own code (facts 12.12).

Only looked at: nothing is claimed, made or sent, and where this machine has no id yet none is made.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemon.settings.schema import MASK
from daemon.telemetry.consent import Target
from daemon.telemetry.spooled import contents
from memsyncd.clock import Clock
from memsyncd.platforms.http_client import base_url
from memsyncd.telemetry import claims, identity
from memsyncd.telemetry.batch import next_batch
from memsyncd.telemetry.posthog import Sender, body, wire

NOT_YET = f"{identity.ANONYMOUS_PREFIX}made-at-the-first-sending"
"""Stands for the random id where there is none yet."""


@dataclass(frozen=True, slots=True)
class WouldSend:
    """The bodies in the order of their requests, the key masked; and how many lines would never be sent, by why."""

    url: str
    sender: Sender
    bodies: tuple[Mapping[str, Any], ...] = ()
    never: Mapping[str, int] | None = None

    @property
    def events(self) -> list[Mapping[str, Any]]:
        """The events of all requests."""
        return [event for one in self.bodies for event in one["batch"]]


def would_send(target: Target, data: Path, places: Iterable[Path], *, now: float) -> WouldSend:
    """Return what a sending at the Unix time `now` would hold."""
    sender = as_whom(target, data)
    bodies: list[Mapping[str, Any]] = []
    never: dict[str, int] = {}
    for content in contents(places, lambda path: _has_had_its_time(path, target.kept_seconds, now)):
        rest = content
        while rest:
            batch = next_batch(rest, lambda line: wire(line, sender))
            rest = rest[batch.size :] if batch.size else b""
            if batch.events:
                bodies.append(json.loads(body(batch.events, MASK, now)))
            for why, number in batch.reasons.items():
                never[why.value] = never.get(why.value, 0) + number
    url = str(base_url(target.endpoint)).rstrip("/")
    return WouldSend(f"{url}/batch/", sender, tuple(bodies), never)


def _has_had_its_time(path: Path, kept_seconds: float, now: float) -> bool:
    """Whether it is a claim that the next run sets aside, unsent."""
    claim = claims.parse(path.name)
    try:
        return claim is not None and (
            claims.judge(claim.attempt, path.lstat().st_mtime, now, kept_seconds) is claims.Verdict.EXPIRED
        )
    except OSError:
        return False


def as_whom(target: Target, data: Path) -> Sender:
    """Return as whom events would go: the account only while that is allowed, else the random id."""
    file = data / identity.NAME
    try:
        state = identity.Identity(file, lambda: "", Clock()).current() if file.exists() else None
    except OSError:
        state = None
    if state is None or (state.email and not target.account):  # an account that is allowed no more is left
        return Sender(NOT_YET)
    return Sender(state.distinct_id, is_account=bool(state.email))
