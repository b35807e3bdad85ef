"""What was forgotten: whether the daemon can know it, and so may take anything in."""

from daemon.cli.wording import counted
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.forgetting import trouble
from daemon.forgetting.tombstones import Tombstones, UnreadableTombstones
from daemon.status.problems import problem_of


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    return [Probe("forgotten", lambda: _forgotten(examined))]


def _forgotten(examined: Examination) -> Check:
    name = "forgotten"
    if examined.is_another_s:
        return unchecked(name, f"{examined.places.data} is another user's")
    try:
        unfinished = len(Tombstones(examined.places.data).unfinished())
    except UnreadableTombstones as error:
        problem = problem_of(trouble.of(error))
        return failed(name, problem.message, problem.remedy)
    if unfinished:
        told = counted(unfinished, "request to forget is", "requests to forget are")
        return passed(name, f"{told} not finished yet", "The daemon goes on with it by itself.")
    return passed(name, "nothing of what was forgotten comes in again")
