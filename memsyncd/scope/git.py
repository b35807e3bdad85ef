"""Reads a git working tree from its files, without running git: where it is, its branch, its commit, its settings.

Paths are text, as hooks and git give them: pathlib would cost three times as much. Whatever cannot be
read counts as not there.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from memsyncd.scope import config
from memsyncd.scope.files import Files

MAX_PACKED_REFS = 64 << 20
"""Bytes of `packed-refs` looked through, a piece at a time; a repository with 100,000 refs has some 8 MB."""

_MAX_SYMBOLIC = 5
"""References to references that are followed, as git does."""

MAX_PATH = 4096
"""Characters of a path that a file names; a longer one leads nowhere (limits.h: PATH_MAX)."""

_MAX_REF = 1024
_NOT_IN_A_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.")
"""What git takes in no name of a branch (git-check-ref-format(1)): a file that has it was not written by git."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree found. All paths are real.

    `top` is the working tree (the repository itself where it is bare), `git_dir` its own directory of git's files,
    `common_dir` the one that all working trees of the repository share.
    """

    top: str
    git_dir: str
    common_dir: str


@dataclass(frozen=True, slots=True)
class Head:
    """What is checked out; each part is empty when unknown."""

    branch: str = ""
    sha: str = ""


def find(directory: str, files: Files) -> Repository | None:
    """Return the repository whose working tree holds `directory` (a real path, which need not exist), or None."""
    candidate = directory
    while True:
        dot_git = os.path.join(candidate, ".git")
        if files.note(dot_git) is not None:
            if os.path.isfile(dot_git):
                return _from_link(candidate, dot_git, files)
            if _is_git_dir(dot_git, files):
                return _repository(candidate, os.path.realpath(dot_git), files)
        if _is_git_dir(candidate, files):
            inside = os.path.basename(candidate) == ".git"
            return _repository(os.path.dirname(candidate) if inside else candidate, candidate, files)
        parent = os.path.dirname(candidate)
        if parent == candidate:
            return None
        candidate = parent


def _from_link(top: str, path: str, files: Files) -> Repository | None:
    """Follow a `.git` file; git refuses a tree in which it names no repository, and so looks no further up."""
    label, _, target = files.read(path).partition(":")
    git_dir = _real(top, target.strip())
    return _repository(top, git_dir, files) if label == "gitdir" and _is_git_dir(git_dir, files) else None


def _real(directory: str, path: str) -> str:
    """Return the real path that `path`, named in a file, has from a directory; the directory's where it is none."""
    return os.path.realpath(os.path.join(directory, path.replace("\0", "") if len(path) <= MAX_PATH else ""))


def _is_git_dir(path: str, files: Files) -> bool:
    """Whether git would take `path` for a repository: HEAD, and objects and refs of its own or shared."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common_dir(path, files)
    return all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))


def _common_dir(git_dir: str, files: Files) -> str:
    shared = files.read(os.path.join(git_dir, "commondir")).strip()
    return _real(git_dir, shared) if shared else git_dir


def _repository(top: str, git_dir: str, files: Files) -> Repository:
    return Repository(top=top, git_dir=git_dir, common_dir=_common_dir(git_dir, files))


def settings(repository: Repository, files: Files, *, home: str, environ: Mapping[str, str]) -> list[config.Entry]:
    """Return the settings that count for the repository, the user's first and its own, the stronger, last."""
    place = config.Place(git_dirs=(repository.git_dir,), home=home)
    xdg = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    paths = (
        os.path.join(xdg, "git", "config"),
        os.path.join(home, ".gitconfig"),
        os.path.join(repository.common_dir, "config"),
    )
    return [entry for path in paths for entry in config.load(path, files.read, place)]


def main_tree(repository: Repository, entries: list[config.Entry]) -> str:
    """Return the real path of the repository's main working tree, the same for all its working trees.

    Told from the shared directory alone: its parent if it is a `.git`, else `core.worktree` (submodules), else itself
    (bare repositories, separate git directories).
    """
    parent, name = os.path.split(repository.common_dir)
    if name == ".git":
        return parent
    for entry in reversed(entries):
        if (entry.section, entry.key) == ("core", "worktree") and entry.value:
            return _real(repository.common_dir, entry.value)
    return repository.common_dir


def head(repository: Repository, files: Files) -> Head:
    """Return what is checked out; with reftable storage, which is no text, nothing is known."""
    path = os.path.join(repository.git_dir, "HEAD")
    content = files.read(path).strip()
    if os.path.islink(path):  # as very old repositories have it
        try:
            content = f"ref: {os.readlink(path)}"
        except OSError:
            return Head()
    if not content.startswith("ref:"):
        return Head(sha=content if _SHA.fullmatch(content) else "")
    ref = content.removeprefix("ref:").strip()
    if ref == "refs/heads/.invalid" or len(ref) > _MAX_REF or _NOT_IN_A_REF.search(ref):
        return Head()
    branch = ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""
    return Head(branch, _commit(repository, ref, files))


def _commit(repository: Repository, ref: str, files: Files) -> str:
    for _ in range(_MAX_SYMBOLIC):
        if not ref.startswith("refs/") or ".." in ref or "\0" in ref:
            return ""
        content = ""
        for place in dict.fromkeys((repository.git_dir, repository.common_dir)):
            content = content or files.read(os.path.join(place, ref)).strip()
        if not content.startswith("ref:"):
            return content if _SHA.fullmatch(content) else _packed(repository, ref, files)
        ref = content.removeprefix("ref:").strip()
    return ""


def _packed(repository: Repository, ref: str, files: Files) -> str:
    place = os.path.join(repository.common_dir, "packed-refs")
    sha = files.line_ending_in(place, f" {ref}", MAX_PACKED_REFS).partition(" ")[0]
    return sha if _SHA.fullmatch(sha) else ""
