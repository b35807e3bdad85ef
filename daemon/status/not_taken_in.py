"""Why what lies in the spools, or in one of them, is not taken in: what else is told of them says nothing of that."""

from collections.abc import Sequence

from daemon.forgetting import trouble_codes as forgetting_trouble
from daemon.intake import spool_codes
from daemon.status.findings import Findings
from daemon.status.problems import Problem, problem_of

CODES = spool_codes.CODES | forgetting_trouble.CODES | {"newer-evidence"}


def not_taken_in(findings: Findings) -> Sequence[Problem]:
    """Return the problems, each with what to do about it."""
    return [problem_of(finding) for finding in findings.all() if finding.code in CODES]


def why_not_all(findings: Findings) -> str:
    """Return why something is not taken in, as part of a sentence; empty where all is."""
    left = not_taken_in(findings)
    return left[0].message[:1].lower() + left[0].message[1:].rstrip(".") if left else ""
