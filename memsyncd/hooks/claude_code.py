"""Claude Code's hook JSON as records (hooks-and-apis 1A). Other harnesses of the same snake_case share it (section 0).

Every field may be missing or of another type; nothing here raises on any JSON.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from memsyncd.hooks import bounding, tool_payload
from memsyncd.hooks.bounding import Redact
from memsyncd.hooks.handoff import FLUSH, Handoff
from memsyncd.hooks.prompt_noise import persons_words
from memsyncd.hooks.record import UNKNOWN_SESSION, Record

MAX_ID = 200
MAX_PATH = 4096
MAX_BYTES = 1 << 53
HANDBACK = "SubagentHandback"
"""The tool in whose call a subagent delivers its report; its last message is then a closing word only."""

_FIELD = re.compile(r'"(session_id|cwd|prompt_id|transcript_path)"\s*:\s*"([^"\\]{1,4096})"')


def records(handoff: Handoff, *, redact: Redact = bounding.unredacted) -> tuple[Record, ...]:
    """Return what `handoff` says happened; nothing where it says nothing, as a Stop without an answer.

    `redact` takes secrets out of what is about to be cut; whole texts are the caller's to redact. A flush gives a
    record only of an answer it brings, for a session's end may come before its Stop, or instead (facts 1.26).
    """
    if "raw" in handoff.extra or handoff.hook_input.get("memsyncd_oversized") is True:
        return (_unreadable(handoff, redact),)
    return _READERS.get(handoff.action, _unknown)(handoff, redact)


def _session_start(handoff: Handoff, _redact: Redact) -> tuple[Record, ...]:
    told = {key: _text(handoff.hook_input.get(key))[:MAX_ID] for key in ("source", "model")}
    return (_record(handoff, "session_start", {key: value for key, value in told.items() if value}),)


def _prompt(handoff: Handoff, _redact: Redact) -> tuple[Record, ...]:
    prompt = _words(handoff.hook_input.get("prompt"))
    words, element = persons_words(prompt)
    payload: dict[str, Any] = {"prompt": words}
    if element:
        # Without a person's words the event stays, empty: it marks a turn, and is no message that could be sent.
        payload |= {"ignored": element, "ignored_chars": len(prompt) - len(words)}
    elif not words.strip():
        return ()
    return (_record(handoff, "user_prompt", payload, turn_id=_text(handoff.hook_input.get("prompt_id"))),)


def _answer(handoff: Handoff, redact: Redact) -> tuple[Record, ...]:
    hook = handoff.hook_input
    text = _words(hook.get("last_assistant_message"))
    if not text.strip() or hook.get("hook_event_name") == "StopFailure":  # that one's text is the error's
        return ()
    if _text(hook.get("agent_id")):
        return _subagent(handoff, redact) if handoff.action != FLUSH else ()
    return (_record(handoff, "assistant_stop", {"text": text}, turn_id=_text(hook.get("prompt_id"))),)


def _subagent(handoff: Handoff, _redact: Redact) -> tuple[Record, ...]:
    """Return a subagent's start or stop. Its type is empty where the harness ran an agent for itself (a title, a
    summary): its words are nobody's memory and are left out."""
    hook = handoff.hook_input
    agent_id = _text(hook.get("agent_id"))[:MAX_ID]
    payload: dict[str, Any] = {"agent_id": agent_id, "agent_type": _text(hook.get("agent_type"))[:MAX_ID]}
    if handoff.action == "subagent-start":
        return (_record(handoff, "subagent_start", payload, turn_id=agent_id),)
    text = _words(hook.get("last_assistant_message"))
    if hook.get("agent_type") == "":
        payload["left_out"] = bounding.digest(text)
    else:
        payload["final_message"] = text
    if transcript := _text(hook.get("agent_transcript_path")):
        payload["agent_transcript_path"] = transcript[:MAX_PATH]
    return (_record(handoff, "subagent_stop", payload, turn_id=_told_by(agent_id, text)),)


