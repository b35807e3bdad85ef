"""The unit and agent templates: `systemd/` and `launchd/` of a checkout, or their copies in an installed package."""

import re
from collections.abc import Mapping
from pathlib import Path

PACKAGED = Path(__file__).with_name("shipped")
CHECKOUT = Path(__file__).parents[2]

_PLACE = re.compile(r"@([A-Z]+)@")


class Unfilled(ValueError):
    """A template's place has nothing to stand there: it is never installed so (never-again 95)."""


def read(name: str) -> str:
    """Return a template by its path, such as `systemd/user/memsyncd.service`."""
    packaged = PACKAGED / name
    return (packaged if packaged.exists() else CHECKOUT / name).read_text("utf-8")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its places filled. A line that is one place may take several lines, or none.

    Raises Unfilled where a place is not among `values`, or a value with more than one line stands within a line.
    """
    lines: list[str] = []
    for line in template.splitlines():
        if line.startswith("#"):
            lines.append(line)
            continue
        alone = _PLACE.fullmatch(line)
        if alone:
            lines += _value(values, alone[1]).splitlines()
        else:
            lines.append(_PLACE.sub(lambda place: _one_line(_value(values, place[1]), place[1]), line))
    return "\n".join(lines) + "\n"


def _value(values: Mapping[str, str], name: str) -> str:
    if name not in values:
        raise Unfilled(f"nothing is known for {name}")
    return values[name]


def _one_line(value: str, name: str) -> str:
    if not value or len(value.splitlines()) > 1:
        raise Unfilled(f"{name} is not one line: {value!r}")
    return value
