"""Labels in place of messages (facts 12.8, 12.9, 15.6)."""

import socket
import ssl

import httpx
import pytest

from memsyncd.platforms.platform import Busy, KeyRefused, NoAnswer, Rejected, Unreachable
from memsyncd.telemetry.labels import error_label, source_of


@pytest.mark.parametrize(
    ("status", "label"),
    [
        (400, "bad-request"), (422, "bad-request"), (401, "auth"), (403, "auth"), (429, "rate-limited"), (408, "timeout"),
        (500, "server-error"), (502, "server-error"), (503, "server-error"), (504, "server-error"),
        (200, "other"), (404, "other"), (501, "other"), (0, "other"), (-1, "other"),
    ],
)  # fmt: skip
def test_a_status_has_a_label(status: int, label: str) -> None:
    """Each status of 12.9, and `other` for any other."""
    assert error_label(status=status) == label


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "label"),
    [
        (TimeoutError(), "timeout"), (httpx.ReadTimeout("private"), "timeout"), (httpx.ConnectError("private"), "network"),
        (ConnectionRefusedError(), "network"), (socket.gaierror(8, "private.example"), "network"), (ssl.SSLError(), "network"),
        (Unreachable("x"), "network"), (NoAnswer("x"), "network"), (caused(NoAnswer("x"), httpx.ReadTimeout("x")), "timeout"),
        (KeyRefused("x", status=401), "auth"), (Busy("x", status=429), "rate-limited"), (Busy("x", status=503), "server-error"),
        (Rejected("x", status=422), "bad-request"), (Rejected("x", status=404), "Rejected"),
        (ValueError("private words"), "ValueError"), (PermissionError(13, "x", "/private"), "PermissionError"),
        (type("private words", (Exception,), {})(), "other"), (type("x" * 65, (Exception,), {})(), "other"),
    ],
)  # fmt: skip
def test_an_error_has_a_label(error: BaseException, label: str) -> None:
    """Time-out, network, the status it carries, else its type; never its message, and never an odd type's name."""
    assert error_label(error) == label


def test_causes_that_go_in_a_circle_end() -> None:
    """An error that is its own cause has a label all the same."""
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert error_label(first) == "ValueError"


def test_a_status_that_is_no_number_is_no_status() -> None:
    """Another library's `status` may be anything."""
    error = ValueError()
    error.status = "401 private"  # type: ignore[attr-defined]
    assert error_label(error) == "ValueError"


@pytest.mark.parametrize(
    ("harness", "source"),
    [
        ("claude-code", "CLAUDE_CODE_PLUGIN"),
        ("codex", "CODEX_PLUGIN"),
        ("coding-agent", "CODING_AGENT_PLUGIN"),
        ("gemini-cli", "GEMINI_CLI_PLUGIN"),
    ],
)
def test_a_source_tag_follows_from_the_harness(harness: str, source: str) -> None:
    """One rule for all, so that no two modules tell different sources (12.8, 20.11)."""
    assert source_of(harness) == source
