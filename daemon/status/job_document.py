"""A job as CONTRACT's JSON shape."""

from dataclasses import asdict
from typing import Any

from jobs.job import Job
from memsyncd.clock import rfc3339


def job_document(job: Job) -> dict[str, Any]:
    """Return JSON values only; times are RFC 3339 or null. The payload names sessions and packets, no text."""
    document = asdict(job)
    for name in ("not_before", "created_at", "updated_at"):
        document[name] = None if document[name] is None else rfc3339(document[name])
    return document
