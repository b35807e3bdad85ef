"""An ingest over real spools, stores and a queue, with a clock moved by hand and no threads."""

import itertools
import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from daemon.gate import Gate
from daemon.intake.ingest import Ingest
from daemon.intake.served import Served, places_to_serve
from daemon.intake.sessions import Sessions
from daemon.intake.spool import Spool, age_at
from daemon.pause_state import Moment
from daemon.pausing import Pauses
from daemon.status.findings import Findings
from jobs.job import Job, JobState
from jobs.queue.policy import Policy
from jobs.queue.sqlite_queue import SqliteQueue
from memsyncd.clock import rfc3339
from memsyncd.counters import Counters
from memsyncd.scope.remote import project_id
from memsyncd.scope.resolve import ScopeResolver
from tests.clocks import HandClock


class Ingesting:
    """`start` makes the objects anew over the same files, as a new process would."""

    def __init__(self, root: Path, *, exclude: tuple[str, ...] = ()) -> None:
        self.root = root
        self.exclude = exclude
        self.hands = HandClock(time.time())
        self.numbers = itertools.count(1)
        self.discover = True
        self.spool_path = root / "spools" / "claude-code"
        (self.spool_path / "pending").mkdir(parents=True, mode=0o700)
        self.start()

    def start(self) -> None:
        clock = self.hands.clock()
        self.counters = Counters()
        self.findings = Findings(clock)
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.queue = SqliteQueue(
            self.root / "queue.sqlite3", clock=clock, policy=Policy(), counters=self.counters, random=Random(1)
        )
        resolve = ScopeResolver(self.root, {}).resolve
        gate = Gate(self.exclude, self.root / "paused", resolve)
        self.pauses = gate.pauses = Pauses(self.root, self.moment)
        self.served = Served(
            lambda: places_to_serve(self.root / "spools", (), self.root, discover=self.discover),
            clock,
            self.counters,
            project_id,
        )
        self.sessions = Sessions(idle_seconds=300.0)
        self.ingest = Ingest(
            served=self.served,
            queue=self.queue,
            clock=clock,
            counters=self.counters,
            findings=self.findings,
            sessions=self.sessions,
            resolve=resolve,
            is_excluded=gate.is_excluded,
            pauses_of=gate.pauses_of,
            on_event=lambda kind, **fields: self.told.append((kind, fields)),
        )
        self.served.refresh(self.findings)

    def moment(self) -> Moment:
        return Moment(self.hands.wall_now, "boot", self.hands.monotonic_now + self.hands.slept)

    def close(self) -> None:
        self.served.close()
        self.queue.close()

    def restart(self) -> None:
        """Die and come back: nothing is given back, the claims of our own spools are void."""
        self.close()
        self.start()
        for spool in self.served.spools():
            for stem in spool.stale_claims(age_at(self.hands.wall_now), at_start=True):
                spool.give_back(stem)

    @property
    def spool(self) -> Spool:
        return self.served.spool("claude-code")

    def drop(
        self,
        action: str = "user-prompt",
        *,
        name: str = "",
        session: str = "s",
        age: float = 0.0,
        captured: float | None = None,
        pending: Path | None = None,
        envelope: dict[str, Any] | None = None,
        **hook_input: Any,
    ) -> str:
        """Leave a handoff as the hook would; return its stem."""
        number = next(self.numbers)
        stem = name or f"{number:06}"
        document = {
            "v": 1,
            "id": stem,
            "harness": "claude-code",
            "action": action,
            "captured_at": rfc3339(self.hands.wall_now if captured is None else captured),
            "hook_input": {"session_id": session, "cwd": "/w/shop", **hook_input},
            **(envelope or {}),
        }
        return self.put(stem, json.dumps(document).encode(), age=age, pending=pending)

    def put(self, stem: str, content: bytes, *, age: float = 0.0, pending: Path | None = None) -> str:
        path = (pending or self.spool_path / "pending") / f"{stem}.json"
        path.write_bytes(content)
        moment = self.hands.wall_now - age
        os.utime(path, (moment, moment))
        return stem

    def prompt(self, text: str, **more: Any) -> str:
        return self.drop("user-prompt", prompt=text, **more)

    def answer(self, text: str, **more: Any) -> str:
        return self.drop("stop", last_assistant_message=text, **more)

    def end(self, **more: Any) -> str:
        return self.drop("flush", envelope={"reason": "session-end"} | more.pop("envelope", {}), **more)

    def scan(self) -> int:
        return self.ingest.scan()

    def events(self, spool: str = "claude-code") -> list[tuple[str, str]]:
        """Return kind and text of every stored event."""
        with closing(sqlite3.connect(self.served.spool(spool).evidence)) as connection:
            rows = connection.execute("SELECT kind, payload_json FROM events ORDER BY id").fetchall()
        found = []
        for kind, stored in rows:
            payload = json.loads(stored)
            found.append((kind, str(payload.get("prompt", payload.get("text", "")))))
        return found

    def texts(self) -> list[str]:
        return [text for _, text in self.events()]

    def pending(self) -> list[str]:
        return sorted(path.name for path in (self.spool_path / "pending").iterdir())

    def set_aside(self, where: str) -> dict[str, str]:
        """Return the names in `dead` or `corrupt` with their reasons."""
        directory = self.spool_path / where
        return {
            path.name: json.loads(path.with_name(path.name[: -len(".json")] + ".reason.json").read_text())["reason"]
            for path in sorted(directory.glob("*.json"))
            if not path.name.endswith(".reason.json")
        }

    def jobs(self, state: JobState | None = None) -> list[Job]:
        return sorted(self.queue.jobs(state=state), key=lambda job: job.id)
