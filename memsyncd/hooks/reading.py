"""A hook's JSON as records, as its harness's adapter says. Nothing here raises on any JSON."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from memsyncd.hooks import bounding, looking, tool_call, tool_payload
from memsyncd.hooks.adapter import Adapter, Paths, keys
from memsyncd.hooks.bounding import Redact
from memsyncd.hooks.handoff import FLUSH, Handoff
from memsyncd.hooks.prompt_noise import persons_words
from memsyncd.hooks.record import UNKNOWN_SESSION, Record

MAX_ID = 200
MAX_PATH = 4096
MAX_BYTES = 1 << 53
NOTHING: tuple[Any, ...] = (None, "", [], {})

SESSIONS = keys("session_id", "conversation_id", "sessionId", "conversationId", "trajectory_id", "sessionID")
PROJECTS: Paths = (*keys("cwd"), ("workspace_roots", 0), ("workspacePaths", 0), *keys("directory", "worktree"))
"""Where any harness has them, for a payload that does not have them where its own does (never-again 91)."""

_KNOWN_ANYWHERE = frozenset(str(path[0]) for path in (*SESSIONS, *PROJECTS))

_NAMES = ("cwd", "prompt_id", "transcript_path", "transcriptPath", *(str(path[0]) for path in SESSIONS))
_FIELD = re.compile(rf'"({"|".join(_NAMES)})"\s*:\s*"([^"\\]{{1,4096}})"')


def records(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    """Return what `handoff` says happened; nothing where it says nothing, as a stop without an answer.

    `redact` takes secrets out of what is about to be cut; whole texts are the caller's to redact. A flush gives a
    record only of an answer it brings, for a session's end may come before its stop, or instead (facts 1.26). Where
    nothing would be recorded of what says something that nobody can read, all of it is kept under the action's name.
    """
    if is_unreadable(handoff):
        return (_unreadable(handoff, adapter, redact),)
    found = _READERS.get(handoff.action, _unknown)(handoff, adapter, redact)
    if found or all(value in NOTHING for value in _unknown_fields(handoff.hook_input, adapter).values()):
        return found
    return _unknown(handoff, adapter, redact)


def is_unreadable(handoff: Handoff) -> bool:
    """Whether the hook's input was no JSON object, or too large to be kept."""
    return "raw" in handoff.extra or handoff.hook_input.get("memsyncd_oversized") is True


def session_of(handoff: Handoff, adapter: Adapter) -> str:
    """Return the session a handoff belongs to, UNKNOWN_SESSION where its hook names none (facts 2.14)."""
    hook = handoff.hook_input
    return (looking.text(hook, adapter.fields.session) or looking.text(hook, SESSIONS))[:MAX_ID] or UNKNOWN_SESSION


def directory_of(handoff: Handoff, adapter: Adapter) -> str:
    """Return where the agent stood; an empty one counts as none (never-again 91)."""
    told = looking.text(handoff.hook_input, adapter.fields.project) or looking.text(handoff.hook_input, PROJECTS)
    return told or _text(handoff.extra.get("project")) or handoff.cwd


def event_of(handoff: Handoff, adapter: Adapter) -> str:
    """Return the harness's own name of the event, empty where the payload has none."""
    return looking.text(handoff.hook_input, adapter.fields.event)


