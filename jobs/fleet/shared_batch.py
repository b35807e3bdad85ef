"""A batch as a job of the shared queue: everything its request needs, and how far its delivery has come."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from jobs.job import NewJob
from memsyncd.platforms.platform import Batch, Message

DELIVER = "deliver"
"""The kind of these jobs."""

FORMAT = 1
"""Of the payload. It rises with what a worker has to know of to deliver a batch as it is meant; the rest is added
without. A worker passes over what it does not know, keeps it, and leaves what has a higher number to those that know
it."""


def job_id(edge: str, spool: str, packet_id: str, number: int | str) -> str:
    """Return the id of the one job that delivers a batch. `edge` is its machine's and data directory's own name."""
    return f"{DELIVER}:{edge}:{spool}:{packet_id}:{number}"


def lane(edge: str, spool: str, session_id: str) -> str:
    """Return the lane of a session of an edge: its batches keep their order."""
    return f"{edge}/{spool}/{session_id}"


def new_job(batch: Batch, progress: "Progress", *, edge: str, spool: str, destination: str) -> NewJob:
    """Return the job that delivers `batch`, which has come as far as `progress` before."""
    return NewJob(
        id=job_id(edge, spool, batch.packet_id, batch.number),
        kind=DELIVER,
        payload=payload(batch, progress),
        lane=lane(edge, spool, batch.run_id),
        destination=destination,
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch has come. Times are Unix seconds by the clock that is named.

    `posted_at` (the queue's, which all workers share) is set before its request leaves: with it and without an event id
    nobody knows whether it arrived. `looks` tells that the moment before it is looked for was waited for. `event_id` is
    its extraction event's, asked for `asked` times; the wait for that began at `since` (the queue's; 0: it has not).
    """

    posted_at: float | None = None
    looks: bool = False
    event_id: str = ""
    asked: int = 0
    since: float = 0.0

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Self:
        """Return what a payload tells; the beginning, where it tells nothing."""
        return cls(**_known(cls, payload.get("progress", {})))

    def accepted(self, event_id: str, since: float) -> "Progress":
        """Return it with an extraction event to ask for."""
        return replace(self, event_id=event_id, asked=0, since=since, looks=False)


def payload(batch: Batch, progress: Progress) -> dict[str, Any]:
    """Return what is stored."""
    return {"format": FORMAT, "batch": asdict(batch), "progress": asdict(progress)}


def advanced(stored: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return a payload with the batch's progress as it is now, and all the rest of it as it was."""
    return {**stored, "progress": {**stored.get("progress", {}), **asdict(progress)}}


def format_of(stored: Mapping[str, Any]) -> int:
    """Return the number of a payload's format. Raises TypeError or ValueError where it has none."""
    return int(stored.get("format", FORMAT))


def batch_of(stored: Mapping[str, Any]) -> Batch:
    """Return the batch in a payload. Raises KeyError, TypeError, ValueError or AttributeError where there is none."""
    told = _known(Batch, stored["batch"])
    told["messages"] = tuple(Message(**_known(Message, message)) for message in told["messages"])
    return Batch(**told)


def made(memories: int) -> dict[str, Any]:
    """Return the payload of a batch that was delivered: what came of it, and nothing of what was said."""
    return {"memories": memories}


def _known(shape: type, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what this version knows of a shape's fields."""
    names = {field.name for field in fields(shape)}
    return {name: value for name, value in told.items() if name in names}
