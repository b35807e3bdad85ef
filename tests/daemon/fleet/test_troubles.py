"""What keeps batches from every worker is told where it concerns somebody, and no longer than it lasts."""

from daemon.fleet.troubles import MOST, NEWER, NO_WORKER, Troubles
from daemon.status.findings import Findings
from jobs.fleet.deliver import ELSEWHERE_SECONDS
from jobs.queue.shared_queue import Unserved
from tests.clocks import HandClock


def unserved(*accounts: str) -> list[Unserved]:
    return [Unserved(name, "api", 70.0) for name in accounts]


def told(findings: Findings, code: str) -> set[str]:
    return {found.where for found in findings.all() if found.code == code}


def test_a_worker_tells_of_every_account_that_nobody_serves() -> None:
    hands = HandClock()
    findings = Findings(hands.clock())
    troubles = Troubles("", hands.clock().monotonic, findings)
    troubles.look(unserved("ann", "bob"), only_own=False)
    assert told(findings, NO_WORKER) == {"account 'ann' at api", "account 'bob' at api"}
    troubles.look(unserved("bob"), only_own=False)
    assert told(findings, NO_WORKER) == {"account 'bob' at api"}
    troubles.look(unserved(*(f"a{number}" for number in range(3 * MOST))), only_own=False)
    assert len(told(findings, NO_WORKER)) == MOST


def test_an_edge_tells_of_its_own_account_alone() -> None:
    """However many others come before it."""
    hands = HandClock()
    findings = Findings(hands.clock())
    troubles = Troubles("team-b", hands.clock().monotonic, findings)
    troubles.look(unserved(*(f"a{number}" for number in range(3 * MOST)), "team-b"), only_own=True)
    assert told(findings, NO_WORKER) == {"account 'team-b' at api"}


def test_batches_of_a_newer_version_are_told_while_they_come_back() -> None:
    hands = HandClock()
    findings = Findings(hands.clock())
    troubles = Troubles("", hands.clock().monotonic, findings)
    troubles.look((), only_own=False)
    assert not findings.all()
    troubles.met_newer()
    troubles.look((), only_own=False)
    hands.move(1.9 * ELSEWHERE_SECONDS)
    troubles.look((), only_own=False)
    assert told(findings, NEWER) == {""}
    hands.move(ELSEWHERE_SECONDS)
    troubles.look((), only_own=False)
    assert not findings.all()
