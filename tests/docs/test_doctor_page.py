"""docs/doctor.md is true: it has every check by its name, no other, and the defaults of the settings."""

import re
from pathlib import Path

from daemon.doctor.deep import EXTRACTION_SECONDS
from daemon.doctor.doctor import probes
from daemon.doctor.examining import ALL_SECONDS
from daemon.installing.harnesses import HARNESSES
from daemon.settings import Settings
from tests.daemon.composed import composed
from tests.daemon.doctor.examined import examine_home, found

PAGE = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")


def told() -> set[str]:
    """Return the checks' names in the page's first columns."""
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def general(name: str) -> str:
    """Return a name with what it is about in general words."""
    for word in HARNESSES:
        name = name.replace(f"hooks {word}", "hooks HARNESS").replace(f" {word}", " SPOOL")
    return name


def test_every_check_has_its_row_and_every_row_its_check(tmp_path: Path) -> None:
    """Also those that a probe finds besides its own."""
    with composed(tmp_path) as home:
        home.spool()
        home.upkeep.refresh()
        made = probes(examine_home(tmp_path, MEMSYNCD_EXTRACTOR_WAIT_SECONDS="1"), is_deep=True)
        names = {general(name) for name in (*found(made), *(probe.name for probe in made))} | {"hooks HARNESS"}
    assert names == told()


def test_bounds_and_defaults_are_those_of_the_program() -> None:
    """The seconds it may take, and the days of the settings."""
    assert ALL_SECONDS == 10
    assert "over within ten seconds" in PAGE
    assert f"within {EXTRACTION_SECONDS:g} s" in PAGE
    keep = Settings().retention
    for name in ("evidence_days", "jobs_days", "dead_days", "telemetry_days"):
        [row] = [line for line in PAGE.splitlines() if line.startswith("| ") and f"`retention.{name}`" in line]
        assert f"{getattr(keep, name)} days" in row
