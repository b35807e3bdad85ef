"""A question as anybody may ask it, checked once. Nothing in it can widen what its asker may see (facts 5.17 to 5.29).

SearchRefused (a ValueError)   the question cannot be asked; the message is a sentence naming what is wrong
├── BadArgument                a value of another type or size, or an argument nobody knows
├── UnknownScope               not `repo`, `dir` or `mine` (facts 5.29)
├── UnknownCategory            none of the five (facts 2.36)
└── Wildcard                   an id that would mean everybody (facts 5.17, 5.27)
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memsyncd.platforms.instructions import CATEGORIES
from memsyncd.platforms.wildcards import holds_asterisk

SCOPES = ("repo", "dir", "mine")
"""Facts 5.24; the first is the default."""

MAX_TOP_K = 20
"""Facts 7.12."""

DEFAULT_TOP_K = 5

MAX_QUERY_CHARS = 10_000
"""Recall asks with up to 6,000 characters and a mark of the cut (facts 7.3); nobody asks with more by hand."""

MAX_RUN_ID_CHARS = 200
"""Facts 13.5."""

ARGUMENTS = ("query", "cwd", "top_k", "category", "scope", "run_id")


class SearchRefused(ValueError):
    """The question cannot be asked. `argument` names what is wrong with it."""

    def __init__(self, argument: str, sentence: str) -> None:
        super().__init__(sentence)
        self.argument = argument


class BadArgument(SearchRefused):
    """A value that is none, or an argument nobody knows."""


class UnknownScope(SearchRefused):
    """Not one of SCOPES."""

    def __init__(self, given: str) -> None:
        super().__init__("scope", f"Unknown search scope {given[:40]!r}: scope is one of {', '.join(SCOPES)}.")


class UnknownCategory(SearchRefused):
    """Not one of the five categories."""

    def __init__(self, given: str) -> None:
        super().__init__("category", f"Unknown category {given[:40]!r}: category is one of {', '.join(CATEGORIES)}.")


class Wildcard(SearchRefused):
    """An asterisk where an id belongs."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument, f"{argument} is no wildcard: it names one session, or is left out.")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked, and from where. Making one checks it; raises SearchRefused's classes.

    `cwd` is an absolute directory, whose project is searched. `category` and `run_id` narrow where they are given.
    Ids of users and projects cannot be given at all: they follow from the settings and from `cwd`.
    """

    query: str
    cwd: str = ""
    top_k: int = DEFAULT_TOP_K
    category: str = ""
    scope: str = SCOPES[0]
    run_id: str = ""

    def __post_init__(self) -> None:
        for name in ("query", "cwd", "category", "scope", "run_id"):
            _check_text(name, getattr(self, name))
        if not self.query.strip():
            raise BadArgument("query", "query is a text that is not empty.")
        if len(self.query) > MAX_QUERY_CHARS:
            raise BadArgument("query", f"query has at most {MAX_QUERY_CHARS:,} characters.")
        if self.cwd and not os.path.isabs(self.cwd):
            raise BadArgument("cwd", "cwd is an absolute directory.")
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or not 1 <= self.top_k <= MAX_TOP_K:
            raise BadArgument("top_k", f"top_k is a whole number from 1 to {MAX_TOP_K}.")
        if self.scope not in SCOPES:
            raise UnknownScope(self.scope)
        if self.category and self.category not in CATEGORIES:
            raise UnknownCategory(self.category)
        _check_run_id(self.run_id)


def parsed(arguments: Mapping[str, Any], *, top_k: int = DEFAULT_TOP_K, scope: str = SCOPES[0]) -> SearchRequest:
    """Return the request in a JSON object. `top_k` and `scope` hold where it says nothing (null and "" say nothing).

    Raises SearchRefused's classes; of several unknown arguments the alphabetically first is named (facts 13.5).
    """
    unknown = sorted(str(name) for name in arguments if name not in ARGUMENTS)
    if unknown:
        raise BadArgument(unknown[0], f"Unknown argument {unknown[0][:40]!r}: a search takes {', '.join(ARGUMENTS)}.")
    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
    if "run_id" in given and isinstance(given["run_id"], str) and not given["run_id"].strip():
        raise BadArgument("run_id", "run_id is not blank: it names one session, or is left out.")
    return SearchRequest(**{"query": "", "top_k": top_k, "scope": scope, **given})


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise BadArgument(name, f"{name} is a text.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadArgument(name, f"{name} holds half a character.") from None


def _check_run_id(run_id: str) -> None:
    if not run_id:
        return
    if not run_id.strip():
        raise BadArgument("run_id", "run_id is not blank: it names one session, or is left out.")
    if len(run_id) > MAX_RUN_ID_CHARS:
        raise BadArgument("run_id", f"run_id has at most {MAX_RUN_ID_CHARS} characters.")
    if holds_asterisk(run_id):
        raise Wildcard("run_id")
