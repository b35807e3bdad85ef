"""Telemetry sent: what our own spool holds, what a plugin's does, and a claim whose sender died."""

import json
import os
import time
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.end_to_end.conftest import Home
from tests.end_to_end.killing.beside import run_beside, wait_for
from tests.end_to_end.killing.scenario import Case, Scenario
from tests.end_to_end.plugins import PluginSpool
from tests.fakes.posthog import PROJECT_KEY, FakePostHog

MARK = "code.seeded"
LEASE_SECONDS = 600.0
"""After so long a claim is nobody's any more (facts 12.10)."""


def drain(arguments: Sequence[str]) -> int:
    """Run the daemon until nothing of what was spooled at its start is left."""
    root = Path(os.environ["HOME"])

    def is_left(path: Path) -> bool:
        try:
            return MARK in path.read_text()
        except OSError:
            return False

    return run_beside(
        lambda _: wait_for(lambda: not any(is_left(path) for path in root.rglob("telemetry*"))),
    )


class Telemetry(Scenario):
    """Events carry ids by which the endpoint knows a repeat; it cannot be asked what it has."""

    name = "telemetry sent"
    program = recovery_program = f"{__name__}:drain"

    def serving(self) -> AbstractContextManager[Any]:
        return FakePostHog()

    def connect(self, case: Case) -> None:
        case.services[int(case.service.url.rpartition(":")[2])] = "telemetry's endpoint"
        case.home.environ |= {
            "MEMSYNCD_TELEMETRY_ENABLED": "true",
            "MEMSYNCD_TELEMETRY_ENDPOINT": case.service.url,
            "MEMSYNCD_TELEMETRY_API_KEY": PROJECT_KEY,
            "MEMSYNCD_TELEMETRY_INTERVAL_SECONDS": "1",
        }

    def seed(self, home: Home) -> None:
        ours = home.spool()
        ours.mkdir(parents=True, mode=0o700)
        for directory in (home.places.data, home.places.spools):
            directory.chmod(0o700)
        (ours / "telemetry.jsonl").write_text(_lines(120) + "no event\n" + _lines(30))
        plugin = PluginSpool(home.root)
        (plugin.path / "telemetry.jsonl").write_text(_lines(3))
        claim = plugin.path / "telemetry-9-deadbeef-a1.sending"
        claim.write_text(_lines(2))
        os.utime(claim, (time.time() - LEASE_SECONDS,) * 2)
        old = plugin.path / "telemetry-9-cafebabe-a3.rejected"
        old.write_text("no event\n")
        os.utime(old, (time.time() - 30 * 86_400,) * 2)

    def meanwhile(self, case: Case) -> None:
        """Let ten minutes pass."""
        for path in case.home.root.rglob("telemetry-*"):
            if path.suffix in (".sending", ".partial"):
                os.utime(path, (time.time() - LEASE_SECONDS,) * 2)

    def leaves_the_same(self, case: Case) -> bool:
        """Look beyond what cannot be sent, which is kept for a week, twice or begun twice where the kill came then."""
        kept = [path.read_text() for path in case.home.root.rglob("telemetry-*.corrupt")]
        assert "no event\n" in kept and not set(kept) - {"no event\n", ""}
        for path in case.home.root.rglob("telemetry*"):
            if path.suffix in (".corrupt", ".sending", ".jsonl"):  # the latter two of what the last run tells of itself
                assert MARK not in path.read_text()
                path.unlink()
        return True

    def assert_none_is_lost(self, case: Case) -> None:
        counts = case.service.deliveries()
        seeded = {event["uuid"] for event in case.service.events() if event["event"] == MARK}
        assert len(seeded) == 155
        assert not case.service.dropped()
        seen: set[str] = set()
        again = 0
        for body in case.service.batches():
            ids = {event["uuid"] for event in body["batch"]}
            again += bool(ids & seen)
            seen |= ids
        assert again <= 1, f"{again} requests came again"
        assert max(counts.values()) <= 2


class TelemetryOff(Scenario):
    """Once somebody says no, what was spooled goes before anything else happens, and nothing is ever sent."""

    name = "telemetry switched off"

    def serving(self) -> AbstractContextManager[Any]:
        return FakePostHog()

    def connect(self, case: Case) -> None:
        case.home.environ["MEMSYNCD_TELEMETRY_ENDPOINT"] = case.service.url

    def seed(self, home: Home) -> None:
        home.exchange("s1", 1)
        for directory in (home.spool(), home.places.data):
            for name in ("telemetry.jsonl", "telemetry-9-deadbeef-a1.sending", "telemetry-9-deadbeef-a1.corrupt"):
                (directory / name).write_text(_lines(2))

    def assert_none_is_lost(self, case: Case) -> None:
        assert case.service.connections == 0
        assert not [path for path in case.home.root.rglob("telemetry*") if MARK in path.read_text()]


def _lines(number: int) -> str:
    return "".join(
        json.dumps({"event": MARK, "uuid": str(uuid.uuid4()), "timestamp": "2026-11-30T03:04:05Z", "properties": {}})
        + "\n"
        for _ in range(number)
    )
