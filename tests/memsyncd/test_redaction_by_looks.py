"""Secrets behind names that are everyday words as well: only what looks like one, or is told as one, goes."""

import json

import pytest

from memsyncd.redaction import REPLACEMENT, redact, redact_value

PASSWORDS = ["kT9#" + "vLq2!xZp", "zq7Vx4" + "mK2w", "p4x9" + "w2m7k3q8r", "Zx7Gq2" + "Lw9Rt5Ky1"]
"""Made up, and of the kinds that generators make; the last two long enough for a key as well."""

LONG = ("Gt4x" + "9QmZ7bLw2RkV8sYd3HpN6cJf1TqX5aEu0WoM") + "7bK2"
HEXADECIMAL = "9f86d0" + "81884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
KEYS = [LONG, HEXADECIMAL, HEXADECIMAL[:32], "live-" + LONG, LONG[:20] + "/" + LONG[20:] + "=="]

PASSWORD_ROWS = [
    "Staging login is always user: admin, pass: {}",
    "pass: {}",
    "Pass: {}.",
    "pass {}",
    "the pass is {}, mind it",
    "log in with pass {} please",
    "db pass {}",
    "db pass: {}",
    "the root pass is {}",
    "user: admin\npass: {}\nhost: x",
    "pw {}",
    "pwd {}",
    "the pw is {}.",
    "the pwd for staging is {}",
    "tool --pass {} run",
    '{{"a": "user: admin, pass: {}"}}',
    "pass: `{}`",
    "creds: admin:{}",
    "creds: admin / {}",
    "creds admin:{}",
    "the db creds are admin:{}",
    "staging_creds = 'admin:{}'",
    '{{"creds": "admin:{}"}}',
    "creds: admin@host.example:{}",
]

KEY_ROWS = [
    "the key is {}",
    "the key is now {}.",
    "the key for staging is {}",
    "key: {}",
    "KEY={}",
    "KEY: {}",
    "export KEY='{}'",
    "JWT_KEY={}",
    "fernetKey = '{}'",
    '{{"key": "{}"}}',
    '{{"a": "{{\\"key\\": \\"{}\\"}}"}}',
    "tool --key {} run",
    "tool --key={} run",
    "use key {} for it",
    "the key `{}` works",
    "the key is '{}'",
    "the token {} works",
    "- name: KEY\n  value: {}\n",
    "?key={}&x=1",
]

SIMPLE = "sword" + "fish"
WORDS = [
    "user: admin, pass: {}",
    "login: admin / pass: {}",
    "username = admin and pass: {}",
    "creds: admin:{}",
    "creds are admin:{}",
]
"""Beside a user's name even a word is a password."""

SHA1, SHA256 = "3f786850e387550fdab836ed7e6dc881de23001b", HEXADECIMAL

