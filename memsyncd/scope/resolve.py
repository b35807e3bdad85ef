"""From a working directory to the scope of what happens in it, remembered until the files behind it change."""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memsyncd.evidence.event import NO_BRANCH, Scope
from memsyncd.regular_file import Stamp
from memsyncd.scope import git, remote
from memsyncd.scope.config import remote_url
from memsyncd.scope.files import Files, unchanged
from memsyncd.scope.shown import shown
from memsyncd.scope.user import identity

CACHE_SIZE = 256
"""Directories remembered; the one looked at longest ago goes first."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A scope, and how the files it was told from looked before they were read."""

    scope: Scope
    seen: Mapping[str, Stamp]


class ScopeResolver:
    """Tells the scope of a directory. Safe from any thread; reads files, runs nothing, raises for no text.

    `environ` gives MEM0_PROJECT_ID, which replaces the app id unless it is a wildcard (facts 5.10, 5.12), and
    XDG_CONFIG_HOME.
    """

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self._home = str(home)
        self._environ = environ
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()

    def resolve(self, cwd: str) -> Scope:
        """Return the scope of `cwd`.

        A git repository's working trees and folders are one project: by its network remote, else by its main working
        tree. Any other folder is a project by its real path; one that is relative or impossible, by its text. Secrets
        in shown names are replaced here, so that what is recorded is asked for by the same names.
        """
        place = _real(cwd)
        if not place:
            return shown(self._local(cwd))
        with self._lock:
            known = self._known.get(place)
        if known is None or not unchanged(known.seen):
            known = self._look(place)
        with self._lock:
            self._known[place] = known
            self._known.move_to_end(place)
            while len(self._known) > CACHE_SIZE:
                self._known.popitem(last=False)
        return known.scope

    def _look(self, place: str) -> _Known:
        files = Files()
        repository = git.find(place, files)
        scope = self._local(place) if repository is None else self._repository(place, repository, files)
        return _Known(shown(scope), files.seen)

    def _repository(self, place: str, repository: git.Repository, files: Files) -> Scope:
        entries = git.settings(repository, files, home=self._home, environ=self._environ)
        head = git.head(repository, files)
        name = remote.normalise_remote(remote_url(entries, head.branch))
        name = name or remote.LOCAL + git.main_tree(repository, entries)
        app_id = self._app_id(name)
        relative = os.path.relpath(place, repository.top).replace(os.sep, "/")
        return Scope(
            repo_id=name,
            app_id=app_id,
            project_id=remote.project_id(app_id, name),
            root=repository.top,
            branch=head.branch or NO_BRANCH,
            head_sha=head.sha,
            directory="" if relative == "." or relative.split("/")[0] == ".." else relative,
        )

    def _local(self, path: str) -> Scope:
        name = remote.LOCAL + path
        app_id = self._app_id(name)
        return Scope(repo_id=name, app_id=app_id, project_id=remote.project_id(app_id, name), root=path)

    def _app_id(self, name: str) -> str:
        return identity(self._environ.get("MEM0_PROJECT_ID", "")) or remote.app_name(name)


def _real(cwd: str) -> str:
    """Return the real path of an absolute `cwd`, missing or not; "" for text that can be no path here."""
    if len(cwd) > git.MAX_PATH:
        return ""
    try:
        os.fsencode(cwd)
        return os.path.realpath(cwd) if os.path.isabs(cwd) else ""
    except (OSError, ValueError):
        return ""
