"""The daemon's parts as they are composed for real, in a home of their own, with no thread started."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from daemon.compose import Parts, compose
from daemon.intake.ingest_thread import IngestThread
from daemon.places import resolve
from daemon.private_directory import make_private
from daemon.settings import load
from daemon.status.live import LiveView
from daemon.upkeep import Upkeep
from jobs.job import NewJob
from jobs.outcomes import Outcome
from jobs.queue.workers import Workers
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import NewEvent, Scope

SCOPE = Scope("https://git.example.org/team/tool", "team-tool", "team-tool-0123", "/w/tool", "main", "abc", "src")


class Composed:
    """One home. `claim_all` runs nothing: tests finish jobs with the outcomes they want."""

    def __init__(self, root: Path, **environ: str) -> None:
        self.root = root
        whole = {"MEMSYNCD_HOME": str(root / "m"), "HOME": str(root), "USER": "ada", **environ}
        self.places = resolve(whole, root, os.getuid(), "linux")
        for directory in (self.places.data, self.places.spools, self.places.runtime):
            make_private(directory)
        self.parts: Parts = compose(self.places, load(self.places, whole, {}).settings, whole)
        self.upkeep = Upkeep(self.parts)
        thread = IngestThread(self.parts.ingest, self.upkeep.maintain, self.upkeep.has_new_spools, self.upkeep.refresh)
        workers = Workers(
            self.parts.queue, self.parts.handlers, 1, clock=self.parts.clock, counters=self.parts.counters
        )
        self.view = LiveView(
            self.parts, thread, workers, run_id="r", started_at=self.parts.clock.wall(), started_monotonic=0.0
        )

    def spool(self, harness: str = "claude-code") -> Path:
        path = self.places.spools / harness
        (path / "pending").mkdir(parents=True, mode=0o700, exist_ok=True)
        path.chmod(0o700)
        return path

    def record(self, session: str, *texts: str, spool: str = "claude-code", at: float | None = None) -> None:
        """Record exchanges as if hooks had told them."""
        store = self.parts.served.store(spool)
        now = rfc3339(self.parts.clock.wall() if at is None else at)
        for number, text in enumerate(texts):
            for kind, payload in (("user_prompt", {"prompt": text}), ("assistant_stop", {"text": f"re: {text}"})):
                store.append([NewEvent(session, kind, payload, now, f"{session}-{text}-{number}-{kind}", SCOPE)])

    def codes(self) -> dict[str, str]:
        return {finding.code: finding.where for finding in self.parts.findings.all()}

    def jobs(self, kind: str = "") -> list[Any]:
        return list(self.parts.queue.jobs(kind=kind))


@contextmanager
def composed(root: Path, **environ: str) -> Iterator[Composed]:
    """Give one, and close it."""
    made = Composed(root, **environ)
    try:
        yield made
    finally:
        made.parts.close()
        shutil.rmtree(root / "m", ignore_errors=True)


def finish(home: Composed, new: NewJob, outcome: Outcome | None) -> None:
    """Queue a job, and end a run of it with that outcome; with None it stays ready."""
    home.parts.queue.enqueue(new)
    if outcome is None:
        return
    claim = home.parts.queue.claim()
    assert claim is not None and claim.job.id == new.id
    home.parts.queue.finish(claim, outcome)
