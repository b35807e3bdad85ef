"""What keeps batches of the shared queue from every worker, told in the status of each machine that it concerns."""

import math
from collections.abc import Callable, Sequence

from daemon.status.findings import Findings
from jobs.fleet.deliver import ELSEWHERE_SECONDS
from jobs.queue.shared_queue import Unserved

NO_WORKER = "no-worker-for-account"
"""The finding where no worker that runs has an account's key."""

NEWER = "shared-batch-newer"
"""The finding at a worker that meets batches which only a newer version can deliver."""

MOST = 10
"""Accounts told of at once; the first of them wait for longest."""


class Troubles:
    """Safe from any thread. `account` is this machine's own, of which an edge tells alone."""

    def __init__(self, account: str, monotonic: Callable[[], float], findings: Findings) -> None:
        self._account = account
        self._monotonic = monotonic
        self._findings = findings
        self._met_at = -math.inf
        self._told: set[str] = set()

    def met_newer(self) -> None:
        """Note a batch that only a newer version can deliver. It comes back as long as it is there."""
        self._met_at = self._monotonic()

    def look(self, unserved: Sequence[Unserved], *, only_own: bool) -> None:
        """Tell what is so now, and no more of what was."""
        if self._monotonic() - self._met_at < 2 * ELSEWHERE_SECONDS:
            self._findings.report(NEWER)
        else:
            self._findings.clear(NEWER)
        concerns = [each for each in unserved if not only_own or each.account == self._account][:MOST]
        found = {f"account {each.account!r} at {each.destination}" for each in concerns}
        for where in found:
            self._findings.report(NO_WORKER, where)
        for where in self._told - found:
            self._findings.clear(NO_WORKER, where)
        self._told = found