def _tool(handoff: Handoff, redact: Redact) -> tuple[Record, ...]:
    hook = handoff.hook_input
    turn_id = _text(hook.get("tool_use_id"))
    given = hook.get("tool_input")
    report = _words(given.get("message")) if isinstance(given, Mapping) else ""
    agent_id = _text(hook.get("agent_id"))[:MAX_ID]
    if hook.get("tool_name") == HANDBACK and agent_id and report.strip():
        told = {"agent_id": agent_id, "agent_type": _text(hook.get("agent_type"))[:MAX_ID], "final_message": report}
        return (_record(handoff, "subagent_stop", told, turn_id=turn_id or _told_by(agent_id, report)),)
    failed = True if handoff.action == "post-tool-failure" else None
    kind, payload = tool_payload.capture(hook, failed=failed, directory=_directory(handoff), redact=redact)
    if hook.get("is_interrupt") is True:
        payload["interrupted"] = True
    return (_record(handoff, kind, payload, turn_id=turn_id),)


def _unknown(handoff: Handoff, redact: Redact) -> tuple[Record, ...]:
    payload = {"hook_input": bounding.document(handoff.hook_input, redact)}
    return (_record(handoff, handoff.action, payload, turn_id=_text(handoff.hook_input.get("tool_use_id"))),)


def _unreadable(handoff: Handoff, redact: Redact) -> Record:
    """Return what is left of input that was no JSON object or was too large: its text's beginning, its size, and
    whose it was if the beginning says so. It is kept under the action's name and is no message."""
    text = _text(handoff.extra.get("raw")) or _text(handoff.hook_input.get("head"))
    told: dict[str, Any] = dict(reversed(_FIELD.findall(text[:MAX_PATH])))  # of a name that comes twice, the first
    payload: dict[str, Any] = {"raw": bounding.head(text, bounding.MAX_JSON, redact)}
    size = handoff.hook_input.get("bytes")
    if isinstance(size, int):
        payload["oversized_bytes"] = min(size, MAX_BYTES)
    owner = Handoff(id=handoff.id, action=handoff.action, hook_input=told, cwd=handoff.cwd, extra=handoff.extra)
    return _record(owner, handoff.action, payload)


def session_of(handoff: Handoff) -> str:
    """Return the session a handoff belongs to, UNKNOWN_SESSION where its hook names none (facts 2.14)."""
    named = next(
        (text for key in ("session_id", "conversation_id") if (text := _text(handoff.hook_input.get(key)))), ""
    )
    return named[:MAX_ID] or UNKNOWN_SESSION


def _record(handoff: Handoff, kind: str, payload: Mapping[str, Any], *, turn_id: str = "") -> Record:
    hook = handoff.hook_input
    return Record(
        kind=kind[:MAX_ID],
        session_id=session_of(handoff),
        payload=payload,
        cwd=_directory(handoff)[:MAX_PATH],
        turn_id=turn_id[:MAX_ID],
        agent_id=_text(hook.get("agent_id"))[:MAX_ID],
        transcript_path=_text(hook.get("transcript_path"))[:MAX_PATH],
    )


def _directory(handoff: Handoff) -> str:
    """Return where the agent stood; an empty one counts as none (never-again 91)."""
    return _text(handoff.hook_input.get("cwd")) or _text(handoff.extra.get("project")) or handoff.cwd


def _told_by(agent_id: str, text: str) -> str:
    """Name a subagent's stop: an agent that is taken up again stops once more, with other words."""
    return f"{agent_id}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _words(value: object) -> str:
    """Return a text, or the text parts of a list of them, as some harnesses send a prompt."""
    if isinstance(value, list):
        return "\n".join(text for part in value if isinstance(part, Mapping) and (text := _text(part.get("text"))))
    return _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_READERS: Mapping[str, Callable[[Handoff, Redact], tuple[Record, ...]]] = {
    "session-start": _session_start,
    "user-prompt": _prompt,
    "post-tool": _tool,
    "post-tool-failure": _tool,
    "stop": _answer,
    FLUSH: _answer,
    "subagent-start": _subagent,
    "subagent-stop": _subagent,
}
