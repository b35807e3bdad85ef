"""Everything `doctor` looks at, in the order it is told."""

from collections.abc import Iterator

from daemon.doctor import (
    account,
    configuration,
    databases,
    deep,
    directories,
    files,
    forgotten,
    hooks,
    machine,
    pauses,
    project,
    running,
    service,
)
from daemon.doctor.check import Check
from daemon.doctor.examination import Examination
from daemon.doctor.examining import ALL_SECONDS, Probe, examine

GROUPS = (
    machine,
    configuration,
    directories,
    files,
    databases,
    forgotten,
    pauses,
    running,
    service,
    hooks,
    account,
    project,
)


def probes(examined: Examination, *, is_deep: bool = False) -> list[Probe]:
    """Return every check, made and not yet run."""
    found = [probe for group in GROUPS for probe in group.probes(examined)]
    return [*found, *(deep.probes(examined) if is_deep else ())]


def checks(examined: Examination, *, is_deep: bool = False) -> Iterator[Check]:
    """Yield what every check finds, within ALL_SECONDS, or deep.DEEP_SECONDS with `is_deep`."""
    bound = deep.DEEP_SECONDS if is_deep else ALL_SECONDS
    return examine(probes(examined, is_deep=is_deep), monotonic=examined.monotonic, all_seconds=bound)
