"""What a refusing answer means: status, headers and body in, one PlatformError out. Pure."""

import email.utils
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memsyncd.evidence.payloads import clean
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Rejected,
)

MAX_MESSAGE = 300
"""Characters of a platform's own words that we keep."""

MAX_RETRY_AFTER = 24 * 3600.0
"""A platform that asks for more than a day is looked at once a day all the same."""

_NETWORK_WANTS_LOGIN = 511  # Network Authentication Required (RFC 6585, 6): never the platform's own

_LOOKED_AT = 1_000  # characters of a message in which words of quota are looked for

_CLOCK_TIME = 1_000_000_000.0  # X-RateLimit-Reset: below it a number of seconds, above it a Unix time

_SPENT = re.compile(
    r"quota (?:[a-z]+ ){0,2}(?:exceed|reach|exhaust|limit|used)"
    r"|(?:exceed|reach|exhaust|insufficient|over|out of|no)[a-z]* (?:[a-z']+ ){0,4}(?:quota|credits?)\b"
    r"|credits? (?:[a-z]+ ){0,2}(?:exceed|exhaust|used up|deplet|required)"
    r"|payment (?:is )?(?:required|failed|method|overdue|past due)"
    r"|(?:plan|usage|monthly|subscription|free tier|account)(?:'s)? (?:[a-z]+ )?limit"
    r"|limit of your (?:[a-z]+ )?plan"
    r"|upgrade (?:[a-z]+ ){0,3}(?:plan|subscription|account)"
    r"|subscription (?:has |is )?(?:expired|inactive|ended|cancel)"
)
"""Words that say the account's limit is reached, and not merely mention it. For lower-case text with single spaces."""

_PASSES = re.compile(r"rate ?limit|too many requests|per (?:second|minute)|slow down")
"""Words of a limit that passes by itself."""

_MENTIONED = re.compile(r"\b(?:quota|credits?|billing|payment)\b")

_QUOTA_STATUSES = frozenset({400, 403, 413, 429})
_ECHOES = frozenset({"input", "ctx", "url", "body", "payload"})  # what validators repeat of the request


def is_html(content_type: str, body: bytes) -> bool:
    """Return whether an answer is a page for people, such as a captive portal's."""
    return "html" in content_type.lower() or body[:1024].lstrip().startswith(b"<")


def is_foreign(status: int, content_type: str, body: bytes) -> bool:
    """Return whether an answer, of any status, is plainly somebody else's than an API's: a page, a redirect, success
    without JSON. A refusal, also one without a word, may be the platform's own."""
    if status == _NETWORK_WANTS_LOGIN or 300 <= status < 400 or is_html(content_type, body):  # noqa: PLR2004  (redirects)
        return True
    return status < 300 and decode(body) is None  # noqa: PLR2004  (success)


def refusal(  # noqa: PLR0911  (a table: one return for each class of refusal)
    status: int, headers: Mapping[str, str], body: bytes, *, now: float, redact: Callable[[str], str]
) -> PlatformError:
    """Return the error for an answer whose `status` is not 2xx.

    `headers` is looked up by lower-case name, `now` is the wall clock in Unix seconds (for a Retry-After date in an
    answer that has no Date). The platform's words are cut and go through `redact` first.
    """
    said = message(body)
    shown = f": {cut(redact(said))}" if said else ""
    page = is_html(headers.get("content-type", ""), body)
    if status == 402 or (status in _QUOTA_STATUSES and speaks_of_quota(said, status)):  # noqa: PLR2004  (Payment Required)
        return QuotaExceeded(f"the account's limit is reached ({status}{shown})", status=status)
    if status == _NETWORK_WANTS_LOGIN:
        return NotUnderstood(f"the network wants a login first ({status})", status=status)
    if status in (408, 429) or status >= 500:  # noqa: PLR2004  (server errors)
        return Busy(f"busy ({status}{shown})", status=status, retry_after=retry_after(headers, now))
    if status == 401 or (status == 403 and not page):  # noqa: PLR2004  (Unauthorized, Forbidden)
        return KeyRefused(f"the key was refused ({status}{shown})", status=status)
    if 300 <= status < 400:  # noqa: PLR2004  (redirects)
        return NotUnderstood(f"a redirect ({status}): is the platform's URL right?", status=status)
    if status in (403, 404, 405) and (page or _is_foreign(body)):
        return NotUnderstood(f"a page that is not the platform's ({status}): is its URL right?", status=status)
    if 400 <= status < 500:  # noqa: PLR2004  (client errors)
        return Rejected(f"refused ({status}{shown})", status=status)
    return NotUnderstood(f"an unexpected status ({status})", status=status)


