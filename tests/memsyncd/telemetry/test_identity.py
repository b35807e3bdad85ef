"""Who events are from (facts 12.22 to 12.25, 20.14)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memsyncd.telemetry.identity import (
    ASK_EVERY_SECONDS,
    Alias,
    Identity,
    State,
    decide,
    fingerprint,
    wants_answer,
)
from tests.clocks import HandClock
from tests.memsyncd.telemetry.children import race

ADA, BOB = "ada@example.org", "bob@example.org"
ONE, TWO = fingerprint("key-one"), fingerprint("key-two")
ANON, FRESH = "code-anon-1", "code-anon-fresh"


def test_a_fingerprint_is_16_digits_of_the_key() -> None:
    """16 hex of SHA-256 of the key (12.23); no key, no fingerprint."""
    assert fingerprint("m0-x") == "1d1c8abc4fdcfd85"
    assert fingerprint("") == ""


NOBODY = State(ANON)
NOBODY_AGAIN = State(ANON, aliased=True)
KNOWN = State(ANON, ADA, ONE, aliased=True)
UNVERIFIED = State(ANON, ADA, "", aliased=True)
LEFT = State(FRESH, aliased=True)


@pytest.mark.parametrize(
    ("state", "key", "resolved", "after", "alias"),
    [
        # Nobody yet: anonymous until the platform names somebody, and then one alias (12.22, 12.25).
        (NOBODY, "", None, NOBODY, None),
        (NOBODY, "", ADA, NOBODY, None),
        (NOBODY, ONE, None, NOBODY, None),
        (NOBODY, ONE, "", NOBODY, None),
        (NOBODY, ONE, ADA, KNOWN, Alias(ANON, ADA)),
        (NOBODY_AGAIN, ONE, ADA, KNOWN, None),
        # The same key: kept without being asked for again; an account that changed its e-mail is no alias (12.25).
        (KNOWN, ONE, None, KNOWN, None),
        (KNOWN, ONE, "", KNOWN, None),
        (KNOWN, ONE, ADA, KNOWN, None),
        (KNOWN, ONE, BOB, State(ANON, BOB, ONE, aliased=True), None),
        # Another key: whoever it belongs to, without an alias; nobody, or no answer: a new anonymous id (12.23).
        (KNOWN, TWO, BOB, State(ANON, BOB, TWO, aliased=True), None),
        (KNOWN, TWO, ADA, State(ANON, ADA, TWO, aliased=True), None),
        (KNOWN, TWO, "", LEFT, None),
        (KNOWN, TWO, None, LEFT, None),
        (KNOWN, "", None, LEFT, None),
        (KNOWN, "", ADA, LEFT, None),
        # An e-mail without a fingerprint is verified, not adopted; offline keeps it for now (12.24).
        (UNVERIFIED, ONE, ADA, KNOWN, None),
        (UNVERIFIED, ONE, BOB, State(ANON, BOB, ONE, aliased=True), None),
        (UNVERIFIED, ONE, None, UNVERIFIED, None),
        (UNVERIFIED, ONE, "", LEFT, None),
        (UNVERIFIED, "", None, LEFT, None),
        # The same of one that never told an alias: e-mail to e-mail is none (12.25).
        (State(ANON, ADA, ""), ONE, ADA, State(ANON, ADA, ONE), None),
        (State(ANON, ADA, ONE), TWO, BOB, State(ANON, BOB, TWO), None),
    ],
)
def test_the_decision(state: State, key: str, resolved: str | None, after: State, alias: Alias | None) -> None:
    """Each state with each answer."""
    assert decide(state, key, resolved, FRESH) == (after, alias)


@pytest.mark.parametrize(
    ("state", "key", "seconds_later", "asks"),
    [
        (NOBODY, "", 0, False),
        (NOBODY, ONE, 0, True),
        (KNOWN, ONE, 0, False),
        (KNOWN, TWO, 0, True),
        (UNVERIFIED, ONE, 0, True),
        (State(ANON, asked_at=1000.0, asked_for=ONE), ONE, ASK_EVERY_SECONDS - 1, False),
        (State(ANON, asked_at=1000.0, asked_for=ONE), ONE, ASK_EVERY_SECONDS, True),
        (State(ANON, asked_at=1000.0, asked_for=ONE), TWO, 1, True),
        (State(ANON, asked_at=1000.0, asked_for=ONE), ONE, -1, True),
    ],
)
def test_when_the_platform_is_asked(state: State, key: str, seconds_later: float, asks: bool) -> None:
    """Only while it is not known whose the key is, once an hour for each key; a clock set back does not silence it."""
    assert wants_answer(state, key, 1000.0 + seconds_later) is asks


class World(RuleBasedStateMachine):
    """Keys that come, change and go, a platform that answers or does not, and clocks that jump."""

    def __init__(self) -> None:
        super().__init__()
        self.owners: dict[str, str] = {}
        self.state = State("code-anon-0")
        self.number = 0
        self.aliases: list[Alias] = []
        self.left: set[str] = set()

    @rule(key=st.sampled_from(["", "k1", "k2", "k3"]), answer=st.sampled_from(["owner", "nobody", "offline"]))
    def settles(self, key: str, answer: str) -> None:
        """Settle with a key, and what the platform says of it."""
        owner = {"": "", "k1": ADA, "k2": ADA, "k3": BOB}[key]
        resolved = {"owner": owner, "nobody": "", "offline": None}[answer] if key else None
        self.number += 1
        before = self.state
        self.state, alias = decide(before, fingerprint(key), resolved, f"code-anon-{self.number}")
        if alias:
            self.aliases.append(alias)
            assert alias == Alias(before.anonymous_id, owner) and not before.email
        if before.email and not self.state.email:
            self.left.add(before.anonymous_id)
        if self.state.email:
            assert self.state.fingerprint == fingerprint(key)
            assert self.state.email == owner  # never the previous account's (facts 20.14)

    @precondition(lambda self: self.state.email)
    @rule()
    def logs_out(self) -> None:
        """Take the key away: the next id is nobody's yet."""
        self.settles(key="", answer="offline")
        assert self.state.distinct_id == f"code-anon-{self.number}"

    @invariant()
    def at_most_one_alias(self) -> None:
        """One alias in all, and no id that an account was left with is used again."""
        assert len(self.aliases) <= 1
        assert self.state.anonymous_id not in self.left


