"""What a check finds."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """`message` says what was measured; `remedy` what to type where it is not well, and may be a hint where it is.

    One that could not be made is `ok`, for it found no fault, and `ran` tells it apart; its message says why. None of
    the texts ever holds a secret.
    """

    name: str
    ok: bool
    message: str
    remedy: str = ""
    ran: bool = True

    def document(self) -> dict[str, Any]:
        """Return CONTRACT's JSON."""
        return {"name": self.name, "ok": self.ok, "message": self.message, "remedy": self.remedy, "ran": self.ran}


def passed(name: str, message: str, hint: str = "") -> Check:
    """Return a check that found all well."""
    return Check(name, ok=True, message=message, remedy=hint)


def failed(name: str, message: str, remedy: str) -> Check:
    """Return a check that found something wrong."""
    return Check(name, ok=False, message=message, remedy=remedy)


def unchecked(name: str, why: str, hint: str = "") -> Check:
    """Return a check that could not be made, or that there is nothing for."""
    return Check(name, ok=True, message=f"not checked: {why}", remedy=hint, ran=False)
