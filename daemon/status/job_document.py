"""A job as CONTRACT's JSON shape."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from jobs.job import Job
from memsyncd.clock import rfc3339


def job_document(job: Job) -> dict[str, Any]:
    """Return JSON values only; times are RFC 3339 or null. The payload names sessions and packets, no text."""
    document = asdict(job)
    if isinstance(document["payload"].get("batch"), Mapping):
        document["payload"] = _without_texts(document["payload"])
    for name in ("not_before", "created_at", "updated_at"):
        document[name] = None if document[name] is None else rfc3339(document[name])
    return document


def _without_texts(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a batch's payload tells but for what was said."""
    batch = payload["batch"]
    messages = batch.get("messages")
    return {
        "packet": batch.get("packet_id"),
        "batch": batch.get("number"),
        "session": batch.get("run_id"),
        "messages": len(messages) if isinstance(messages, Sequence) else 0,
        "progress": payload.get("progress", {}),
    }
