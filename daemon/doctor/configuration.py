"""The configuration as the daemon would read it now."""

from collections.abc import Mapping, Sequence

from daemon.doctor.check import Check, failed, passed
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.fleet import checking


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    places = examined.places
    loaded = examined.loaded
    return [
        Probe(
            "configuration",
            lambda: configuration(
                str(places.config_file),
                exists=places.config_file.exists(),
                faults=[*examined.faults, *checking.faults(examined.settings)],
                warnings=loaded.warnings if loaded else (),
                cures=loaded.cures if loaded else {},
            ),
        )
    ]


def configuration(
    file: str, *, exists: bool, faults: Sequence[str], warnings: Sequence[str], cures: Mapping[str, str]
) -> Check:
    """Judge it by its faults; with warnings the daemon runs, and those that have one of the `cures` are none here."""
    name = "configuration"
    if faults:
        return failed(name, " ".join(faults), f"Correct it in {file}, then `memsyncd config check`.")
    if cures:
        return failed(name, " ".join(cures), " ".join(dict.fromkeys(cures.values())))
    told = f"{file} is right" if exists else f"there is no {file}: defaults and the environment hold"
    return passed(name, "; ".join([told, *warnings]))
