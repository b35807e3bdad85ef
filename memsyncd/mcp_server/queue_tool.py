"""`memory_queue_status`: what waits on its way to memory, what failed, and what to do about it. Changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsyncd.mcp_server.tool import Answer, Call, ServedTool
from memsyncd.notes.arguments import known
from memsyncd.notes.catalogue import Hints, Tool
from memsyncd.recall.context import words
from memsyncd.recall.cutting import cut, repaired

MOST_LISTED = 20
"""Jobs named in an answer; the rest is counted."""

MAX_TEXT_CHARS = 500
"""Of one reason or message."""

NOT_RUNNING = {
    "code": "not-running",
    "message": "The daemon is not running",
    "remedy": "The user starts it with `memsyncd run`; what waits is kept until then.",
}

TOOL = Tool(
    "memory_queue_status",
    "Status of the memory queue",
    "Tell whether what happened in coding sessions reaches memory: what waits, what failed, and what to do about it."
    " Works also while the daemon is down.",
    Hints(read_only=True, destructive=False),
)

_JOB = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("id", "kind", "reason")},
    "required": ["id", "kind", "reason"],
}
_PROBLEM = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("code", "message", "remedy")},
    "required": ["code", "message", "remedy"],
}
_COUNTS = ("handoffs", "jobs_ready", "jobs_waiting", "jobs_running", "extractions_open", "events_recorded")

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "state": {"type": "string"},
        "summary": {"type": "string"},
        "waiting": {
            "type": "object",
            "properties": {name: {"type": "integer"} for name in _COUNTS},
            "required": list(_COUNTS),
        },
        "waiting_jobs": {"type": "array", "items": _JOB},
        "failed_count": {"type": "integer"},
        "failed": {"type": "array", "items": _JOB},
        "to_do": {"type": "array", "items": _PROBLEM},
    },
    "required": ["state", "summary", "waiting", "waiting_jobs", "failed_count", "failed", "to_do"],
}


@dataclass(frozen=True, slots=True)
class QueueState:
    """CONTRACT's `/status` document, and the jobs that wait and those that were given up (handoffs among them) in
    CONTRACT's shape. `timers` of the waiting jobs in the document's count are the daemon's own, and no work."""

    status: Mapping[str, Any]
    waiting: Sequence[Mapping[str, Any]] = ()
    failed: Sequence[Mapping[str, Any]] = ()
    timers: int = 0


def queue_tool(look: Callable[[], QueueState]) -> ServedTool:
    """Return the tool. `look` blocks and may raise ToolFailed."""

    def answer(call: Call) -> Answer:
        known(TOOL, call.arguments)
        document = _document(look())
        return Answer(_text(document), structured=document)

    return ServedTool(TOOL, answer, is_held=False, output_schema=OUTPUT_SCHEMA)


def _document(state: QueueState) -> dict[str, Any]:
    status = state.status
    jobs = status.get("jobs") or {}
    spools = status.get("spools") or ()
    counts = (
        sum(_number(spool, "pending") + _number(spool, "running") for spool in spools),
        _number(jobs, "ready"),
        max(_number(jobs, "waiting") - state.timers, 0),
        _number(jobs, "claimed"),
        _number(status.get("extraction") or {}, "open"),
        _number(status.get("evidence") or {}, "unsent_events"),
    )
    return {
        "state": _said(status.get("state")) or "unknown",
        "summary": _said(status.get("summary")),
        "waiting": dict(zip(_COUNTS, counts, strict=True)),
        "waiting_jobs": [_job(job) for job in state.waiting if job.get("reason")][:MOST_LISTED],
        "failed_count": len(state.failed),
        "failed": [_job(job) for job in state.failed[:MOST_LISTED]],
        "to_do": [
            {name: _said(problem.get(name)) for name in ("code", "message", "remedy")}
            for problem in (*([NOT_RUNNING] if status.get("state") == "down" else []), *(status.get("problems") or ()))
        ],
    }


def _text(document: Mapping[str, Any]) -> str:
    lines = [f"{document['state']}: {document['summary']}"]
    waiting = [f"{count:,} {name.replace('_', ' ')}" for name, count in document["waiting"].items() if count]
    lines += ["", f"Waiting: {', '.join(waiting) or 'nothing'}."]
    lines += [_line(job) for job in document["waiting_jobs"]]
    lines += ["", f"Failed: {document['failed_count'] or 'nothing'}."]
    lines += [_line(job) for job in document["failed"]]
    if document["failed_count"] > len(document["failed"]):
        lines.append(f"- and {document['failed_count'] - len(document['failed']):,} more: `memsyncd jobs list`")
    lines += ["", "To do:" if document["to_do"] else "To do: nothing."]
    lines += [f"- {problem['message'].rstrip('.')}. {problem['remedy']}" for problem in document["to_do"]]
    return "\n".join(lines)


def _line(job: Mapping[str, Any]) -> str:
    return f"- {job['id']}" + (f": {job['reason']}" if job["reason"] else "")


def _job(job: Mapping[str, Any]) -> dict[str, str]:
    errors = job.get("errors") or ()
    reason = job.get("reason") or (errors[-1].get("why") if errors else "")
    return {"id": repaired(str(job.get("id", ""))), "kind": _said(job.get("kind")), "reason": _said(reason)}


def _number(values: Mapping[str, Any], name: str) -> int:
    value = values.get(name)
    return value if isinstance(value, int) else 0


def _said(value: object) -> str:
    return cut(words(value), MAX_TEXT_CHARS) if isinstance(value, str) else ""
