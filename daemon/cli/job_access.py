"""Jobs and dead handoffs, through the daemon where one runs and from the files where none does."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from daemon.cli import exits, link
from daemon.cli.surroundings import Surroundings
from daemon.intake.spool import Spool
from daemon.status.dead_handoffs import PREFIX, change_handoff, dead_handoffs

Result = TypeVar("Result")

ALL = 10_000
"""The most jobs the daemon gives in one answer."""


def find(around: Surroundings, *, state: str, kind: str, limit: int, ask: bool = True) -> list[dict[str, Any]]:
    """Return job documents, the last changed first, then the dead handoffs that belong to no job.

    Without `ask` from the files alone: where it is known that the daemon does not answer.
    """
    found = _jobs(around, state=state, kind=kind, limit=limit, ask=ask)
    if state in {"", "dead"} and kind in {"", "handoff"} and len(found) < limit:
        dead = found if state == "dead" and not kind else _jobs(around, state="dead", kind="", limit=ALL, ask=ask)
        found = [*found, *dead_handoffs(_spools(around), dead)][:limit]
    return found


def find_on_all_hosts(around: Surroundings, *, state: str, kind: str, limit: int) -> list[dict[str, Any]]:
    """Return the job documents of every host that shares the queue, the last changed first. Only the daemon knows."""
    asked = {"all_hosts": "1", "state": state, "kind": kind, "limit": str(limit)}
    try:
        found = link.get(around, "/jobs?" + urlencode({key: value for key, value in asked.items() if value}))
    except link.Refused as error:
        raise exits.Leave(exits.FAILED, str(error)) from error
    return list(found.get("jobs") or ())


def get(around: Surroundings, job_id: str) -> dict[str, Any] | None:
    """Return one job or dead handoff, None where there is none."""
    if job_id.startswith(PREFIX):
        return next((each for each in dead_handoffs(_spools(around), ()) if each["id"] == job_id), None)
    try:
        return link.get(around, f"/jobs/{quote(job_id, safe='')}")
    except link.NotFound:
        return None
    except link.NotRunning:
        from daemon.status.offline_jobs import offline_job  # noqa: PLC0415  (only without a daemon)

        return _on_files(lambda: offline_job(around.places(), job_id))


def change(around: Surroundings, verb: str, ids: Sequence[str]) -> dict[str, str]:
    """`retry` or `discard`; return for each id why it was refused, empty where it was done or already so."""
    handoffs = [each for each in ids if each.startswith(PREFIX)]
    jobs = [each for each in ids if not each.startswith(PREFIX)]
    results: dict[str, str] = {}
    if jobs:
        try:
            results = {job_id: _through_daemon(around, verb, job_id) for job_id in jobs}
        except link.NotRunning:
            from daemon.status.offline_jobs import change_jobs  # noqa: PLC0415  (only without a daemon)

            results = _on_files(lambda: change_jobs(around.places(), _spools(around), verb, jobs))
    spools = _spools(around) if handoffs else []
    return results | {each: change_handoff(spools, verb, each) for each in handoffs}


def _jobs(around: Surroundings, *, state: str, kind: str, limit: int, ask: bool) -> list[dict[str, Any]]:
    asked = {"state": state, "kind": kind, "limit": str(limit)}
    if ask:
        with suppress(link.NotRunning):
            found = link.get(around, "/jobs?" + urlencode({key: value for key, value in asked.items() if value}))
            return list(found.get("jobs") or ())
    from daemon.status.offline_jobs import offline_jobs  # noqa: PLC0415  (only without a daemon)

    found = _on_files(lambda: offline_jobs(around.places(), state=state, kind=kind, limit=limit))
    return list(found.get("jobs") or ())


def _spools(around: Surroundings) -> list[Spool]:
    from daemon.status.offline import settings_or_default, spools_to_serve  # noqa: PLC0415  (only where files are looked at)

    places = around.places()
    return spools_to_serve(places, settings_or_default(places, around.environ, []))


def _through_daemon(around: Surroundings, verb: str, job_id: str) -> str:
    try:
        link.post(around, f"/jobs/{quote(job_id, safe='')}/{verb}", {})
    except link.NotFound:
        return "there is no such job"
    except link.Refused as error:
        return str(error)
    return ""


def _on_files(work: Callable[[], Result]) -> Result:
    """Do something with the files of a daemon that is down, in sentences where it cannot be done."""
    from daemon.lock import AlreadyRunning  # noqa: PLC0415  (only without a daemon)
    from daemon.status.snapshot import NotADatabaseError  # noqa: PLC0415
    from jobs.queue.errors import NewerSchema  # noqa: PLC0415

    try:
        return work()
    except AlreadyRunning as error:
        raise exits.Leave(exits.FAILED, f"{error} It does not answer; try again in a moment.") from error
    except NotADatabaseError as error:
        code = exits.MISCONFIGURED if isinstance(error.__cause__, NewerSchema) else exits.FAILED
        raise exits.Leave(code, f"The queue cannot be used: {error}.") from error
