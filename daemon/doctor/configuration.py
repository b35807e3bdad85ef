"""The configuration as the daemon would read it now."""

from collections.abc import Sequence

from daemon.doctor.check import Check, failed, passed
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.fleet import checking


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    places = examined.places
    warnings = examined.loaded.warnings if examined.loaded else ()
    return [
        Probe(
            "configuration",
            lambda: configuration(
                str(places.config_file),
                exists=places.config_file.exists(),
                faults=[*examined.faults, *checking.faults(examined.settings)],
                warnings=warnings,
            ),
        )
    ]


def configuration(file: str, *, exists: bool, faults: Sequence[str], warnings: Sequence[str]) -> Check:
    """Judge it by its faults; with warnings the daemon runs, and a file with a secret others can read, or a spool that
    can be none, is no warning."""
    name = "configuration"
    if faults:
        return failed(name, " ".join(faults), f"Correct it in {file}, then `memsyncd config check`.")
    exposed = [sentence for sentence in warnings if "can be read by other users" in sentence]
    if exposed:
        return failed(name, " ".join(exposed), f"`chmod 600 {file}`")
    if useless := [sentence for sentence in warnings if "which is no directory" in sentence]:
        return failed(name, " ".join(useless), f"Correct it in {file}, or take it out.")
    told = f"{file} is right" if exists else f"there is no {file}: defaults and the environment hold"
    return passed(name, "; ".join([told, *warnings]))
