"""A process without a file descriptor left says so, and is well once it has one."""

import os
import resource

from daemon.descriptor_watch import look_at_descriptors
from daemon.status.findings import Findings
from memsyncd.clock import Clock


def test_used_up_descriptors_are_told_and_over_with_the_first_that_is_free() -> None:
    """By trying to get one, for a number tells nothing of the system's own limit."""
    findings = Findings(Clock())
    look_at_descriptors(findings)
    assert not findings.all()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        look_at_descriptors(findings)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    (found,) = findings.all()
    assert (found.code, found.detail) == ("no-descriptors", "Too many open files")
    look_at_descriptors(findings)
    assert not findings.all()
