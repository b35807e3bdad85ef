"""What a request of the status socket asks for: its query and its JSON, checked by name, kind and bounds.

Every function raises Refused, which holds the answer, for what is wrong with a request.
"""

import json
import math
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from daemon.status_socket.http_message import Request, refusal


class Refused(Exception):
    """`response` is what the client gets."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.response = refusal(status, sentence, headers)


def query(request: Request, *known: str) -> dict[str, str]:
    """Return the parameters, of which only `known` are allowed; of one given twice the last."""
    try:
        pairs = parse_qsl(request.query, keep_blank_values=True, strict_parsing=bool(request.query), max_num_fields=20)
    except ValueError:
        raise Refused(400, "The query is no list of name=value.") from None
    for name, _ in pairs:
        if name not in known:
            raise Refused(400, f"This route knows {', '.join(known) or 'no parameter'}, and not {name[:40]!r}.")
    return dict(pairs)


def document(request: Request, *known: str) -> Mapping[str, Any]:
    """Return the body's JSON object; no body is an empty one."""
    if not request.body.strip():
        return {}
    try:
        document = json.loads(request.body)
    except (ValueError, RecursionError):
        raise Refused(400, "The body is no JSON.") from None
    if not isinstance(document, dict):
        raise Refused(400, "The body is no JSON object.")
    for name in document:
        if name not in known:
            raise Refused(400, f"The body may hold {', '.join(known)}, and not {name[:40]!r}.")
    return document


def text(document: Mapping[str, Any], name: str) -> str | None:
    """Return a text, None where it is left out, null or empty: so commands of older versions leave it out. A blank one
    comes from a variable that holds nothing, and must not mean everything."""
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise Refused(400, f"{name} is a text.")
    if value and not value.strip():
        raise Refused(400, f"{name} is blank: give it a value, or leave it out.")
    return value or None


def directory(document: Mapping[str, Any], name: str) -> str:
    """Return an absolute path, an empty text where it is left out, null or empty."""
    value = text(document, name) or ""
    if value and not os.path.isabs(value):
        raise Refused(400, f"{name} is an absolute path.")
    return value


def number(
    values: Mapping[str, Any], name: str, default: float, least: float, most: float, *, whole: bool = False
) -> float:
    """Return a number within its bounds, `default` where it is left out or empty."""
    given = values.get(name)
    if given is None or given == "":
        return default
    try:
        number = (int if whole else float)(given)
    except (TypeError, ValueError, OverflowError):  # an integer may be beyond any float
        number = math.nan
    if isinstance(given, bool) or not least <= number <= most:
        bounds = f"a whole number from {int(least)} to {int(most)}" if whole else f"a number from {least:g} to {most:g}"
        raise Refused(400, f"{name} is {bounds}.")
    return number
