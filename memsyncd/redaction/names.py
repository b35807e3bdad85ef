"""Which names announce a secret: `db_password`, `clientSecret`, `X-Api-Key`, but not `max_tokens` or `token_count`."""

import re
from enum import Enum
from functools import lru_cache


class Kind(Enum):
    """What a name says about the value after it."""

    PASSWORD = "password"  # noqa: S105  (the kind's name)
    SECRET = "secret"  # noqa: S105  (the kind's name)
    PASS = "pass"  # noqa: S105  (the kind's name)
    """Bare `pass`: a password in a connection string, a verdict in a test report."""
    PWD = "pwd"  # noqa: S105  (the kind's name)
    """Bare `pwd`: a password, or the working directory; bare `pw`: a password, or a variable of any kind."""
    AUTH = "auth"
    """Bare `auth`: a secret only where the value looks like base64."""
    KEY = "key"
    """`key` of anything: a secret only where the value looks drawn by chance."""
    LOGIN = "login"
    """`creds`: a name and a password, or a word about them."""
    AUTHORIZATION = "authorization"
    COOKIE = "cookie"


_WORD = re.compile(r"[A-Z\u00d1\u0303]+(?![a-z])|[A-Z]?[a-z\u00f1\u0303]+|[0-9]+")

_PASSWORDS = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrase\u00f1a",
    "contrasen\u0303a",
    "contrasena",
)
UNSPACED_PASSWORDS = (
    "\u5bc6\u7801", "\u5bc6\u78bc", "\u53e3\u4ee4",  # Chinese
    "\u30d1\u30b9\u30ef\u30fc\u30c9", "\u6697\u8a3c\u756a\u53f7",  # Japanese
    "\ube44\ubc00\ubc88\ud638",  # Korean
    "\u043f\u0430\u0440\u043e\u043b\u044c",  # Russian, whose sentences go without "is"
)  # fmt: skip
"""Passwords in scripts whose words are not told apart by spaces, or not by the letters known here."""

_JOINED_PASSWORDS = frozenset({"storepass", "keypass", "sshpass", "userpass", "dbpass"})
_SECRETS = (
    "secret",
    "secrets",
    "credential",
    "credentials",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "accountkey",
)
_KEY_OWNERS = frozenset(
    {
        "api", "access", "account", "admin", "auth", "client", "deploy", "encryption", "license", "master", "private",
        "secret", "service", "session", "shared", "signing", "storage", "subscription", "webhook", "write",
    }
)  # fmt: skip
"""`X key` is a secret for these X; `primary key`, `cache key`, `public key` are not."""

_PLAIN_KEYS = frozenset(
    {
        "bucket", "cache", "composite", "dedupe", "dsa", "ecdsa", "ed25519", "eddsa", "etag", "foreign", "gpg", "group",
        "hash", "host", "idempotency", "index", "lookup", "map", "message", "object", "partition", "pgp", "primary",
        "public", "query", "react", "registry", "routing", "row", "rsa", "s3", "sort", "trace", "translation", "unique",
    }
)  # fmt: skip
"""`X key` is a name, a number or known to everybody for these X, whatever it looks like."""

PASS_OWNERS = frozenset(
    {
        "admin", "auth", "broker", "database", "db", "docker", "email", "ftp", "git", "http", "imap", "key", "keystore",
        "ldap", "login", "mail", "mongo", "my", "mysql", "pg", "pop", "postgres", "proxy", "rabbitmq", "redis",
        "registry", "root", "smtp", "sql", "ssh", "store", "sudo", "user", "wifi",
    }
)  # fmt: skip
"""`X_pass` is a password for these X; `first_pass` and `tests_pass` are not."""

_NOT_SECRET_TOKENS = frozenset(
    {
        "bos", "cls", "completion", "continuation", "cursor", "current", "design", "end", "eos", "first", "input",
        "last", "mask", "max", "min", "next", "num", "output", "pad", "page", "per", "prev", "previous", "prompt",
        "sep", "special", "start", "stop", "sub", "sync", "total", "unk",
    }
)  # fmt: skip
"""`X token` is a piece of text or a cursor for these X."""

_SUFFIXES = frozenset(
    {
        "b64", "b", "base", "base64", "confirm", "confirmation", "dev", "hash", "live", "local", "new", "old",
        "plain", "plaintext", "prod", "production", "raw", "staging", "string", "test", "text", "v", "val", "value",
    }
)  # fmt: skip
"""Words that may follow the telling one; any other (`token_count`, `password_file`) makes it harmless."""

_WHOLE = {
    "pass": Kind.PASS,
    "pwd": Kind.PWD,
    "pw": Kind.PWD,
    "motdepasse": Kind.PASSWORD,
    "cred": Kind.LOGIN,
    "auth": Kind.AUTH,
    "authorization": Kind.AUTHORIZATION,
    "proxyauthorization": Kind.AUTHORIZATION,
    "cookie": Kind.COOKIE,
    "setcookie": Kind.COOKIE,
}


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """Return what `name` (any case style, with `_`, `-`, `.`, spaces or camel case) announces, or None."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and (words[-1].isdigit() or words[-1] in _SUFFIXES):
        words.pop()
    whole = _WHOLE.get("".join(words))
    if whole is not None:
        return whole
    if words and words[-1] == "creds":
        return Kind.LOGIN
    if not words and name.lower().endswith(UNSPACED_PASSWORDS):
        return Kind.PASSWORD
    return _kind_of_words(words) if words else None


def announces(name: str) -> bool:
    """Return whether `name` itself says that a secret follows; that of a key or a login only the value can tell."""
    return kind_of(name) not in {None, Kind.KEY, Kind.LOGIN}


def _kind_of_words(words: list[str]) -> Kind | None:
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if (
        last.endswith(_PASSWORDS)
        or last in _JOINED_PASSWORDS
        or (last in {"pass", "pwd", "pw"} and before in PASS_OWNERS)
    ):
        return Kind.PASSWORD
    if last.endswith(_SECRETS) or (last == "key" and before in _KEY_OWNERS):
        return Kind.SECRET
    if last == "key":
        return Kind.KEY if _PLAIN_KEYS.isdisjoint(words) else None
    if last == "authorization":
        return Kind.AUTHORIZATION
    if last == "signature" and before in {"amz", "goog"}:
        return Kind.SECRET
    return Kind.SECRET if _is_token(last, before) and "public" not in words else None


def _is_token(last: str, before: str) -> bool:
    if not last.endswith("token"):
        return False
    joined = last.removesuffix("token")
    return (joined or before) not in _NOT_SECRET_TOKENS
