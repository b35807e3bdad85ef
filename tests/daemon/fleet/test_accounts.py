"""Whose batches a worker can deliver follows from the keys that are here now."""

from pathlib import Path

import pytest

from daemon.api_key.source import KeySource
from daemon.fleet.accounts import Accounts
from tests.daemon.fleet.own_account import own_account
from tests.fakes.scripted_platform import ScriptedPlatform


def accounts(directory: Path | None, *, own_key: str = "", needs_no_key: bool = False) -> Accounts:
    return own_account(KeySource(environment_key=own_key), directory, needs_no_key=needs_no_key)


def key(path: Path, words: str = "k-1") -> None:
    path.write_text(words)
    path.chmod(0o600)


def test_before_it_has_looked_it_serves_nobody(tmp_path: Path) -> None:
    assert accounts(tmp_path, own_key="k-0").serves.accounts == frozenset()


@pytest.mark.parametrize(
    ("own_key", "needs_no_key", "served"), [("k-0", False, {"own"}), ("", False, set()), ("", True, {"own"})]
)
def test_its_own_account_is_served_with_a_key_or_where_none_is_asked_for(
    own_key: str, needs_no_key: bool, served: set[str]
) -> None:
    """Without one the platform would refuse it, and hold the account for the workers that have a key."""
    made = accounts(None, own_key=own_key, needs_no_key=needs_no_key)
    made.look()
    assert made.serves.accounts == served
    assert made.serves.destination == ScriptedPlatform().destination


def test_a_key_that_comes_or_goes_is_seen_at_the_next_look(tmp_path: Path) -> None:
    made = accounts(tmp_path)
    assert not made.look()
    key(tmp_path / "ann")
    assert made.look()
    assert made.serves.accounts == {"ann"}
    assert not made.look()
    assert made.account("ann") is not None
    (tmp_path / "ann").unlink()
    assert made.look()
    assert made.serves.accounts == frozenset()


def test_what_is_no_accounts_key_is_passed_over(tmp_path: Path) -> None:
    """Hidden files, directories, empty files, names too long; and a directory that is not there."""
    key(tmp_path / ".hidden")
    key(tmp_path / "empty", "")
    key(tmp_path / ("x" * 101))
    (tmp_path / "directory").mkdir()
    made = accounts(tmp_path)
    assert not made.look()
    assert not accounts(tmp_path / "nowhere").look()


def test_one_key_is_told_from_another(tmp_path: Path) -> None:
    key(tmp_path / "ann")
    made = accounts(tmp_path)
    made.look()
    before = made.fingerprints()["ann"]
    key(tmp_path / "ann", "k-22")
    assert made.fingerprints()["ann"] not in ("", before)
