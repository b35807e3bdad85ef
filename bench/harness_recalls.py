"""A first prompt that is told a memory, by each harness that hands one to its model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.daemon_at_work import DaemonAtWork
from bench.hook import PROMPT
from bench.hook_runs import Cost, State, run
from memsyncd.hooks.adapter import Path as FieldPath
from memsyncd.hooks.adapters import ADAPTERS
from memsyncd.transcripts.sources import SOURCES

HARNESSES = [name for name, adapter in ADAPTERS.items() if "user-prompt" in adapter.printed]

LIMIT_MS = 40.0
"""Of the whole hook, from its start to its end."""


def recalls(harness: str, words: Sequence[str], payload: Path, times: int, daemon: DaemonAtWork) -> list[Cost]:
    """Run a prompt's hook some times, each time in a new session; `daemon` must know something of PROMPT."""
    found: list[Cost] = []
    for number in range(times):
        given = daemon.root / f"{harness}.json"
        session = f"{harness}-{number}-{sum(1 for _ in daemon.root.glob('asked-*'))}"
        (daemon.root / f"asked-{session}").touch()
        given.write_text(json.dumps(_asked(harness, json.loads(payload.read_bytes()), session, daemon)))
        found += run(words, given, 1, State(daemon.environ, drops=True), prints=True)
    return found


def _asked(harness: str, document: Any, session: str, daemon: DaemonAtWork) -> Any:
    at = ADAPTERS[harness].fields
    _put(document, at.session[0], session)
    _put(document, at.project[0], str(daemon.project))
    if harness in SOURCES and SOURCES[harness].has_prompts:
        transcript = daemon.root / "transcript.jsonl"
        line = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE", "content": PROMPT}
        transcript.write_text(json.dumps(line) + "\n")
        _put(document, at.transcript[0], str(transcript))
    else:
        _put(document, at.prompt[0], PROMPT)
    return document


def _put(document: Any, path: FieldPath, value: str) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value
