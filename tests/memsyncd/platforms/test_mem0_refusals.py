"""Tables of what a refusing answer means."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.platforms import refusals
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Rejected,
)

NOW = 1_800_000_000.0
NOW_AS_DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
IN_90_SECONDS = "Fri, 15 Jan 2027 08:01:30 GMT"


def refusal(status: int, body: Any = b"", headers: dict[str, str] | None = None) -> PlatformError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusals.refusal(status, headers or {}, raw, now=NOW, redact=lambda text: text.replace("secret", "[gone]"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": IN_90_SECONDS}, 90.0),
        ({"retry-after": IN_90_SECONDS, "date": "Fri, 15 Jan 2027 08:01:00 GMT"}, 30.0),
        ({"retry-after": NOW_AS_DATE, "date": IN_90_SECONDS}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "9" * 5000}, None),
        ({"retry-after": "\u0663"}, None),
        ({"retry-after": "Mon, 99 Foo 2027 08:00:00 GMT"}, None),
        ({"retry-after": "999999999"}, refusals.MAX_RETRY_AFTER),
        ({"x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-reset": str(int(NOW) + 45)}, 45.0),
        ({"x-ratelimit-reset": str(int(NOW) + 45), "date": IN_90_SECONDS}, 0.0),
        ({"retry-after": "7", "x-ratelimit-reset": "12"}, 7.0),
        ({"retry-after": "soon", "x-ratelimit-reset": "12"}, 12.0),
    ],
)
def test_reads_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds and dates are both understood, a date against the answer's own clock; nonsense is as good as nothing."""
    assert refusal(503, b"", headers).retry_after == seconds


@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (402, "", QuotaExceeded),
        (429, "Monthly quota exceeded", QuotaExceeded),
        (429, "quota_exceeded", QuotaExceeded),
        (429, "You have exceeded your monthly quota", QuotaExceeded),
        (429, "insufficient_quota", QuotaExceeded),
        (429, "Plan limit reached, please upgrade your plan", QuotaExceeded),
        (429, "Rate limit of your plan exceeded: 60 requests per minute", Busy),
        (429, "Quota exceeded: 60 requests per minute", Busy),
        (429, "Too many requests", Busy),
        (429, "", Busy),
        (403, "Your credits are used up", QuotaExceeded),
        (403, "Usage limit reached", QuotaExceeded),
        (403, "Billing problem", QuotaExceeded),
        (403, "You do not have permission", KeyRefused),
        (403, "", KeyRefused),
        (401, "quota exceeded", KeyRefused),
        (413, "Quota exceeded for this organisation", QuotaExceeded),
        (413, "Request entity too large", Rejected),
        (413, "", Rejected),
        (400, "Out of credits", QuotaExceeded),
        (400, "payment required", QuotaExceeded),
        (400, "Unknown field: credits", Rejected),
        (400, "metadata.quota must be a number", Rejected),
        (400, "messages must not be empty", Rejected),
        (422, "quota exceeded", Rejected),
        (404, "Not found", Rejected),
        (409, "conflict", Rejected),
        (418, "teapot", Rejected),
        (500, "quota exceeded", Busy),
        (503, "", Busy),
        (599, "", Busy),
        (408, "", Busy),
        (301, "", NotUnderstood),
        (304, "", NotUnderstood),
        (101, "", NotUnderstood),
        (999, "", Busy),
    ],
)
def test_tells_the_classes_of_refusal_apart(status: int, said: str, error: type[PlatformError]) -> None:
    """Status first; words of a limit that only a person lifts count where the status leaves it open."""
    assert type(refusal(status, {"error": said} if said else b"")) is error
    assert refusal(status, {"error": said}).status == status


@pytest.mark.parametrize(
    ("status", "error"),
    [(403, NotUnderstood), (404, NotUnderstood), (405, NotUnderstood), (401, KeyRefused), (413, Rejected), (502, Busy)],
)
def test_a_page_is_not_the_platforms_word(status: int, error: type[PlatformError]) -> None:
    """A login page or a web server's own 404 must cost no item an attempt; where the status says it all, it holds."""
    assert type(refusal(status, b"<html>please log in</html>")) is error
    assert type(refusal(404, b"404 page not found")) is NotUnderstood


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "bad"}, "bad"),
        ({"detail": "bad"}, "bad"),
        ({"message": "bad"}, "bad"),
        ({"details": {"message": "bad"}}, "bad"),
        ({"error": "bad", "details": {"message": "worse"}}, "bad; worse"),
        ({"error": "bad", "details": {"message": "bad"}}, "bad"),
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "too long", "input": "a private text"}]},
            "body.messages.0 too long",
        ),
        ({"detail": {"user_id": ["required"], "input": "a private text"}}, "user_id: required"),
        ({"error": {"code": "bad_request", "message": "bad"}}, "bad"),
        ({"error": {"code": "bad_request"}}, "bad_request"),
        ({"error": None, "detail": 7}, ""),
        (["bad"], ""),
        (b"\xff\xfe not json", ""),
        (b'{"error": "\xff"}', "\ufffd"),
        (b'{"error": "half \\ud800"}', "half \ufffd"),
        (b'\xef\xbb\xbf{"error": "marked"}', "marked"),
        (b"[" * 100_000, ""),
        ({"detail": [[[[["deep"]]]]]}, ""),
    ],
)
def test_finds_the_platforms_words_in_every_shape(body: Any, words: str) -> None:
    """The four shapes of an error body are read, lists and objects too, and never what a validator repeats."""
    assert refusals.message(body if isinstance(body, bytes) else json.dumps(body).encode()) == words


def test_the_platforms_words_are_cut_and_redacted() -> None:
    """A long refusal is one line of bounded length, and goes through redaction before it is cut."""
    error = refusal(400, {"error": "a secret\n" + "word " * 10_000})
    assert "[gone]" in error.message
    assert "secret" not in error.message
    assert "\n" not in error.message
    assert len(error.message) < refusals.MAX_MESSAGE + 40


@given(
    status=st.integers(100, 999).filter(lambda status: not 200 <= status < 300),
    headers=st.dictionaries(st.sampled_from(["retry-after", "date", "x-ratelimit-reset", "content-type"]), st.text()),
    body=st.binary() | st.text().map(lambda text: json.dumps({"error": text}).encode()),
)
def test_every_refusal_is_an_error_of_ours(status: int, headers: dict[str, str], body: bytes) -> None:
    """Whatever comes back, the table has an entry, and a wait is a sensible number."""
    error = refusal(status, body, headers)
    assert error.retry_after is None or 0 <= error.retry_after <= refusals.MAX_RETRY_AFTER


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "text", ["_" * 100_000, "a " * 50_000, "exceeded " * 20_000, "no a a a a" * 10_000, "<!---->" * 20_000]
)
def test_reads_long_words_in_no_time(text: str) -> None:
    """A refusal made to slow pattern matching down does not."""
    for status in (400, 403, 413, 429):
        refusal(status, {"error": text})
        refusal(status, text.encode())
