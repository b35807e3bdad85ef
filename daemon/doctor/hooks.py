"""Hooks: put into the harnesses' configuration, able to run, and seen to run; and what they could not do."""

import contextlib
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from daemon import hook_errors
from daemon.cli.wording import counted, span
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.directories import account
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.doctor.hooks_seen import Came, Compared, compare, last_seen, read
from daemon.hook_errors import RECENT_SECONDS, Lost
from daemon.installing.errors import Unsupported
from daemon.installing.harness import Harness
from daemon.installing.harnesses import HARNESSES
from daemon.installing.hooks import Around, Found, look
from daemon.status import snapshot


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    return [
        Probe(
            "hooks", partial(_probe, examined), "A harness's configuration lies on a disk that hangs: `df` shows which."
        ),
        Probe("hook errors", partial(_errors, examined)),
    ]


def installed(found: Found, compared: Compared, *, now: float) -> Check:
    """Judge the hooks of one harness by how they stand in its file and by what came of them."""
    name = f"hooks {found.harness}"
    project = " --project DIR" if found.scope == "project" else ""
    again = f"`memsyncd hooks install --harness {found.harness}{project}`"
    if found.state == "unreadable":
        return failed(name, f"{found.file}: {' '.join(found.problems)}", f"Set {found.file} right, then {again}.")
    if found.state == "broken":
        return failed(name, f"{found.file}: {'; '.join(found.problems)}", f"{again} puts a program that is gone right.")
    if found.problems:
        return failed(
            name, f"{found.file}: {'; '.join(found.problems)}", f"Change that, for no hook of {found.file} runs."
        )
    if found.missing:
        return failed(name, f"{found.file} lacks {', '.join(found.missing)} as this version has them", again)
    told = f"{counted(len(found.events), 'event', 'events')} registered, {last_seen(compared, now)}"
    trouble = _trouble(compared)
    if trouble:
        remedy = (
            f"Look into {found.file} and {found.harness}'s own list of hooks (a second switch, a plugin's scope, trust "
            f"it asks for, hooks beside ours that use up the time it gives them), then {again} and start a new session."
        )
        return failed(name, f"{told}; {trouble}", remedy)
    if found.foreign:
        told += f"; may record the same sessions: {', '.join(found.foreign)}"
    if compared.rare and compared.newest:
        told += f"; not come so far, as may be right: {', '.join(compared.rare)}"
    return passed(name, told, "" if compared.newest else f"Start a new session of {found.harness}; then look again.")


def uninstalled(harnesses_seen: Sequence[str]) -> Check:
    """Judge a machine on which no harness has hooks of ours."""
    hint = "`memsyncd hooks install --harness claude-code`; `memsyncd hooks list` shows every harness."
    if harnesses_seen:
        told = f"events come from {', '.join(harnesses_seen)}, by hooks put in by hand or in a project"
        return passed("hooks", told, hint)
    return unchecked("hooks", "no harness has hooks of ours, and no event ever came", hint)


def errors(ours: Lost | None, nobodys: Lost | None, now: float) -> Check:
    """Judge what hooks wrote down about what they could not do: those of this home, and those that named none."""
    name = "hook errors"
    if ours is not None and ours.age(now) < RECENT_SECONDS:
        told = f"a hook lost something {span(ours.age(now))} ago: {ours.line}"
        return failed(name, told, f"`tail {ours.log}` shows the last ones.")
    if ours is not None:
        told = f"the last one is {span(ours.age(now))} old ({ours.log})"
    else:
        told = "no hook has ever failed to write what it was given"
    if nobodys is None or nobodys.age(now) >= RECENT_SECONDS:
        return passed(name, told)
    hint = f"One that named no home, so perhaps another's, lost something {span(nobodys.age(now))} ago: `{nobodys.log}`"
    return passed(name, told, f"{hint}.")


def _trouble(compared: Compared) -> str:
    told = []
    if compared.lost:
        told.append(f"never came, though others did: {', '.join(compared.lost)}")
    if compared.gone:
        told.append(f"come no more: {', '.join(compared.gone)}")
    return "; ".join(told)


def _probe(examined: Examination) -> list[Check]:
    owner = os.stat(examined.home).st_uid
    if owner not in (examined.uid, 0):
        return [unchecked("hooks", f"{examined.home} belongs to {account(owner)}, as whom to ask for them")]
    seen = {spool.harness: _seen(examined, spool.evidence) for spool in examined.spools if spool.own}
    found = []
    for harness in HARNESSES.values():
        for state in _states(harness, examined):
            if state.state != "absent":
                compared = compare(harness.events, state.events, seen.get(harness.name, Came()))
                found.append(installed(state, compared, now=examined.wall()))
    return found or [uninstalled([harness for harness, came in seen.items() if came.kinds])]


def _states(harness: Harness, examined: Examination) -> list[Found]:
    """Look at the user's file, and at that of the project one stands in where it has any of ours."""
    data = examined.environ.get("MEMSYNCD_HOME", "")
    found = []
    for root, is_project in ((examined.home, False), (Path(examined.cwd), True)):
        if is_project and root == examined.home:
            continue
        try:
            found.append(look(harness, Around(root, examined.environ, examined.uid, is_project, data)))
        except (Unsupported, ValueError):
            continue
    return [state for state in found if state.scope == "user" or state.events]


def _seen(examined: Examination, evidence: Path) -> Came:
    """Return what came; nothing where the file cannot be read, of which its own check tells."""
    if examined.is_another_s or not evidence.exists():
        return Came()
    try:
        if examined.is_held or Path(f"{evidence}-shm").exists():
            uri = f"{evidence.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                return read(connection)
        with snapshot.connected(evidence) as connection:
            return read(connection)
    except (sqlite3.Error, OSError, snapshot.NotADatabaseError):
        return Came()


def _errors(examined: Examination) -> Check:
    return errors(_lost(examined), _lost(examined, by_nobody=True), examined.wall())


def _lost(examined: Examination, *, by_nobody: bool = False) -> Lost | None:
    found = []
    for log in examined.places.hook_error_logs:
        with contextlib.suppress(OSError):
            lost = hook_errors.lost(log, examined.places.data, examined.uid, by_nobody=by_nobody)
            if lost is not None:
                found.append(lost)
    return max(found, default=None)