KEEPS = [
    "pass: the test passes",
    "pass: 12, fail: 0",
    "pass: 1200ms",
    "PASS: tests/t0001-init.sh",
    "PASS: TestHTTP2Server (0.01s)",
    "--- PASS: TestUTF8Decoding2 (0.00s)",
    "PASS test_login_v2_user3",
    "first pass 1h30m15s, second pass 2h",
    "in the first pass 3f78685 was skipped",
    f"pass {SHA1} to checkout",
    "pass x86_64-w64-mingw32 as the target",
    "pass max_retries=3&wait=2 in the query",
    "pass /home/bob/a1B2c3D4e5 to it",
    "pass bob1@host2.example3 as the sender",
    "login pass rate 99percent",
    "the db pass is slow",
    "user stories pass: 12 of 12 done",
    "user: bob, pass: ok",
    "the pw is hidden",
    "the key is to keep it simple",
    "the key is the order's number",
    "the key: ask first",
    "key=value",
    "KEY=value",
    "key: x1",
    "key: order-2024-0001-item-17",
    "cache key: linux-node-" + SHA256,
    "key: Linux-build-" + SHA256,
    f"the primary key is {SHA1}",
    f"primary_key={SHA256}",
    f"cache_key: {SHA256}",
    f"the public key is {LONG}",
    f"publicKey: '{LONG}'",
    f"idempotency-key: {SHA1}",
    f"gpg: using RSA key {SHA1}",
    "key 3AA5C34371567BD2: public key imported",
    f"commit {SHA1}",
    f"git show {SHA256}",
    "Key: uploads/2024/05/IMG20240501a1B2c3.png",
    "key: /srv/keys/a1B2c3D4e5F6g7H8.pem",
    "tool --key server.key --cert server.crt",
    "tool --key id_ed25519_2024_work_laptop",
    "--key /etc/ssl/private/host1.key",
    "the key is 123e4567-e89b-12d3-a456-426614174000",
    '{"key": "ArrowDown", "code": "KeyA1"}',
    "if (event.key === 'ArrowDown') go()",
    "<key>CFBundleShortVersionString2</key>",
    "key = myServiceAccountName2024Production",
    "keys: [a, b]",
    "the token TOKEN_TYPE_IDENTIFIER_2 is read",
    "creds: see the vault",
    "creds: include",
    "creds = load_creds()",
    "creds: Credentials::new()",
    "the creds are in docs/setup.md",
    "creds: config.py:120",
    "creds: type: string",
    "creds: type:string",
    "creds: vault:secrets.json",
    "creds: $USER:$PASS",
]


def assert_gone(text: str, secret: str) -> None:
    """Hold that redaction takes `secret` out once and for all, and leaves JSON as JSON."""
    redacted = redact(text)
    assert secret.rstrip("=") not in redacted
    assert REPLACEMENT in redacted
    assert redact(redacted) == redacted
    if text.startswith("{"):
        json.loads(redacted)


@pytest.mark.parametrize("row", PASSWORD_ROWS)
@pytest.mark.parametrize("secret", PASSWORDS)
def test_a_password_behind_a_short_name_goes(row: str, secret: str) -> None:
    """`pass`, `pw` and `creds`, with a sign, a verb or nothing between."""
    assert_gone(row.format(secret), secret)


@pytest.mark.parametrize("row", KEY_ROWS)
@pytest.mark.parametrize("secret", KEYS)
def test_a_long_key_behind_a_bare_key_goes(row: str, secret: str) -> None:
    """In prose, settings, code, JSON and commands."""
    assert_gone(row.format(secret), secret)


@pytest.mark.parametrize("row", WORDS)
def test_a_word_beside_a_user_s_name_goes(row: str) -> None:
    """What stands around it tells more than its looks."""
    assert_gone(row.format(SIMPLE), SIMPLE)


@pytest.mark.parametrize("text", KEEPS)
def test_what_only_has_such_a_name_before_it_stays(text: str) -> None:
    """Verdicts, counts, hashes, paths, names of keys and sentences."""
    assert redact(text) == text


def test_a_value_under_such_a_name_goes_by_its_looks() -> None:
    """As a field, a pair of name and value, and behind a flag; what else is said beside it stays."""
    value = {
        "key": LONG,
        "Key": "uploads/a.png",
        "key_2": f"words and password={LONG}",
        "creds": f"admin:{PASSWORDS[0]}",
        "pair": {"name": "JWT_KEY", "value": HEXADECIMAL},
        "other": {"name": "KEY", "value": "words"},
        "list": ["tool", "--key", LONG, "--key", "server.key", "--pass", PASSWORDS[1]],
        "count": [{"key": 5}],
    }
    assert redact_value(value) == {
        "key": REPLACEMENT,
        "Key": "uploads/a.png",
        "key_2": f"words and password={REPLACEMENT}",
        "creds": REPLACEMENT,
        "pair": {"name": "JWT_KEY", "value": REPLACEMENT},
        "other": {"name": "KEY", "value": "words"},
        "list": ["tool", "--key", REPLACEMENT, "--key", "server.key", "--pass", REPLACEMENT],
        "count": [{"key": 5}],
    }