def _session_start(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    hook, at = handoff.hook_input, adapter.fields
    told = {"source": looking.text(hook, at.source)[:MAX_ID], "model": looking.text(hook, at.model)[:MAX_ID]}
    payload = {key: value for key, value in told.items() if value}
    return (_record(handoff, adapter, "session_start", payload | _unfamiliar(handoff, adapter, redact)),)


def _prompt(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    prompt = looking.words(handoff.hook_input, adapter.fields.prompt)
    words, element = persons_words(prompt)
    payload: dict[str, Any] = {"prompt": words}
    if element:
        # Without a person's words the event stays, empty: it marks a turn, and is no message that could be sent.
        payload |= {"ignored": element, "ignored_chars": len(prompt) - len(words)}
    elif not words.strip() and not looking.is_unread(looking.value(handoff.hook_input, adapter.fields.prompt)):
        return ()  # a picture without a word marks a turn, too
    payload |= _unfamiliar(handoff, adapter, redact)
    return (_record(handoff, adapter, "user_prompt", payload, turn_id=_turn(handoff, adapter)),)


def _answer(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    text = looking.words(handoff.hook_input, adapter.fields.answer)
    if not text.strip() or event_of(handoff, adapter) in adapter.failures:  # that one's text is the error's
        return ()
    if looking.text(handoff.hook_input, adapter.fields.agent_id):
        return _subagent(handoff, adapter, redact) if handoff.action != FLUSH else ()
    payload = {"text": text, **_unfamiliar(handoff, adapter, redact)}
    return (_record(handoff, adapter, "assistant_stop", payload, turn_id=_turn(handoff, adapter)),)


def _subagent(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    """Return a subagent's start or stop. Its type is empty where the harness ran an agent for itself (a title, a
    summary): its words are nobody's memory and are left out."""
    hook, at = handoff.hook_input, adapter.fields
    agent_id, kind = looking.text(hook, at.agent_id)[:MAX_ID], looking.text(hook, at.agent_type)[:MAX_ID]
    payload: dict[str, Any] = {"agent_id": agent_id, "agent_type": kind, **_unfamiliar(handoff, adapter, redact)}
    if handoff.action == "subagent-start":
        return (_record(handoff, adapter, "subagent_start", payload, turn_id=agent_id),)
    text = looking.words(hook, at.agent_answer)
    if not kind and looking.has(hook, at.agent_type):
        payload["left_out"] = bounding.digest(text)
    else:
        payload["final_message"] = text
    if transcript := looking.text(hook, at.agent_transcript):
        payload["agent_transcript_path"] = transcript[:MAX_PATH]
    turn_id = f"{agent_id}:{_short_hash(text)}" if agent_id else ""  # one that is taken up again stops once more
    record = _record(handoff, adapter, "subagent_stop", payload, turn_id=turn_id)
    return (record,) if agent_id else (_of_nobody(record, f"{kind} {text}"),)


def _of_nobody(record: Record, told: str) -> Record:
    """Return a stop that names no agent under a name made of what it tells (facts 11.4)."""
    agent_id = f"unknown-agent-{_short_hash(told)}"
    return replace(record, agent_id=agent_id, payload={**record.payload, "agent_id": agent_id})


def _tool(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    hook, at = handoff.hook_input, adapter.fields
    turn_id = looking.text(hook, at.tool_id)
    call = tool_call.call(hook, adapter)
    report = looking.as_words(call["tool_input"].get("message"))
    if adapter.tools.handback and call["tool_name"] == adapter.tools.handback and call["agent_id"] and report.strip():
        told = {key: call[key][:MAX_ID] for key in ("agent_id", "agent_type")} | {"final_message": report}
        turn_id = turn_id or f"{told['agent_id']}:{_short_hash(report)}"
        return (_record(handoff, adapter, "subagent_stop", told, turn_id=turn_id),)
    failed = True if handoff.action == "post-tool-failure" else None
    directory = directory_of(handoff, adapter)
    kind, payload = tool_payload.capture(call, failed=failed, directory=directory, redact=redact, tools=adapter.tools)
    if looking.value(hook, at.interrupted) is True:
        payload["interrupted"] = True
    if unfamiliar := sorted(_unknown_fields(hook, adapter)):
        payload["unfamiliar_keys"] = [bounding.head(key, tool_payload.MAX_KEY, redact) for key in unfamiliar][
            : tool_payload.MAX_KEYS
        ]
    return (_record(handoff, adapter, kind, payload, turn_id=turn_id),)


def _unknown(handoff: Handoff, adapter: Adapter, redact: Redact) -> tuple[Record, ...]:
    payload = {"hook_input": bounding.document(handoff.hook_input, redact)}
    turn_id = looking.text(handoff.hook_input, adapter.fields.tool_id)
    return (_record(handoff, adapter, handoff.action, payload, turn_id=turn_id),)


def _unreadable(handoff: Handoff, adapter: Adapter, redact: Redact) -> Record:
    """Return what is left of input that was no JSON object or was too large: its text's beginning, its size, and
    whose it was if the beginning says so. It is kept under the action's name and is no message."""
    text = _text(handoff.extra.get("raw")) or _text(handoff.hook_input.get("head"))
    told: dict[str, Any] = dict(reversed(_FIELD.findall(text[:MAX_PATH])))  # of a name that comes twice, the first
    payload: dict[str, Any] = {"raw": bounding.head(text, bounding.MAX_JSON, redact)}
    size = handoff.hook_input.get("bytes")
    if isinstance(size, int):
        payload["oversized_bytes"] = min(size, MAX_BYTES)
    owner = Handoff(id=handoff.id, action=handoff.action, hook_input=told, cwd=handoff.cwd, extra=handoff.extra)
    return _record(owner, adapter, handoff.action, payload)


def _unfamiliar(handoff: Handoff, adapter: Adapter, redact: Redact) -> dict[str, Any]:
    """Return fields that nobody has told us of, and texts that are none, within bounds: a newer version's, kept for
    whoever looks."""
    found = _unknown_fields(handoff.hook_input, adapter)
    return {"unfamiliar": bounding.document(found, redact)} if found else {}


def _unknown_fields(hook: Mapping[str, Any], adapter: Adapter) -> Mapping[str, Any]:
    found = looking.unread(hook, adapter.texts, adapter.inner_texts)
    return found | {key: hook[key] for key in hook.keys() - adapter.known - _KNOWN_ANYWHERE}


def _record(handoff: Handoff, adapter: Adapter, kind: str, payload: Mapping[str, Any], *, turn_id: str = "") -> Record:
    hook, at = handoff.hook_input, adapter.fields
    return Record(
        kind=kind[:MAX_ID],
        session_id=session_of(handoff, adapter),
        payload=payload,
        cwd=directory_of(handoff, adapter)[:MAX_PATH],
        turn_id=turn_id[:MAX_ID],
        agent_id=looking.text(hook, at.agent_id)[:MAX_ID],
        transcript_path=looking.text(hook, at.transcript)[:MAX_PATH],
    )


def _turn(handoff: Handoff, adapter: Adapter) -> str:
    return looking.text(handoff.hook_input, adapter.fields.turn)


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_READERS: Mapping[str, Callable[[Handoff, Adapter, Redact], tuple[Record, ...]]] = {
    "session-start": _session_start,
    "user-prompt": _prompt,
    "post-tool": _tool,
    "post-tool-failure": _tool,
    "stop": _answer,
    FLUSH: _answer,
    "subagent-start": _subagent,
    "subagent-stop": _subagent,
}
