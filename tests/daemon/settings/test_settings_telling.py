"""What is told of settings that may hold a secret."""

import pytest

from daemon.settings import telling

TOKEN = "tok" + "7Vx4" + "mK2w"


@pytest.mark.parametrize(
    ("url", "told", "masked"),
    [
        ("https://u:pw@127.0.0.1:9/x?token=tok", "https://127.0.0.1:9/x", "https://(set)@127.0.0.1:9/x?(set)"),
        ("https://u@p:w@host.test?x", "https://host.test", "https://(set)@host.test?(set)"),
        ("https://host.test/x#part", "https://host.test/x", "https://host.test/x?(set)"),
        ("postgresql://u:p@db.test/q?sslmode=require", "postgresql://db.test/q", "postgresql://(set)@db.test/q?(set)"),
        ("localhost:11434/v1?key=1", "localhost:11434/v1", "localhost:11434/v1?(set)"),
        ("https://host.test/@scope/x", "https://host.test/@scope/x", "https://host.test/@scope/x"),
        ("http://[::1]:80", "http://[::1]:80", "http://[::1]:80"),
        ("", "", ""),
    ],
)
def test_an_address_is_told_as_a_place(url: str, told: str, masked: str) -> None:
    """Without user, query and fragment; a mask says that they are there."""
    assert telling.place(url) == told
    assert telling.place(url, "(set)") == masked


@pytest.mark.parametrize(
    ("url", "holds"),
    [
        ("https://u:pw@host.test", True),
        ("https://host.test?token=abc", True),
        ("postgresql://host.test/q?sslmode=require", False),
        ("https://host.test/x", False),
    ],
)
def test_only_a_user_or_a_secret_parameter_is_a_secret(url: str, holds: bool) -> None:
    """What is no secret is no reason to close a file to others."""
    assert telling.holds_secret(url) is holds


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("op read op://vault/mem0/key", "op read op://vault/mem0/key"),
        ("pass show mem0", "pass show mem0"),
        ("vault kv get -field=key secret/mem0", "vault kv get -field=key secret/mem0"),
        ("cat ~/keys/mem0", "cat ~/keys/mem0"),
        ("echo sword" + "fish", "echo (set)"),
        (f"/bin/printf %s {TOKEN}", "/bin/printf (set)"),
        (f"sh -c 'get {TOKEN}'", "sh -c 'get (set)'"),
        (f"get {TOKEN}", "get (set)"),
        (f"get --token {TOKEN}", "get --token [REDACTED]"),
        ("get 'half", "(set)"),
    ],
)
def test_a_command_is_told_without_a_secret_of_its_own(line: str, told: str) -> None:
    """What names the place of a key stays to be read."""
    assert telling.command(line, "(set)") == told
