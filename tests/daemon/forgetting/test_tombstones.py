"""Tombstones: what was captured before is refused, what comes later is not, and the names are not kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from daemon.forgetting.target import Target
from daemon.forgetting.tombstones import MAX_TOMBSTONES, NAME, Tombstones, UnreadableTombstones
from tests.daemon.full_disk import no_file_grows

SESSION = Target("k1", 100.0, session_id="zanzibar")
PROJECT = Target("k2", 100.0, repo_id="git.example.org/a", app_id="a", project_id="a-1", root="/w/zanzibar")


@pytest.mark.parametrize(
    ("session", "repo", "captured_at", "covered"),
    [
        ("zanzibar", "git.example.org/b", 99.0, True),
        ("zanzibar", "git.example.org/b", 100.0, True),
        ("zanzibar", "git.example.org/b", 100.1, False),
        ("other", "git.example.org/a", 99.0, True),
        ("other", "git.example.org/a", 101.0, False),
        ("other", "git.example.org/b", 1.0, False),
        ("git.example.org/a", "zanzibar", 1.0, False),
    ],
)
def test_what_was_captured_before_is_covered(
    tmp_path: Path, session: str, repo: str, captured_at: float, covered: bool
) -> None:
    """Of a forgotten session and of a forgotten project; a name of one kind is none of the other."""
    tombstones = Tombstones(tmp_path)
    for target in (SESSION, PROJECT):
        tombstones.add(target)
    for each in (tombstones, Tombstones(tmp_path)):
        assert each.covers(session_id=session, repo_id=repo, captured_at=captured_at) is covered


def test_a_request_is_unfinished_until_it_is_finished_and_then_leaves_no_name(tmp_path: Path) -> None:
    """The next start finds it as it was asked."""
    Tombstones(tmp_path).add(SESSION)
    assert list(Tombstones(tmp_path).unfinished()) == [SESSION]
    Tombstones(tmp_path).finish(SESSION)
    assert list(Tombstones(tmp_path).unfinished()) == []
    assert "zanzibar" not in (tmp_path / NAME).read_text()
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("later", "left"),
    [
        (replace(SESSION, key="k9", at=200.0), []),
        (replace(SESSION, key="k9", at=99.0), [SESSION]),
        (replace(PROJECT, at=200.0), [SESSION]),
        (replace(SESSION, key="k9", session_id="other", at=200.0), [SESSION]),
    ],
)
def test_a_later_request_for_the_same_finishes_an_earlier_one(
    tmp_path: Path, later: Target, left: list[Target]
) -> None:
    """So that a request which failed once keeps its plain name no longer than the one that did not."""
    tombstones = Tombstones(tmp_path)
    for target in (SESSION, later):
        tombstones.add(target)
    tombstones.finish(later)
    assert list(tombstones.unfinished()) == left


def test_an_earlier_request_that_asked_more_of_the_platform_is_not_finished_by_a_later_one(tmp_path: Path) -> None:
    """It may not have come to queue what is to be deleted there."""
    tombstones = Tombstones(tmp_path)
    earlier, later = replace(SESSION, remote=True), replace(SESSION, key="k9", at=200.0)
    for target in (earlier, later):
        tombstones.add(target)
    tombstones.finish(later)
    assert list(tombstones.unfinished()) == [earlier]


def test_a_full_disk_leaves_the_file_as_it_was_and_no_half_of_another(tmp_path: Path) -> None:
    """What was half written holds names, and nobody would look for it."""
    tombstones = Tombstones(tmp_path)
    tombstones.add(PROJECT)
    with no_file_grows(), pytest.raises(OSError, match="too large"):
        tombstones.add(SESSION)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert list(Tombstones(tmp_path).unfinished()) == [PROJECT]


def test_forgetting_again_covers_what_came_in_between(tmp_path: Path) -> None:
    """And an older request that is repeated takes nothing of it back."""
    tombstones = Tombstones(tmp_path)
    tombstones.add(replace(SESSION, at=200.0))
    tombstones.add(SESSION)
    assert tombstones.covers(session_id="zanzibar", repo_id="", captured_at=150.0)


def test_memories_are_told_by_their_id_and_by_the_names_they_bear(tmp_path: Path) -> None:
    """What a project's memories of a later time say may come in."""
    tombstones = Tombstones(tmp_path)
    tombstones.add(Target("k3", 100.0, memory_id="m-1"))
    tombstones.add(PROJECT)
    assert tombstones.covers_memory("m-1") and not tombstones.covers_memory("m-2")
    names = {"session_id": "s", "app_id": "a", "project_id": "a-1"}
    assert tombstones.covers_made(**names, made_at=99.0) and not tombstones.covers_made(**names, made_at=101.0)
    for owner, covered in (("a", True), ("", True), ("a-2", False)):  # as older versions shared, a person's, another's
        assert tombstones.covers_made(**names | {"project_id": owner}, made_at=99.0) is covered


def test_they_are_bounded_and_the_oldest_go_first(tmp_path: Path) -> None:
    """A file that only grows would be read with every handoff for ever."""
    tombstones = Tombstones(tmp_path)
    tombstones.add(SESSION)
    document = (tmp_path / NAME).read_text()
    stones = ", ".join(f'"{number:032x}": 500.0' for number in range(MAX_TOMBSTONES))
    (tmp_path / NAME).write_text(document.replace('"tombstones": {', '"tombstones": {' + stones + ", "))
    tombstones.add(PROJECT)
    assert tombstones.covers(session_id="", repo_id="git.example.org/a", captured_at=1.0) is False
    assert (tmp_path / NAME).read_text().count(": 500.0") == MAX_TOMBSTONES


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"v": 2, "tombstones": {}, "unfinished": []}'])
def test_a_file_that_cannot_be_read_lets_nothing_in(tmp_path: Path, content: bytes) -> None:
    """Nobody knows what was forgotten; it is the store's trouble, and no handoff's."""
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(UnreadableTombstones):
        Tombstones(tmp_path).covers(session_id="s", repo_id="r", captured_at=1.0)
