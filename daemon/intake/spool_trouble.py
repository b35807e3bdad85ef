"""Why nothing is taken in from a spool: one problem at a time for each, by what has to be done about it."""

import errno
from pathlib import Path

from daemon.intake.spool_codes import CODES, FAILING, FULL, LOCKED, NO_DIRECTORY, NOT_PERMITTED, READ_ONLY, WAITS
from daemon.status.findings import Findings
from jobs.queue.errors import QueueError
from memsyncd.evidence import errors

_BY_NUMBER = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EPERM: NOT_PERMITTED,  # whatever its modes say: macOS' protected folders (never-again 103)
    errno.ENOTDIR: NO_DIRECTORY,
    errno.EEXIST: NO_DIRECTORY,  # a directory cannot be made there
    errno.EIO: FAILING,
    errno.EMFILE: FAILING,
    errno.ENFILE: FAILING,
}
_BY_KIND = (
    (QueueError, WAITS),
    (errors.StoreFull, FULL),
    (errors.StoreBusy, LOCKED),
    (errors.ReadOnlyStore, READ_ONLY),
    (errors.EvidenceError, FAILING),
)


def code_of(error: Exception, otherwise: str) -> str:
    """Return the code for what kept somebody from working on a spool; `otherwise` for what only owners and modes
    explain."""
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0, otherwise)
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), otherwise)


def tell(findings: Findings, path: Path, error: Exception, *, otherwise: str) -> bool:
    """Show the trouble of the spool at `path` in place of any other it had; True where it is new."""
    code, where = code_of(error, otherwise), str(path)
    for other in CODES - {code}:
        findings.clear(other, where)
    return findings.report(code, where, words(error))


def over(findings: Findings, path: Path) -> None:
    """Note that the spool is well."""
    for code in CODES:
        findings.clear(code, str(path))


def words(error: Exception) -> str:
    """Return an error's own words."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
