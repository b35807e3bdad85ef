"""Why nothing is taken in: what was forgotten cannot be read, and would come back."""

from pathlib import Path

import structlog

from daemon.forgetting.tombstones import NewerTombstones, Tombstones, UnreadableTombstones
from daemon.forgetting.trouble_codes import CODES, NEWER, UNREADABLE
from daemon.status.findings import Findings
from daemon.status.parts import Finding

log = structlog.get_logger()


def of(error: UnreadableTombstones) -> Finding:
    """Return the problem."""
    code = NEWER if isinstance(error, NewerTombstones) else UNREADABLE
    return Finding(code, where=str(error.path), detail=f"{error.path} {error.why}")


def found(data: Path) -> list[Finding]:
    """Return what is wrong with the file in a data directory, from the file itself."""
    try:
        Tombstones(data).unfinished()
    except UnreadableTombstones as error:
        return [of(error)]
    return []


def tell(findings: Findings, error: UnreadableTombstones) -> None:
    """Show it until `over`; the log has one line of it."""
    finding = of(error)
    if findings.report(finding.code, finding.where, finding.detail):
        log.error(finding.code, file=finding.where, error=finding.detail)


def over(findings: Findings) -> None:
    """Note that what was forgotten can be read."""
    for finding in findings.all():
        if finding.code in CODES:
            findings.clear(finding.code, finding.where)
