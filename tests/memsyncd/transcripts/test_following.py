"""Following a file: from a stored offset, through growth, cuts and replacement; bounded; and only where it may lie."""

import json
import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsyncd.evidence.transcript_offsets import TranscriptOffset
from memsyncd.transcripts import following, place
from memsyncd.transcripts.errors import TranscriptMissing, TranscriptRefused, TranscriptUnreadable
from memsyncd.transcripts.following import Look
from memsyncd.transcripts.sources import SOURCES
from memsyncd.transcripts.taking import Choice, Wanted, at_last, choose
from memsyncd.transcripts.turn import Exchange, Turn
from tests.memsyncd.transcripts.recordings import RECORDINGS, jsonl

OVER = Wanted(is_answer_due=False, is_session_over=True)


def look(path: Path, name: str = "kimi-code", known: TranscriptOffset | None = None) -> Look:
    opened = place.open_transcript(str(path), below=[path.parent], owner=os.geteuid())
    try:
        return following.look(RECORDINGS[name][0], opened, "s", known)
    finally:
        os.close(opened.descriptor)


def take(
    path: Path, name: str, known: TranscriptOffset | None, wanted: Wanted = OVER
) -> tuple[list[str], TranscriptOffset]:
    """Return the answers that a look takes, and what is known after it."""
    found = look(path, name, known)
    choice = choose(found, wanted)
    taken = choice.taken if choice.is_whole else at_last(choice)
    reached = following.after(found, taken) if taken else known or TranscriptOffset("s", not_before=1.0)
    return [each.answer.text for each in taken if each.answer is not None], reached


@pytest.mark.parametrize("name", [name for name in sorted(RECORDINGS) if name != "cursor"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_grows_by_any_pieces_gives_every_answer_once(
    name: str, data: st.DataObject, tmp_path: Path
) -> None:
    """Looks at any length of it, each stored and taken up again, give what one look at the whole gives."""
    path = tmp_path / "t.jsonl"
    content = jsonl(RECORDINGS[name][1])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4)))
    known = TranscriptOffset("s", not_before=1.0)
    answers: list[str] = []
    path.write_bytes(b"")
    for cut in [*cuts, len(content)]:
        path.write_bytes(b"") if cut == 0 else _grow(path, content[:cut])
        found = look(path, name, known)
        choice = choose(found, OVER)
        if choice.is_whole or cut == len(content):
            new, known = take(path, name, known)
            answers += new
    path_of_all = [each.answer.text for each in look(path, name).exchanges if each.answer is not None]
    assert "".join(answers) == "".join(path_of_all)


def _grow(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content[path.stat().st_size :])


def test_a_file_is_known_by_its_number_and_its_head(tmp_path: Path) -> None:
    """Grown, it is read on from the offset; shorter, with another head or another number, from its beginning."""
    path = tmp_path / "t.jsonl"
    content = jsonl(RECORDINGS["kimi-code"][1])
    path.write_bytes(content)
    _, known = take(path, "kimi-code", TranscriptOffset("s", not_before=1.0))
    assert known.offset == len(content)
    assert not look(path, known=known).is_anew
    _grow(path, content + content)
    assert not look(path, known=known).is_anew
    assert look(path, known=replace(known, inode=known.inode + 1)).is_anew
    assert look(path, known=replace(known, head_digest="0" * 32)).is_anew
    assert look(path, known=replace(known, offset=len(content) * 3)).is_anew
    with path.open("r+b") as file:  # the same head and more of it, and other lines in between
        file.seek(1_024)
        file.write(b" " * (known.offset - 1_024))
    assert look(path, known=known).is_anew
    path.write_bytes(content[:-200])
    again = look(path, known=known)
    assert again.is_anew
    assert not choose(again, Wanted()).taken  # what it holds was taken


def test_the_tail_of_a_large_file_costs_milliseconds_and_little_memory(tmp_path: Path) -> None:
    """100 MB lie before the offset and are never read; memory is that of a piece and of what is said in it."""
    path = tmp_path / "t.jsonl"
    tail = jsonl(RECORDINGS["kimi-code"][1])
    with path.open("wb") as file:
        file.write(tail)
        file.truncate(100_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + tail)
    known = replace(look(path).reached, offset=100_000_001, taken=())
    tracemalloc.start()
    begun = time.thread_time()
    found = look(path, known=known)
    seconds = time.thread_time() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.exchanges) == 2
    assert seconds < 0.25
    assert peak < 2_000_000