def speaks_of_quota(said: str, status: int) -> bool:
    """Return whether the platform's words tell of a limit that only a person can lift.

    A 429 that speaks of a rate as well is a rate limit; a bare "quota" is enough for a 403,
    which is for a person anyway.
    """
    text = re.sub(r"[\s_-]+", " ", said[:_LOOKED_AT].lower().replace("\u2019", "'"))
    if status == 429 and _PASSES.search(text):  # noqa: PLR2004  (Too Many Requests)
        return False
    if status == 403 and _MENTIONED.search(text):  # noqa: PLR2004  (Forbidden)
        return True
    return _SPENT.search(text) is not None


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return how many seconds the platform asks us to wait, or None where it says nothing sensible.

    Retry-After in seconds or as a date (RFC 9110, 10.2.3), the date taken against the answer's own Date so that our
    clock does not matter; else X-RateLimit-Reset, in seconds or as a Unix time. Between 0 and MAX_RETRY_AFTER.
    """
    here = _date(headers.get("date", ""))
    here = now if here is None else here
    asked = headers.get("retry-after", "")
    seconds = _number(asked)
    if seconds is None and (moment := _date(asked)) is not None:
        seconds = moment - here
    if seconds is None and (reset := _number(headers.get("x-ratelimit-reset", ""))) is not None:
        seconds = reset if reset < _CLOCK_TIME else reset - here
    return None if seconds is None else min(max(seconds, 0.0), MAX_RETRY_AFTER)


def message(body: bytes) -> str:
    """Return the platform's own words from an error body, in any of its four shapes, or empty (hooks-and-apis 3A).

    Of a list of validation errors only place and reason are taken: the rest echoes what was sent.
    """
    document = decode(body)
    if not isinstance(document, Mapping):
        return ""
    details = document.get("details")
    inner = details.get("message") if isinstance(details, Mapping) else None
    said = [words(document.get(key)) for key in ("error", "detail", "message")]
    return "; ".join(dict.fromkeys(part for part in (*said, words(inner)) if part))


def decode(body: bytes) -> Any:
    """Return the JSON value in `body`, or None where there is none. Bad UTF-8 and halves of characters are replaced,
    and what is no number to JSON is null: nobody further on has to reckon with them."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # the slower reader takes what the strict one refuses: half surrogates, NaN, a byte-order mark
        return _whole(_LENIENT.decode(body.decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        return None


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {clean(key): _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_LENIENT = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=lambda _: None)


def cut(text: str) -> str:
    """Return `text` on one line and at most MAX_MESSAGE characters, without any that a terminal would act on."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def words(value: object, depth: int = 0) -> str:
    """Return the words of an error value of any shape, without what it repeats of the request."""
    if isinstance(value, str):
        return value[: 4 * MAX_MESSAGE]
    if depth > 2:  # noqa: PLR2004  (deeper is no error message)
        return ""
    if isinstance(value, list):
        return ", ".join(filter(None, (words(item, depth + 1) for item in value[:5])))
    if isinstance(value, Mapping):
        place = value.get("loc")
        where = ".".join(str(part) for part in place[:5]) if isinstance(place, list) else ""
        told = (words(value.get(key), depth + 1) for key in ("msg", "message", "error", "detail", "code"))
        what = next(filter(None, told), "")
        if what:
            return f"{where} {what}".strip()
        fields = (
            f"{key}: {text}"
            for key, item in list(value.items())[:5]
            if key not in _ECHOES and (text := words(item, depth + 1))
        )
        return ", ".join(fields)
    return ""


def _is_foreign(body: bytes) -> bool:
    return bool(body.strip()) and not isinstance(decode(body), dict | list)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*[0-9]{1,12}(\.[0-9]{1,9})?\s*", text, re.ASCII) else None


def _date(text: str) -> float | None:
    try:
        moment = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, OSError):
        return None
    return moment if math.isfinite(moment) else None
