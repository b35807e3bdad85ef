"""Who events are from: a random id of this machine, or the account where the user allowed it (facts 12.22 to 12.25)."""

import errno
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memsyncd.clock import Clock
from memsyncd.telemetry import private_file

NAME = "telemetry-identity.json"
ANONYMOUS_PREFIX = "code-anon-"
"""Facts 12.22."""

FINGERPRINT_LENGTH = 16

_ATTEMPTS, _PATIENCE_SECONDS = 20, 1.0
"""At a file that other processes change at the same time: how often it is read again, how long one change may take."""

ASK_EVERY_SECONDS = 3600.0
"""How often the platform is asked whose a key is, while the answer is missing."""


@dataclass(frozen=True, slots=True)
class State:
    """What is kept. `email` is empty without an account; `fingerprint` is that of the key it belongs to.

    `aliased` says that an alias was given out, or may have been; `asked_at`, Unix seconds, and `asked_for`, a
    fingerprint, when the platform was last asked and for which key.
    """

    anonymous_id: str
    email: str = ""
    fingerprint: str = ""
    aliased: bool = False
    asked_at: float = 0.0
    asked_for: str = ""

    @property
    def distinct_id(self) -> str:
        """The id events carry."""
        return self.email or self.anonymous_id


@dataclass(frozen=True, slots=True)
class Alias:
    """The machine's id until now, and the account it turned out to be. Told to the endpoint once only."""

    anonymous_id: str
    email: str


def fingerprint(key: str) -> str:
    """Return 16 hex digits of SHA-256 of an API key, empty for none (facts 12.23)."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:FINGERPRINT_LENGTH] if key else ""


def decide(state: State, key_fingerprint: str, resolved_email: str | None, fresh_id: str) -> tuple[State, Alias | None]:
    """Return the state after the key and what the platform says of it, and the alias to be told, if any. Pure.

    `key_fingerprint` is empty without a key or without leave to tell the account. `resolved_email` is None where the
    platform was not asked or did not answer, empty where it knows nobody. `fresh_id` is taken where the account is
    left: events after it must not join the ones before (facts 20.14).
    """
    if not key_fingerprint:
        return (_anonymous(state, fresh_id) if state.email else state), None
    if resolved_email:
        return _known(state, key_fingerprint, resolved_email)
    if not state.email or state.fingerprint == key_fingerprint:
        return state, None
    if not state.fingerprint and resolved_email is None:
        return state, None  # not verified, and not refuted: kept for now (facts 12.24)
    return _anonymous(state, fresh_id), None


def _known(state: State, key_fingerprint: str, email: str) -> tuple[State, Alias | None]:
    known = replace(state, email=email, fingerprint=key_fingerprint)
    if state.email or state.aliased:
        return known, None  # never e-mail to e-mail, and never twice (facts 12.25)
    return replace(known, aliased=True), Alias(state.anonymous_id, email)


def _anonymous(state: State, fresh_id: str) -> State:
    return replace(state, anonymous_id=fresh_id, email="", fingerprint="")


def wants_answer(state: State, key_fingerprint: str, now: float) -> bool:
    """Whether the platform is to be asked whose the key is: not known yet, and not asked within the hour. Pure."""
    if not key_fingerprint or (state.email and state.fingerprint == key_fingerprint):
        return False
    return state.asked_for != key_fingerprint or not 0 <= now - state.asked_at < ASK_EVERY_SECONDS


class Identity:
    """The identity kept in the file `path`, 0600. `new_id` gives a random text. Safe from any process.

    An id that cannot be kept would be another one each time: so both calls raise OSError where the file cannot be
    read or written.
    """

    def __init__(self, path: Path, new_id: Callable[[], str], clock: Clock) -> None:
        self._path = path
        self._new_id = new_id
        self._clock = clock

    def current(self) -> State:
        """Return the state as it is kept; a random id is made at the first call. Raises OSError."""
        return self._read()[0]

    def settle(self, key: str = "", resolve: Callable[[], str | None] | None = None) -> tuple[State, Alias | None]:
        """Bring the identity up to date with the platform's API key; return it and an alias to be told, if any.

        `key` is empty without one, and without leave to tell the account. `resolve` asks the platform whose the key
        is, when that is not known yet: the e-mail, an empty text for nobody, None for no answer. Saved before it is
        returned, so an alias is given out at most once. Raises OSError, and what `resolve` raises.
        """
        mark = fingerprint(key)
        email: str | None = None
        asked_at: float | None = None
        for _ in range(_ATTEMPTS):
            state, content = self._read()
            if asked_at is None and resolve is not None and wants_answer(state, mark, self._clock.wall()):
                email, asked_at = resolve(), self._clock.wall()
            asked = state if asked_at is None else replace(state, asked_at=asked_at, asked_for=mark)
            after, alias = decide(asked, mark, email, self._fresh_id())
            if after == state or self._swap(content, after):
                return after, alias
        raise _contended(self._path)

    def _read(self) -> tuple[State, bytes]:
        """Return the state and the bytes it was read from; make or mend them where need be."""
        for _ in range(_ATTEMPTS):
            content = private_file.read(self._path)
            if content is None:
                private_file.publish(self._path, _to_bytes(State(self._fresh_id())))
                continue
            state = _from_bytes(content)
            if state is not None:
                return state, content
            # Whether the lost one had been aliased is not known, and twice is worse than never.
            self._swap(content, State(self._fresh_id(), aliased=True))
        raise _contended(self._path)

    def _swap(self, content: bytes, state: State) -> bool:
        return private_file.swap(self._path, content, _to_bytes(state), patience=_PATIENCE_SECONDS)

    def _fresh_id(self) -> str:
        return ANONYMOUS_PREFIX + self._new_id()


def _contended(path: Path) -> OSError:
    return BlockingIOError(errno.EAGAIN, "other processes keep changing it", str(path))


def _to_bytes(state: State) -> bytes:
    document = {name: getattr(state, name) for name in State.__slots__}
    return json.dumps(document, indent=2).encode("ascii") + b"\n"


def _from_bytes(content: bytes) -> State | None:
    """Return the state, or None for what is none."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    anonymous_id = document.get("anonymous_id")
    if not isinstance(anonymous_id, str) or not anonymous_id.startswith(ANONYMOUS_PREFIX):
        return None
    texts = {name: document.get(name, "") for name in ("email", "fingerprint", "asked_for")}
    return State(
        anonymous_id,
        aliased=document.get("aliased") is not False,
        asked_at=_seconds(document.get("asked_at")),
        **{name: text if isinstance(text, str) else "" for name, text in texts.items()},
    )


def _seconds(value: object) -> float:
    try:
        return float(value) if isinstance(value, float | int) else 0.0
    except OverflowError:
        return 0.0
