"""Ways in which the fake hosted platform misbehaves: one value for each request it is to spoil."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Behaviour:
    """`commit`: the request is carried out all the same. `status`: answer with this and `body` in place of the true
    answer. The rest is as in `loopback_http.Reply`. `fate` and `error` are the extraction's, for an add."""

    commit: bool = True
    status: int | None = None
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    cut: bool = False
    cut_after: int | None = None
    drip: float = 0.0
    fate: str = "SUCCEEDED"
    error: str = ""


NORMAL = Behaviour()


def answer(
    status: int, body: Any = None, headers: Mapping[str, str] | None = None, *, commit: bool = False
) -> Behaviour:
    """Answer with `status`; `body` is bytes, or a value to be sent as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
    return Behaviour(commit=commit, status=status, body=raw, headers=headers or {})


def busy(status: int = 503, retry_after: str = "") -> Behaviour:
    """Answer that it is too busy, with a Retry-After if given."""
    return answer(status, {"detail": "busy"}, {"Retry-After": retry_after} if retry_after else {})


def quota(status: int = 429) -> Behaviour:
    """Answer that the account's quota is used up."""
    return answer(status, {"error": "Monthly quota exceeded. Upgrade your plan."})


def refuse_key(status: int = 401) -> Behaviour:
    """Answer as to a wrong key."""
    return answer(status, {"detail": "Given token not valid for any token type"})


def reject(status: int = 400, message: str = "Validation failed") -> Behaviour:
    """Refuse this one request."""
    return answer(status, {"error": message, "details": {"message": message}})


def hang(seconds: float = math.inf) -> Behaviour:
    """Take the request, do nothing for `seconds`, then cut the connection."""
    return Behaviour(commit=False, wait=seconds, cut=True)


def cut() -> Behaviour:
    """Cut the connection without having done anything."""
    return Behaviour(commit=False, cut=True)


def commit_and_cut() -> Behaviour:
    """Carry the request out and cut the connection before the answer."""
    return Behaviour(cut=True)


def commit_and_answer_late(seconds: float) -> Behaviour:
    """Carry the request out and answer after `seconds`."""
    return Behaviour(wait=seconds)


def commit_and_answer(status: int, body: Any = None) -> Behaviour:
    """Carry the request out and answer as a gateway does that saw nothing of it."""
    return answer(status, body, commit=True)


def half_an_answer(length: int = 5) -> Behaviour:
    """Carry the request out and cut the connection after `length` bytes of the answer's body."""
    return Behaviour(cut_after=length)


def drip(seconds: float = 1.0) -> Behaviour:
    """Carry the request out and send the answer a byte each `seconds`."""
    return Behaviour(drip=seconds)


def html(status: int = 200) -> Behaviour:
    """Answer with a page for people."""
    return answer(status, b"<!DOCTYPE html><html><body>Please log in</body></html>", {"Content-Type": "text/html"})


def redirect(location: str, status: int = 302) -> Behaviour:
    """Answer with a redirect."""
    return answer(status, b"", {"Location": location})


def failing_extraction(error: str = "extraction failed") -> Behaviour:
    """Accept the add; its extraction will fail."""
    return Behaviour(fate="FAILED", error=error)


def vanishing_extraction() -> Behaviour:
    """Accept the add; nothing is ever heard of its event again (404)."""
    return Behaviour(fate="VANISHED")


def stuck_extraction() -> Behaviour:
    """Accept the add; its extraction never ends."""
    return Behaviour(fate="STUCK")
