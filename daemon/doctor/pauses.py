"""What is paused: whether it can be known, for else everything is."""

from daemon.cli.wording import counted
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.pausing import STATE, Pauses


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    return [Probe("pauses", lambda: _pauses(examined))]


def _pauses(examined: Examination) -> Check:
    name, data = "pauses", examined.places.data
    if examined.is_another_s:
        return unchecked(name, f"{data} is another user's")
    state = Pauses(data).state()
    if state.unreadable:
        return failed(
            name,
            f"{data / STATE}, or what it says of pauses that are over, cannot be read, so everything counts as paused",
            "`memsyncd resume` lets everything go on; then pause again what is to rest (`memsyncd pause`). Where a "
            "newer version wrote it, upgrade memsyncd instead.",
        )
    projects = counted(len(state.projects), "project is paused", "projects are paused")
    return passed(name, "everything is paused" if state.is_paused else projects)