def test_of_too_much_only_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file met for the first time may be of any size; what is passed over is counted."""
    monkeypatch.setattr(following, "MAX_UNREAD", 20_000)
    monkeypatch.setattr(following, "TAIL", 10_000)
    path = tmp_path / "t.jsonl"
    records = RECORDINGS["kimi-code"][1]
    path.write_bytes(jsonl([{"type": "usage.record", "n": n} for n in range(2_000)]) + jsonl(records))
    found = look(path)
    assert len(found.exchanges) == 2
    assert found.bytes_passed_over == path.stat().st_size - 10_000
    assert found.lines_passed_over == 0
    assert found.reached.offset == path.stat().st_size


def _named(made: Callable[[Path], object], path: Path) -> Path:
    made(path)
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.symlink_to(_named(lambda aside: aside.write_text("{}\n"), path.with_name("aside"))), "link"),
        (os.mkfifo, "regular"),
        (lambda path: path.mkdir(), "regular"),
        (lambda path: None, "nothing"),
    ],
)
def test_what_is_no_plain_file_is_refused(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    """Neither followed nor waited for, and said with a reason."""
    path = tmp_path / "t.jsonl"
    make(path)
    with pytest.raises(TranscriptUnreadable, match=why):
        look(path)


@pytest.mark.parametrize(
    "named",
    [
        "",
        "relative.jsonl",
        "/",
        "/etc/passwd",
        "{home}",
        "{home}/..",
        "{home}/../other/t.jsonl",
        "{home}/a\0b",
        "/" + "x" * 5_000,
    ],
)
def test_only_what_lies_in_its_place_is_opened(tmp_path: Path, named: str) -> None:
    """A path may name anything: a hook's input is another program's word."""
    home = tmp_path / "home"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "t.jsonl").write_text("{}\n")
    home.mkdir()
    with pytest.raises((TranscriptRefused, TranscriptMissing)):
        place.open_transcript(named.format(home=home), below=[home], owner=os.geteuid())
    (home / "way").symlink_to(tmp_path / "other")
    with pytest.raises(TranscriptRefused):
        place.open_transcript(str(home / "way" / "t.jsonl"), below=[home], owner=os.geteuid())


def test_a_home_that_is_a_link_is_the_users_home_all_the_same(tmp_path: Path) -> None:
    """As on systems where /home leads elsewhere."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "t.jsonl").write_text("{}\n")
    (tmp_path / "home").symlink_to(real)
    opened = place.open_transcript(str(tmp_path / "home" / "t.jsonl"), below=[tmp_path / "home"], owner=os.geteuid())
    os.close(opened.descriptor)


def test_a_path_comes_from_the_hook_or_from_the_known_place(tmp_path: Path) -> None:
    """The hook's word counts first; of several files in a known place the newest; an odd session id finds none."""
    kimi, around = SOURCES["kimi"], place.Around(tmp_path)
    assert place.path_of(kimi, {"transcript_path": "~/t.jsonl"}, "s", around) == str(tmp_path / "t.jsonl")
    assert place.path_of(kimi, {"transcriptPath": "/h/t.jsonl"}, "s", around) == "/h/t.jsonl"
    assert place.path_of(kimi, {"transcript_path": None}, "s", around) == ""
    for number, where in enumerate(("a_1", "b_2")):
        wire = tmp_path / ".kimi-code" / "sessions" / where / "s" / "agents" / "main" / "wire.jsonl"
        wire.parent.mkdir(parents=True)
        wire.write_text("{}\n")
        os.utime(wire, (1_000 - number, 1_000 - number))
    assert "/a_1/" in place.path_of(kimi, {}, "s", around)
    for odd in ("*", "..", "s/../s", "", "[s]", "x" * 300):
        assert place.path_of(kimi, {}, odd, around) == ""
    assert place.path_of(kimi, {}, "s", place.Around(tmp_path, "relative")) != ""
    assert place.path_of(kimi, {}, "s", place.Around(tmp_path, str(tmp_path / "moved"))) == ""


@pytest.mark.parametrize("is_link", [True, False])
def test_a_harness_s_directory_may_lie_elsewhere(is_link: bool, tmp_path: Path) -> None:
    """On another disk, where a link of the user's or the harness's own variable leads to; nowhere else."""
    home, disk = tmp_path / "home", tmp_path / "disk"
    wire = disk / "kimi" / "sessions" / "a_1" / "s" / "agents" / "main" / "wire.jsonl"
    wire.parent.mkdir(parents=True)
    wire.write_text("{}\n")
    (disk / "t.jsonl").write_text("{}\n")
    home.mkdir()
    around = place.Around(home) if is_link else place.Around(home, str(disk / "kimi"))
    if is_link:
        (home / ".kimi-code").symlink_to(disk / "kimi")
    kimi = SOURCES["kimi"]
    path = place.path_of(kimi, {}, "s", around)
    assert os.path.realpath(path) == str(wire)
    os.close(place.open_transcript(path, below=around.roots(kimi), owner=os.geteuid()).descriptor)
    with pytest.raises(TranscriptRefused, match="outside"):
        place.open_transcript(str(disk / "t.jsonl"), below=around.roots(kimi), owner=os.geteuid())


