"""An examination of a home below a directory."""

import os
import sys
import time
from pathlib import Path

from daemon.doctor.check import Check
from daemon.doctor.examination import Examination, examination
from daemon.doctor.examining import Probe
from daemon.places import resolve


def examine_home(root: Path, *, uid: int | None = None, cwd: str = "/", **environ: str) -> Examination:
    """Examine `root`, whose memsyncd lies in `root/m`."""
    whole = {"MEMSYNCD_HOME": str(root / "m"), "HOME": str(root), "USER": "ada", **environ}
    asker = os.getuid() if uid is None else uid
    return examination(
        resolve(whole, root, asker, sys.platform),
        whole,
        uid=asker,
        platform=sys.platform,
        cwd=cwd,
        wall=time.time,
        monotonic=time.monotonic,
    )


def found(probes: list[Probe]) -> dict[str, Check]:
    """Run probes one after another and return what they find by name."""
    checks: dict[str, Check] = {}
    for probe in probes:
        result = probe.run()
        for check in [result] if isinstance(result, Check) else result:
            checks[check.name] = check
    return checks
