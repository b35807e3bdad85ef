"""A recaller over a real evidence store, with a search that answers what a test says."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from daemon.recalling.around import Around
from daemon.recalling.recaller import Recaller
from daemon.recalling.untold_prompt import untold_prompt
from daemon.searching.answer import Answer
from daemon.searching.request import SearchRequest
from daemon.settings.schema import Recall as RecallSettings
from memsyncd.clock import Clock, rfc3339
from memsyncd.counters import Counters
from memsyncd.evidence.event import NewEvent, Scope
from memsyncd.evidence.store import EvidenceStore
from memsyncd.platforms.platform import Memory

PROMPT = "Which port does the staging database listen on?"
SCOPE = Scope("https://git.example.org/team/tool", "team-tool", "team-tool-0123", "/w/tool", "main", "abc", "")
PORT = Memory("m1", "Staging listens on 6543.", score=0.9)
SHELL = Memory("m2", "The shell is fish.", metadata={"branch": "feat/x"})


class Asking:
    """`found` is what the search answers; `before_answer` runs inside it. `restart` begins anew over the same file."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self.settings = RecallSettings(**settings)
        self.found: list[Memory] = [PORT, SHELL]
        self.succeeds = True
        self.held: str | None = None
        self.before_answer: Callable[[], object] = lambda: None
        self.requests: list[tuple[SearchRequest, float]] = []
        self.scans: list[float] = []
        self.has_store = True
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.asked = threading.Event()
        self.start()

    def start(self) -> None:
        clock, self.counters = Clock(), Counters()
        self.store = EvidenceStore.open(self.root / "evidence.sqlite3", own=True, clock=clock)
        self.recaller = Recaller(
            Around(
                store=self._store,
                scan=self._scan,
                search=self,
                resolve=lambda _: SCOPE,
                held=lambda _: self.held,
                untold=lambda question: untold_prompt(question, self.root),
                settings=self.settings,
                clock=clock,
                counters=self.counters,
                on_event=lambda kind, **fields: self.events.append((kind, fields)),
            )
        )

    def restart(self) -> None:
        self.close()
        self.start()

    def close(self) -> None:
        self.recaller.close()
        self.store.close()

    def answer(self, request: SearchRequest, *, timeout: float) -> Answer:
        self.requests.append((request, timeout))
        self.asked.set()
        self.before_answer()
        if not self.succeeds:
            return Answer(succeeded=False, source="mem0", why="The platform is away.")
        return Answer(succeeded=True, source="mem0", memories=self.found)

    def body(self, prompt: str = PROMPT, *, session: str = "s", action: str = "user-prompt", **more: Any) -> bytes:
        hook_input = {"session_id": session, "cwd": "/w/tool", "prompt": prompt, **more}
        return json.dumps({"harness": "claude-code", "action": action, "hook_input": hook_input}).encode()

    def ask(self, prompt: str = PROMPT, *, until: float | None = None, **more: Any) -> dict[str, Any]:
        return asyncio.run(self.recaller.answer(self.body(prompt, **more), until))

    def outcome(self, prompt: str = PROMPT, **more: Any) -> str:
        return str(self.ask(prompt, **more)["outcome"])

    def start_subagent(self, agent: str, agent_type: str = "explorer", session: str = "s") -> dict[str, Any]:
        return self.ask("", session=session, action="subagent-start", agent_id=agent, agent_type=agent_type)

    def record(self, prompt: str, session: str = "s") -> None:
        """Take in a prompt, as the ingest does."""
        event = NewEvent(session, "user_prompt", {"prompt": prompt}, rfc3339(0.0), f"{session}-{prompt}", SCOPE)
        self.store.append([event])

    def counted(self) -> dict[str, int]:
        return {name: value for name, value in self.counters.snapshot().items() if name.startswith("recalls")}

    def _store(self, harness: str) -> EvidenceStore:
        if not self.has_store:
            raise KeyError(harness)
        return self.store

    def _scan(self, seconds: float) -> bool:
        self.scans.append(seconds)
        self.has_store = True
        return True