def exchange(number: int, *, at: float | None = None, over: bool = True, answered: bool = True) -> Exchange:
    return Exchange(
        (Turn("user", f"q{number}", f"u{number}", at),), (Turn("assistant", "a", "", at),), over, answered, number
    )


def found(
    *exchanges: Exchange, anew: bool = False, torn: bool = False, not_before: float = 0.0, taken: tuple[int, ...] = ()
) -> Look:
    names = tuple(exchange(number).key for number in taken)
    return Look(exchanges, TranscriptOffset("s", not_before=not_before, taken=names), torn, anew)


E1, E2, E3 = (exchange(number, at=100.0 * number) for number in (1, 2, 3))
OPEN = exchange(4, at=400.0, over=False)
BUSY = exchange(5, at=500.0, over=False, answered=False)


@pytest.mark.parametrize(
    ("look_found", "wanted", "numbers", "is_whole"),
    [
        (found(E1, E2), Wanted(), [1, 2], True),
        (found(E1, E2, E3), Wanted(until=250.0), [1, 2], True),
        (found(E1, E2), Wanted(is_last_only=True), [2], True),
        (found(E1, E2), Wanted(is_last_only=True, not_before=250.0), [], False),
        (found(), Wanted(), [], False),
        (found(E1, OPEN), Wanted(), [1, 4], False),
        (found(E1, OPEN), Wanted(until=150.0), [1], True),
        (found(E1, OPEN), OVER, [1, 4], False),
        (found(E1, torn=True), OVER, [1], False),
        (found(E1, torn=True), Wanted(), [1], True),
        (found(), OVER, [], True),
        (found(E1, OPEN), Wanted(is_answer_due=False), [1], True),
        (found(E1, E2, E3, anew=True), Wanted(), [3], True),
        (found(E1, E2, E3, anew=True, taken=(1,)), Wanted(), [2, 3], True),
        (found(E1, E2, E3, anew=True, taken=(1, 3)), Wanted(), [], False),
        (found(E1, E2, E3, anew=True, not_before=150.0), Wanted(), [2, 3], True),
        (found(E1, E2, E3, not_before=250.0), Wanted(), [3], True),
        (found(exchange(1), exchange(2), anew=True, not_before=150.0), Wanted(), [2], True),
    ],
)
def test_what_is_taken_of_a_look(look_found: Look, wanted: Wanted, numbers: list[int], is_whole: bool) -> None:
    """The exchanges of the handoff and no others; and whether another look is worth while."""
    choice = choose(look_found, wanted)
    assert ([each.start for each in choice.taken], choice.is_whole) == (numbers, is_whole)


def test_at_last_an_open_exchange_with_an_answer_is_taken_and_one_without_is_left() -> None:
    """What is still at work may answer later; what has answered may never say that it is over."""
    assert [each.start for each in at_last(Choice([E1, OPEN], is_whole=False))] == [1, 4]
    assert [each.start for each in at_last(Choice([E1, BUSY], is_whole=False))] == [1]
    assert at_last(Choice([], is_whole=False)) == []


def test_an_offset_stands_where_the_next_exchange_begins() -> None:
    """So that nothing of it is lost, and nothing before it is read again."""
    three = found(E1, E2, E3)
    assert following.after(three, [E1, E2]).offset == E3.start
    assert following.after(replace(three, reached=replace(three.reached, offset=99)), [E1, E2, E3]).offset == 99
    many = [exchange(number) for number in range(300)]
    assert len(following.after(found(*many), many).taken) == following.TAKEN
    assert json.dumps(following.after(found(*many), many).taken)
    assert list(choose(found(*many), Wanted()).taken) == many


def test_a_file_that_shrinks_while_it_is_read_is_not_complete(tmp_path: Path) -> None:
    """What is missing of it is no end of a line; the next look sees another file."""
    path = tmp_path / "t.jsonl"
    content = jsonl(RECORDINGS["kimi-code"][1])
    path.write_bytes(content)
    opened = place.open_transcript(str(path), below=[tmp_path], owner=os.geteuid())
    os.truncate(path, 0)
    found = following.look(RECORDINGS["kimi-code"][0], opened, "s", None)
    os.close(opened.descriptor)
    assert (found.exchanges, found.is_torn) == ([], True)


def test_a_tail_without_the_end_of_a_line_is_nothing_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line may be longer than what is read at the end."""
    monkeypatch.setattr(following, "MAX_UNREAD", 2_000)
    monkeypatch.setattr(following, "TAIL", 1_000)
    monkeypatch.setattr(following, "CHUNK", 300)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 5_000)
    found = look(path)
    assert (found.exchanges, found.reached.offset) == ([], 5_000)
