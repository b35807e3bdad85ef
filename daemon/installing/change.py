"""Putting something of ours into a file, or taking it out: with a backup, and to the byte where that can be done.

The backup is the file before the first entry of ours. Taking out begins with it: where putting ours into it would give
the file just as it is, nobody has touched the file since, and it becomes what it was, to the byte. Otherwise our
entries go one by one, and everything else stays.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from daemon.installing import config_file, made_directory
from daemon.installing.config_file import ConfigFile
from daemon.installing.errors import CannotInstall, NotParsable, Unfit
from memsyncd.redaction import redact

OURS_ALONE = frozenset({"", "{}", '{"version":1}'})
"""What is left of a file that held nothing but entries of ours, without its white space."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What to do to a text; pure, each may raise NotParsable and Unfit. `is_right` tells whether it has just what
    `install` puts there. `has_another` tells of an entry of ours that is not this edit's, where a harness keeps both in
    one file. `is_own_file` where nobody but us has a reason to write such a file."""

    has_ours: Callable[[str], bool]
    is_right: Callable[[str], bool]
    install: Callable[[str], str]
    uninstall: Callable[[str, str | None], str]
    has_another: Callable[[str], bool] = lambda _: False
    is_own_file: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a file. `backup` is where its earlier content is, if it is kept."""

    file: Path
    changed: bool
    backup: Path | None = None


def put(path: Path, edit: Edit, uid: int, *, is_private: bool) -> Change:
    """Put ours into the file at `path`. Raises CannotInstall; the file is then as it was."""
    with config_file.alone(path, uid, is_private=is_private) as file:
        with _placed(file):
            text = file.text
            new = edit.install(text)
            if new == text and file.content is not None:
                return Change(path, changed=False)
            if not edit.is_right(new):
                raise Unfit("our entries do not fit into it as it is written; put them in by hand")
            content = _encoded(new)
        return Change(path, changed=True, backup=_changed(file, edit, content))


def take(path: Path, edit: Edit, uid: int, *, is_private: bool) -> Change:
    """Take ours out of the file at `path`, and the directories that were made for it where nothing else is in them.
    Raises CannotInstall; the file is then as it was."""
    if config_file.read(path, uid, is_private=is_private).content is None:
        return Change(path, changed=False)
    with config_file.alone(path, uid, is_private=is_private) as file:
        change = _taken(file, edit, uid)
        made_directory.remove(file.real.parent)
    return change


def _taken(file: ConfigFile, edit: Edit, uid: int) -> Change:
    with _placed(file):
        text = file.text
        if not edit.has_ours(text):
            return Change(file.path, changed=False)
        before = _before(file, edit, uid)
        if before is not None and _gives(edit, before, text):
            return _restored(file, before)
        if _gives(edit, "", text):
            return _removed(file, edit, uid)
        new = edit.uninstall(text, before)
        if edit.has_ours(new):
            raise Unfit("our entries cannot be told from the rest of it; take them out by hand")
    if before is not None and new == before:
        return _restored(file, before)
    if "".join(new.split()) in OURS_ALONE and (edit.is_own_file or before is None):
        # a file that was there before us has a backup; this one we made, perhaps as another version
        return _removed(file, edit, uid)
    return Change(file.path, changed=True, backup=_changed(file, edit, new.encode()))


def _restored(file: ConfigFile, before: str) -> Change:
    config_file.write(file, before.encode())
    config_file.drop_backup(file)
    return Change(file.path, changed=True)


def _removed(file: ConfigFile, edit: Edit, uid: int) -> Change:
    """Remove a file that held ours alone, and its backup where that is one of ours, from before an upgrade."""
    config_file.delete(file)
    text = config_file.backed_up(file, uid)
    with suppress(NotParsable, Unfit):
        if text is not None and edit.has_ours(text):
            config_file.drop_backup(file)
    return Change(file.path, changed=True)


def _gives(edit: Edit, before: str, text: str) -> bool:
    """Whether putting ours into `before`, which somebody may have changed by hand, gives `text`."""
    try:
        return edit.install(before) == text
    except (NotParsable, Unfit):
        return False


def _before(file: ConfigFile, edit: Edit, uid: int) -> str | None:
    """Return the file as it was before us: its backup, if that can be read and holds nothing of ours."""
    text = config_file.backed_up(file, uid)
    try:
        return None if text is None or edit.has_ours(text) else text
    except (NotParsable, Unfit):
        return None


def _changed(file: ConfigFile, edit: Edit, content: bytes) -> Path | None:
    """Write the file anew and return its backup: a new one of a file without ours, else the one there is, if any. A
    new one goes again where the file cannot be written."""
    path = config_file.backup_path(file)
    if file.content is None or edit.has_ours(file.text) or edit.has_another(file.text):
        config_file.write(file, content)
        return path if file.content is not None and path.exists() else None
    config_file.back_up(file)
    try:
        config_file.write(file, content)
    except CannotInstall:
        config_file.drop_backup(file)
        raise
    return path


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unfit("our entries name a path that is no UTF-8, which no such file can hold") from error


@contextmanager
def _placed(file: ConfigFile) -> Iterator[None]:
    """Say in which file something could not be read or changed; what others wrote into it may be a secret."""
    try:
        yield
    except NotParsable as error:
        raise CannotInstall(redact(f"{file.path} cannot be parsed: {error}. It was left as it is.")) from error
    except Unfit as error:
        raise CannotInstall(redact(f"{file.path}: {error}. It was left as it is.")) from error
