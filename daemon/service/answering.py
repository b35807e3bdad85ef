"""Whether the daemon that runs is the one that was installed: asked of itself, through its socket."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from daemon.service.commands import Run
from daemon.service.installation import Installation


@dataclass(frozen=True, slots=True)
class Running:
    """What the running daemon says of itself; `pid` is 0 where none answers."""

    pid: int = 0
    version: str = ""
    sentence: str = ""


def ask(planned: Installation, environ: Mapping[str, str], run: Run) -> Running:
    """Return what answers at the service's own data directory; asked as the daemon's user, for it answers nobody
    else."""
    answer = run(_words(planned, environ))
    try:
        document = json.loads(answer.output[answer.output.index("{") :])
        if document.get("state") == "down":
            return Running()
        return Running(int(document["pid"]), str(document["version"]), str(document.get("summary", "")))
    except (ValueError, KeyError, TypeError):
        return Running()


def _words(planned: Installation, environ: Mapping[str, str]) -> Sequence[str]:
    given = [f"{name}={value}" for name, value in environ.items()]
    asked = ["env", "-i", *given, *planned.command[:-1], "status", "--json"]
    return ["runuser", "-u", planned.account.name, "--", *asked] if planned.is_system else asked
