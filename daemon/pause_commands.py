"""What `pause` and `resume` do, in the daemon and without it, and their answers."""

from collections.abc import Callable, Sequence
from typing import Any

from daemon.intake.spool import Spool
from daemon.pausing import Pauses
from memsyncd.clock import rfc3339
from memsyncd.evidence.event import Scope

DONE, ALREADY = "done", "already so"


def pause(
    pauses: Pauses, resolve: Callable[[str], Scope], project: str = "", seconds: float | None = None
) -> dict[str, Any]:
    """Pause everything, or the project of the directory `project`; for `seconds`, or without an end. Raises OSError."""
    if project:
        scope = resolve(project)
        changed = pauses.pause_project(scope.repo_id, scope.root, seconds)
    else:
        changed = pauses.pause(seconds)
    return _answer(pauses, resolve, project, changed=changed)


def resume(
    pauses: Pauses, resolve: Callable[[str], Scope], spools: Sequence[Spool], project: str = ""
) -> dict[str, Any]:
    """End the pause of everything, or that of one project; the latter outlives the former. The spools that were paused
    alone are named. Raises OSError."""
    if not project:
        alone = pauses.paused_alone()
        answer = _answer(pauses, resolve, project, changed=pauses.resume(spools))
        return answer | {"resumed_spools": alone if answer["outcome"] == DONE else []}
    scope = resolve(project)
    found = pauses.project(scope.repo_id, scope.root)  # or the paused one above it
    return _answer(pauses, resolve, project, changed=found is not None and pauses.resume_project(found.repo_id))


def _answer(pauses: Pauses, resolve: Callable[[str], Scope], project: str, *, changed: bool) -> dict[str, Any]:
    state = pauses.state()
    scope = resolve(project) if project else None
    found = pauses.project(scope.repo_id, scope.root) if scope is not None else None
    held = (found.pause if found is not None else None) if scope is not None else state.everything
    until = None if held is None else held.until
    return {
        "outcome": DONE if changed else ALREADY,
        "paused": held is not None,
        "project": scope.root if scope is not None else None,
        "until": None if until is None else rfc3339(until),
        "paused_everything": state.everything is not None,
        "paused_projects": [each.root for each in state.projects],
    }
