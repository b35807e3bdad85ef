"""Shows that the process has no file descriptor left: nothing can be read, claimed or sent then."""

import errno
import os

from daemon.status.findings import Findings

PROBLEM = "no-descriptors"

USED_UP = frozenset({errno.EMFILE, errno.ENFILE})
"""The process's own limit, and the system's."""


def look_at_descriptors(findings: Findings) -> None:
    """Try to get one. Raises OSError where that fails for another reason."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        if error.errno not in USED_UP:
            raise
        findings.report(PROBLEM, detail=os.strerror(error.errno or 0))
    else:
        findings.clear(PROBLEM)
