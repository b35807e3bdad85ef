"""`[[hooks]]` tables with event and command (Kimi Code, kimi-cli), or the same as an array in one line. TOML."""

from collections.abc import Sequence
from typing import Any

from daemon.installing.editing import toml_edit, toml_text
from daemon.installing.entry import ANY, Entry
from daemon.installing.errors import NotParsable, Unfit
from daemon.installing.harness import Harness

HOOKS = "hooks"
EVENT = "event"


class TomlTables:
    """The form."""

    def entries(self, text: str, harness: Harness) -> tuple[Entry, ...]:  # noqa: ARG002  (Form's signature)
        """Return every entry."""
        return tuple(_entry(item) for item in _hooks(text) if isinstance(item, dict))

    def install(self, text: str, wanted: Sequence[Entry], harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return the text with exactly `wanted` as ours: those that are there stay, others go, the rest comes last."""
        missing = [_table(entry) for entry in wanted]
        surplus = []
        for index, item in enumerate(_hooks(text)):
            if item in missing:
                missing.remove(item)
            elif _is_ours(item):
                surplus.append(index)
        for index in reversed(surplus):
            text = _without(text, index)
        for table in missing:
            text = _with(text, table)
        return _checked(text)

    def uninstall(self, text: str, before: str | None, harness: Harness) -> str:  # noqa: ARG002  (Form's)
        """Return the text without tables of ours."""
        for index in reversed([index for index, item in enumerate(_hooks(text)) if _is_ours(item)]):
            text = _without(text, index)
        return _checked(text)


def _hooks(text: str) -> list[Any]:
    hooks = toml_text.read(text).get(HOOKS, [])
    if not isinstance(hooks, list):
        raise Unfit("hooks is no array of tables, so nothing can be added to it")
    return hooks


def _entry(item: dict[str, Any]) -> Entry:
    handler = {key: value for key, value in item.items() if key != EVENT}
    event = item.get(EVENT)
    return Entry(event if isinstance(event, str) else "", handler, item.get("matcher") not in ANY)


def _table(entry: Entry) -> dict[str, Any]:
    return {EVENT: entry.event, **entry.handler}


def _is_ours(item: Any) -> bool:
    return isinstance(item, dict) and _entry(item).is_ours


def _array(text: str) -> int | None:
    """Return where the array opens that holds the hooks; None where they are tables, or there are none."""
    for statement in toml_text.statements(text):
        if statement.is_header:
            return None
        if statement.key == (HOOKS,):
            return statement.value
    return None


def _with(text: str, table: dict[str, Any]) -> str:
    opening = _array(text)
    if opening is None:
        return toml_edit.add_table(text, f"[[{HOOKS}]]", table)
    return toml_edit.add_element(text, opening, table)


def _without(text: str, index: int) -> str:
    opening = _array(text)
    if opening is None:
        return toml_edit.remove_block(text, *toml_edit.blocks(text, (HOOKS,), is_many=True)[index])
    return toml_edit.remove_element(text, opening, index)


def _checked(text: str) -> str:
    try:
        toml_text.read(text)
    except NotParsable as error:  # an unusual mixture of forms, which TOML allows to read but not to add to
        raise Unfit(f"our entries do not fit into it ({error}); put them in by hand") from error
    return text
