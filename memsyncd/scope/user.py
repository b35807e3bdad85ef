"""Who the memories belong to (facts 5.17, 5.18)."""

from collections.abc import Callable, Mapping

from memsyncd.platforms.wildcards import is_wildcard

DEFAULT_USER = "default"

VARIABLES = ("MEM0_CODE_USER_ID", "MEM0_USER_ID", "MEM0_RESOLVED_USER_ID", "USER", "USERNAME")
"""In this order, after a configured id."""


def identity(text: str) -> str:
    """Return `text` trimmed, or an empty string where it is unset or a wildcard."""
    return "" if is_wildcard(text) else text.strip()


def user_id(environ: Mapping[str, str], configured: str = "", *, account: Callable[[], str] | None = None) -> str:
    """Return the user id: configured, the environment's (VARIABLES), the operating system's account, `default`.

    `account` looks the account's name up and is asked only when nothing else says it; an OSError or KeyError of it
    counts as no answer.
    """
    for text in (configured, *(environ.get(name, "") for name in VARIABLES)):
        if found := identity(text):
            return found
    try:
        return identity(account() if account else "") or DEFAULT_USER
    except (OSError, KeyError):
        return DEFAULT_USER