World.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestAnyOrderOfKeys = World.TestCase
TestAnyOrderOfKeys.__doc__ = "Whatever the order of keys and answers: the right account or none, and one alias."


class Platform:
    """Says whose a key is, and counts how often it is asked."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked = 0

    def __call__(self) -> str | None:
        self.asked += 1
        return self.answer


def identity(directory: Path, hands: HandClock | None = None, first: str = "1") -> Identity:
    ids = iter([first, *map(str, range(100, 200))])
    return Identity(directory / "telemetry-identity.json", lambda: next(ids), (hands or HandClock()).clock())


def test_a_machine_has_one_random_id(tmp_path: Path) -> None:
    """Made at the first look, kept privately, the same afterwards (12.22)."""
    assert identity(tmp_path).current() == State("code-anon-1")
    assert identity(tmp_path, first="2").settle() == (State("code-anon-1"), None)
    [path] = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_account_is_asked_for_once_and_told_once(tmp_path: Path) -> None:
    """With a key and leave the e-mail takes over, with one alias; after that the platform is asked no more (12.25)."""
    platform = Platform(ADA)
    state, alias = identity(tmp_path).settle("key-one", platform)
    assert (state.distinct_id, state.fingerprint) == (ADA, ONE)
    assert alias == Alias("code-anon-1", ADA)
    for _ in range(3):
        state, alias = identity(tmp_path).settle("key-one", platform)
        assert (state.distinct_id, alias, platform.asked) == (ADA, None, 1)
    assert "key-one" not in (tmp_path / "telemetry-identity.json").read_text()


def test_without_leave_nobody_is_asked_and_the_account_is_left(tmp_path: Path) -> None:
    """Without a key, or a way to ask, nothing is asked; and an e-mail known before gives way to a new random id."""
    platform = Platform(ADA)
    identity(tmp_path).settle("key-one", platform)
    state, alias = identity(tmp_path, first="2").settle("", platform)
    assert (state.distinct_id, alias, platform.asked) == ("code-anon-2", None, 1)
    assert ADA not in (tmp_path / "telemetry-identity.json").read_text()


def test_a_platform_that_does_not_answer_is_asked_once_an_hour(tmp_path: Path) -> None:
    """Meanwhile events are anonymous; another key is asked for at once."""
    hands = HandClock()
    platform = Platform(None)
    for _ in range(3):
        state, _ = identity(tmp_path, hands).settle("key-one", platform)
        assert (state.distinct_id, platform.asked) == ("code-anon-1", 1)
    hands.move(ASK_EVERY_SECONDS)
    platform.answer = ADA
    assert identity(tmp_path, hands).settle("key-one", platform)[0].distinct_id == ADA
    platform.answer = BOB
    assert identity(tmp_path, hands).settle("key-two", platform) == (
        State("code-anon-1", BOB, TWO, aliased=True, asked_at=hands.wall_now, asked_for=TWO),
        None,
    )


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '"x"', "{}", '{"anonymous_id": 3}', '{"anonymous_id": "somebody@example.org"}', "\x00" * 9],
)
def test_a_damaged_file_becomes_a_new_id(tmp_path: Path, content: str) -> None:
    """What cannot be read is replaced by a new random id, which is never joined to an account: it may have been."""
    (tmp_path / "telemetry-identity.json").write_text(content)
    state, alias = identity(tmp_path).settle("key-one", Platform(ADA))
    assert (state.anonymous_id, state.email, alias) == ("code-anon-1", ADA, None)
    assert [path.name for path in tmp_path.iterdir()] == ["telemetry-identity.json"]


@pytest.mark.parametrize(
    ("document", "email"),
    [
        ({"anonymous_id": ANON, "email": ADA}, ADA),
        ({"anonymous_id": ANON, "email": 3, "fingerprint": [], "asked_at": "x", "asked_for": None, "more": 1}, ""),
        ({"anonymous_id": ANON, "email": ADA, "asked_at": 10**400}, ADA),
    ],
)
def test_a_file_of_another_version_is_read_as_far_as_it_goes(
    tmp_path: Path, document: dict[str, Any], email: str
) -> None:
    """Fields of another type are read as absent; an e-mail without fingerprint stays while offline (12.24)."""
    (tmp_path / "telemetry-identity.json").write_text(json.dumps(document))
    assert identity(tmp_path).settle("key-one", Platform(None))[0].distinct_id == (email or ANON)


@pytest.mark.parametrize("obstacle", ["directory", "fifo", "link", "no place"])
def test_an_id_that_cannot_be_kept_is_an_error(tmp_path: Path, obstacle: str) -> None:
    """Never a new one each time: an OSError, at once, and nothing else is written."""
    path = tmp_path / "data" / "telemetry-identity.json"
    if obstacle != "no place":
        path.parent.mkdir()
    if obstacle == "directory":
        path.mkdir()
    elif obstacle == "fifo":
        os.mkfifo(path)
    elif obstacle == "link":
        path.symlink_to(tmp_path / "target")
    for _ in range(2):
        with pytest.raises(OSError):
            identity(path.parent).settle("key-one", Platform(ADA))
    assert not (tmp_path / "target").exists()


SETTING = """
import uuid
from pathlib import Path
from memsyncd.clock import Clock
from memsyncd.telemetry.identity import Identity
"""

SETTLE = """
for number in range(10):
    identity = Identity(Path(sys.argv[1]) / f"identity-{number}", lambda: uuid.uuid4().hex, Clock())
    before = identity.current().anonymous_id
    state, alias = identity.settle("key-one", lambda: "ada@example.org")
    print(before, state.distinct_id, alias is not None)
"""


def test_concurrent_processes_have_one_id_and_tell_one_alias(tmp_path: Path) -> None:
    """Processes that start at once agree on the random id, and one of them has the alias to tell (12.25)."""
    results = race(SETTING, SETTLE, [[tmp_path]] * 5)
    for told in zip(*results, strict=True):
        ids, accounts, aliases = zip(*(line.split() for line in told), strict=True)
        assert (len(set(ids)), set(accounts), aliases.count("True")) == (1, {ADA}, 1)
