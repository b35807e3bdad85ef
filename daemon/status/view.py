"""What the status socket asks of the running daemon."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class DaemonView(Protocol):
    """A snapshot at each call. The plain methods may block for a moment and are called from threads; the coroutines
    run in the event loop, wait without holding a thread, and may be cancelled at any await."""

    def status(self) -> Mapping[str, Any]:
        """Return CONTRACT's `/status`."""

    def health(self) -> tuple[bool, Sequence[str]]:
        """Return whether the daemon is healthy, and else a sentence for each reason."""

    def metrics(self) -> str:
        """Return the status as Prometheus text."""

    def jobs(self, state: str | None, kind: str | None, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return jobs in CONTRACT's shape, newest change first; `state` is a JobState's value."""

    def shared_jobs(self, state: str | None, kind: str | None, limit: int) -> Sequence[Mapping[str, Any]] | None:
        """Return the jobs of every host that shares the queue; None where the queue is this machine's own."""

    def job(self, job_id: str) -> Mapping[str, Any] | None:
        """Return one job, None where there is none."""

    def retry(self, job_id: str) -> str:
        """Make a job ready: `done`, `already so`, `unknown`, or why it cannot be."""

    def discard(self, job_id: str) -> str:
        """Drop a dead letter: `done`, `already so`, `unknown`, or why it cannot be."""

    def sessions(self, limit: int) -> Mapping[str, Any]:
        """Return the sessions with the newest events, as `status/session_document.py` tells them."""

    def history(self, minutes: int) -> Mapping[str, Any]:
        """Return the samples of the last minutes, one a minute, as `status/history.py` tells them."""

    def search(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return memories for a question, in CONTRACT's search shape. Raises SearchRefused for one that is none."""

    async def recall(self, body: bytes, until: float | None) -> Mapping[str, Any]:
        """Return memories for a prompt, in CONTRACT's recall shape, to a caller that waits until then (Unix seconds).
        Raises NotAQuestion."""

    async def flush(self, session: str | None, cwd: str | None, wait_seconds: float) -> Mapping[str, Any]:
        """Ask for a flush, of one session, one directory or all; wait up to `wait_seconds` for its end."""

    async def drain(self, wait_seconds: float) -> Mapping[str, Any]:
        """Have everything leave this machine; wait up to `wait_seconds` until it has."""

    async def events(self, since: int, wait_seconds: float) -> Mapping[str, Any]:
        """Return the events after `since`, waiting up to `wait_seconds` for a first one."""
