"""Hooks of one harness for one user or project: installed, taken out, and looked at."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from daemon.installing import change, config_file
from daemon.installing.change import Change, Edit
from daemon.installing.editing import json_edit, toml_text
from daemon.installing.entry import Entry
from daemon.installing.errors import CannotInstall, Unsafe
from daemon.installing.forms import FORMS, named_object
from daemon.installing.harness import Harness, Setting
from daemon.installing.own_lines import other_memory, own_handler
from memsyncd.hooks.command_line import command_line

CACHES = re.compile(r"/uv/(?:archive|environments|builds)-v\d+/|/(?:\.cache|Library/Caches)/")
"""Where uv and pipx keep what they run only once."""


@dataclass(frozen=True, slots=True)
class Around:
    """Whose configuration it is: `root` is the home, or a project's directory. `data` is a MEMSYNCD_HOME to write into
    the lines, "" for none."""

    root: Path
    environ: Mapping[str, str]
    uid: int
    is_project: bool = False
    data: str = ""

    @property
    def scope(self) -> str:
        """`user` or `project`."""
        return "project" if self.is_project else "user"

    def checked(self, path: Path) -> Path:
        """Return the path of a file to be changed. Raises Unsafe where a link leads out of its project: by it whoever
        wrote the project could choose which of the user's files is changed."""
        real = Path(os.path.realpath(path))
        if self.is_project and not real.is_relative_to(os.path.realpath(self.root)):
            raise Unsafe(f"{path} leads out of the project, to {real}: remove the link first")
        return path


@dataclass(frozen=True, slots=True)
class Found:
    """How a harness's hooks stand. `state` is absent, installed, outdated (other lines than this version would write),
    broken (a program they run is gone), or unreadable. `events` are those that run ours, `missing` those that should.
    `foreign` are others' entries and plugins that seem to record the same session."""

    harness: str
    scope: str
    file: Path
    state: str
    events: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


def install(harness: Harness, around: Around) -> Change:
    """Put our hooks into the harness's file. Raises CannotInstall, Unsupported; ValueError without a real interpreter
    to write down."""
    path = harness.file(around.root, around.environ, is_project=around.is_project)
    return change.put(around.checked(path), _edit(harness, around), around.uid, is_private=not around.is_project)


def uninstall(harness: Harness, around: Around) -> Change:
    """Take our hooks, whichever version's, out of the harness's file. Raises as `install` does."""
    path = harness.file(around.root, around.environ, is_project=around.is_project)
    return change.take(around.checked(path), _edit(harness, around), around.uid, is_private=not around.is_project)


def look(harness: Harness, around: Around) -> Found:
    """Return how the harness's hooks stand; changes nothing. Raises Unsupported; ValueError as `install` does."""
    path = harness.file(around.root, around.environ, is_project=around.is_project)
    wants = wanted(harness, around)
    try:
        text = config_file.read(around.checked(path), around.uid, is_private=True).text
        entries = FORMS[harness.form].entries(text, harness)
    except CannotInstall as error:
        if not os.path.lexists(path.parent):  # the harness is not there, whoever might put it there
            return Found(harness.name, around.scope, path, "absent")
        return Found(harness.name, around.scope, path, "unreadable", problems=(str(error),))
    foreign = [line for entry in entries if (line := other_memory(entry.handler))]
    found = Found(
        harness.name,
        around.scope,
        path,
        "absent",
        foreign=tuple(dict.fromkeys([*foreign, *_plugins(harness, around, text)])),
    )
    own = [entry for entry in entries if entry.is_ours]
    return _judged(found, own, wants, _held_off(harness, around, text)) if own else found


def _judged(found: Found, own: list[Entry], wants: tuple[Entry, ...], off: tuple[str, ...]) -> Found:
    """Return `found` with what its entries of ours are worth."""
    gone = _gone(own)
    missing = tuple(entry.event for entry in wants if entry not in own)
    is_current = not missing and len(own) == len(wants)
    return replace(
        found,
        state="broken" if gone else "installed" if is_current else "outdated",
        events=tuple(dict.fromkeys(entry.event for entry in own)),
        missing=missing,
        problems=(*gone, *off),
    )


def passing(script: Path) -> str:
    """Return a sentence where our script lies in a cache that is cleaned at will, as of `uvx` or `pipx run`, or ""."""
    is_cached = CACHES.search(str(script)) is not None
    return (
        f"{script} lies in a cache: hooks stop once it is cleaned. Install memsyncd to stay first." if is_cached else ""
    )


def has_own(text: str, harness: Harness) -> bool:
    """Return whether a hooks' file has an entry of ours. Raises NotParsable."""
    return any(entry.is_ours for entry in FORMS[harness.form].entries(text, harness))


def wanted(harness: Harness, around: Around) -> tuple[Entry, ...]:
    """Return the entries this version writes."""
    return tuple(
        Entry(
            event.name,
            harness.handler.entry(
                command_line(event.action, harness.name, reason=event.reason, home=around.data), event.limit
            ),
        )
        for event in harness.events
    )


def _edit(harness: Harness, around: Around) -> Edit:
    form, wants = FORMS[harness.form], wanted(harness, around)

    def own(text: str) -> list[Entry]:
        return [entry for entry in form.entries(text, harness) if entry.is_ours]

    return Edit(
        has_ours=lambda text: has_own(text, harness),
        is_right=lambda text: sorted(map(repr, own(text))) == sorted(map(repr, wants)),
        install=lambda text: form.install(text, wants, harness),
        uninstall=lambda text, before: form.uninstall(text, before, harness),
        has_another=lambda text: (
            harness.keeps_all_in_one(is_project=around.is_project)
            and _value(harness.tools.own, around, text) is not None
        ),
        is_own_file="memsyncd" in (harness.user.name if harness.user else ""),
    )


def _gone(own: list[Entry]) -> tuple[str, ...]:
    """Return a sentence for each program that entries of ours run and that is not there."""
    lines = [line for entry in own if (line := own_handler(entry.handler))]
    programs = [path for line in lines for path in (line.interpreter, line.script) if path.startswith("/")]
    return tuple(f"{path} is gone" for path in dict.fromkeys(programs) if not Path(path).is_file())


def _held_off(harness: Harness, around: Around, text: str) -> tuple[str, ...]:
    """Return a sentence for each thing that keeps the harness's hooks from running."""
    off = [switch.sentence for switch in harness.switches if _value(switch.setting, around, text) is switch.value]
    fault = named_object.fault(text) if harness.form == "object" else ""
    return (*off, f"{fault} makes {harness.title} ignore the whole file") if fault else tuple(off)


def _plugins(harness: Harness, around: Around, text: str) -> list[str]:
    """Return the names of loaded plugins that seem to record sessions."""
    names: list[object] = []
    for setting in harness.plugins:
        value = _value(setting, around, text)
        if isinstance(value, dict):
            names += [name for name, on in value.items() if on]
        elif isinstance(value, list):
            names += value
    return [f"plugin {name}" for name in names if other_memory({"command": name})]


def _value(setting: Setting, around: Around, text: str) -> Any:
    """Return a setting's value; None where it is not set, or the file it is in cannot be read."""
    is_toml = False
    document: Any = {}
    with suppress(CannotInstall):
        if setting.place is not None:
            path = setting.place.path(around.root, {} if around.is_project else around.environ)
            text = config_file.read(path, around.uid, is_private=True).text
            is_toml = path.suffix == ".toml"
        document = toml_text.read(text) if is_toml else json_edit.read(text)
    for step in setting.path:
        document = document.get(step) if isinstance(document, dict) else None
    return document
