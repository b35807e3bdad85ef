"""What is told of a spool that cannot be worked on."""

import errno
import os
from pathlib import Path

import pytest

from daemon.heartbeat import EXPLAINED
from daemon.intake import spool_codes, spool_trouble
from daemon.status.findings import Findings
from daemon.status.problem_kinds import KINDS
from jobs.queue.errors import QueueUnavailable
from memsyncd.clock import Clock
from memsyncd.evidence import errors

PLACE = Path("/s/codex")


@pytest.mark.parametrize(
    ("error", "code", "remedy"),
    [
        (errors.StoreFull("no space left for evidence.sqlite3"), "spool-full", "df -i /s/codex"),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), "spool-full", "df -h /s/codex"),
        (errors.StoreBusy("evidence.sqlite3 is locked by another program"), "spool-locked", "fuser"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), "spool-read-only", "mount it writable"),
        (errors.ReadOnlyStore("evidence.sqlite3 cannot be written"), "spool-read-only", "chmod"),
        (OSError(errno.EIO, os.strerror(errno.EIO)), "spool-failing", "dmesg"),
        (errors.StoreUnavailable("evidence.sqlite3 cannot be read: Input/output error"), "spool-failing", "dmesg"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "spool-failing", "raise the limit"),
        (QueueUnavailable("the queue cannot be used: disk I/O error"), "spool-waits", "memsyncd config path"),
        (NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)), "spool-no-directory", "[[spools]]"),
        (FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)), "spool-no-directory", "ls -ld /s/codex"),
        (PermissionError(errno.EACCES, os.strerror(errno.EACCES)), "spool-unreadable", "chmod"),
        (PermissionError(errno.EPERM, os.strerror(errno.EPERM)), "spool-not-permitted", "Full Disk Access"),
    ],
)
def test_each_cause_has_its_own_remedy(error: Exception, code: str, remedy: str) -> None:
    """A locked or full spool is not mended by `chmod`."""
    assert spool_trouble.code_of(error, spool_codes.UNREADABLE) == code
    assert remedy in KINDS[code].remedy.format(where=PLACE, detail="")
    assert KINDS[code].degrades
    assert code in EXPLAINED


def test_a_spool_has_one_trouble_at_a_time() -> None:
    """The present one, since when it is so, and none once it is well."""
    findings = Findings(Clock())
    full, locked = errors.StoreFull("full"), errors.StoreBusy("locked")
    assert spool_trouble.tell(findings, PLACE, full, otherwise=spool_codes.READ_ONLY)
    assert not spool_trouble.tell(findings, PLACE, full, otherwise=spool_codes.READ_ONLY)
    assert spool_trouble.tell(findings, PLACE, locked, otherwise=spool_codes.READ_ONLY)
    assert [(found.code, found.where) for found in findings.all()] == [("spool-locked", str(PLACE))]
    spool_trouble.over(findings, PLACE)
    assert not findings.all()
