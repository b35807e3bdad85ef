"""The project one stands in: as which its memories are kept, and whether it is captured at all."""

import os
import shlex
from functools import partial

from daemon.doctor.check import Check, failed, passed
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.gate import Gate
from memsyncd.evidence.event import Scope
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.scope import git
from memsyncd.scope.files import Files
from memsyncd.scope.remote import is_local
from memsyncd.scope.resolve import ScopeResolver


def probes(examined: Examination) -> list[Probe]:
    """Return the check."""
    return [Probe("repository", partial(_probe, examined), "The disk of this directory hangs: `df .` shows which.")]


def repository(cwd: str, scope: Scope, *, broken: str, is_repository: bool, held: str | None, named: str = "") -> Check:
    """Judge a directory's scope. `broken` is a `.git` that is there and cannot be read, `held` why it is not captured,
    `named` what MEM0_PROJECT_ID says."""
    name = "repository"
    if broken:
        told = f"{broken} is there and cannot be read as a repository, so {cwd} is a project by itself"
        return failed(
            name, told, f"`ls -l {shlex.quote(broken)}` shows it; `git worktree repair` mends a moved tree's."
        )
    if is_wildcard(named):
        told = f"MEM0_PROJECT_ID is a wildcard, which is no project; {scope.app_id} is used instead"
        return failed(name, told, "Unset MEM0_PROJECT_ID, or set it to one project's name.")
    what = scope.repo_id if is_repository else f"{cwd}, which is in no repository,"
    told = f"{what} is kept as {scope.app_id}"
    if is_repository and is_local(scope.repo_id):
        told += " (it has no remote, so other machines keep it as another project)"
    if held:
        return passed(
            name, f"{told}; nothing of it is recorded or recalled: {held}", "`memsyncd resume`, or `exclude`."
        )
    return passed(name, told)


def _probe(examined: Examination) -> Check:
    resolver = ScopeResolver(examined.home, examined.environ)
    scope = resolver.resolve(examined.cwd)
    gate = Gate(examined.settings.exclude, examined.places.data / "paused", resolver.resolve)
    real = os.path.realpath(examined.cwd)
    is_repository = git.find(real, Files()) is not None
    return repository(
        examined.cwd,
        scope,
        broken="" if is_repository else _dot_git(real),
        is_repository=is_repository,
        held=gate.hold(scope),
        named=examined.environ.get("MEM0_PROJECT_ID", ""),
    )


def _dot_git(place: str) -> str:
    """Return a `.git` here or above that is a link into nothing or has no HEAD: what was a repository once."""
    while True:
        path = os.path.join(place, ".git")
        if os.path.lexists(path):
            return "" if os.path.isfile(os.path.join(path, "HEAD")) else path
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
