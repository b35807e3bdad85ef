"""Formats of transcripts: whole, in pieces, with garbage, taken back, and told twice."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.transcripts import antigravity, claude_code, codex, copilot, cursor, gemini_cli, kimi_code
from memsyncd.transcripts.lines import MAX_LINE
from memsyncd.transcripts.reader import Format, Reader
from tests.memsyncd.transcripts import recordings
from tests.memsyncd.transcripts.recordings import (
    AGAIN,
    ANSWER,
    ANTIGRAVITY,
    CLAUDE_CODE,
    CODEX,
    COPILOT,
    FIRST,
    GEMINI_CLI,
    KIMI_CODE,
    LOOKING,
    RECORDINGS,
    SECOND,
    brain,
    claude,
    happened,
    jsonl,
    loop,
    rollout,
    spoken,
    wire,
)

formats = pytest.mark.parametrize("name", sorted(RECORDINGS))
WITHOUT_AN_END = {"gemini-cli", "cursor"}
"""Formats that tell no end of a turn."""


def read(steps_of: Format, *pieces: bytes) -> Reader:
    reader = Reader(steps_of)
    for piece in pieces:
        reader.feed(piece)
    return reader


def texts(steps_of: Format, records: Sequence[Any]) -> list[str]:
    return [turn.text for turn in read(steps_of, jsonl(records)).turns]


@formats
def test_a_recording_is_read_as_what_was_said(name: str) -> None:
    """Of every format come the same turns, in order, and none of what lies between them."""
    steps_of, records = RECORDINGS[name]
    reader = read(steps_of, jsonl(records))
    assert [(turn.role, turn.text) for turn in reader.turns] == [
        ("user", FIRST),
        ("assistant", LOOKING),
        ("assistant", ANSWER),
        ("user", SECOND),
        ("assistant", AGAIN),
    ]
    assert reader.offset == len(jsonl(records))
    first, second = reader.exchanges
    assert (first.answer is not None and first.answer.text, second.answer is not None and second.answer.text) == (
        ANSWER,
        AGAIN,
    )
    assert second.is_over is (name not in WITHOUT_AN_END)
    assert first.key != second.key
    assert (second.began_at is None) is (name == "cursor")
    if first.began_at is not None and second.began_at is not None:
        assert second.began_at - first.began_at == 300.0


@formats
def test_an_answer_that_is_still_to_come_is_none_yet(name: str) -> None:
    """While a tool is at work, what was said before it is no answer."""
    steps_of, records = RECORDINGS[name]
    until = next(place for place, record in enumerate(records) if ANSWER[:8] in json.dumps(record))
    (exchange,) = read(steps_of, jsonl(records[:until])).exchanges
    assert exchange.answer is None
    assert not exchange.is_over


@formats
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_cut_gives_the_same_turns(name: str, data: st.DataObject) -> None:
    """In whatever pieces the bytes come, what is read is what the whole file holds."""
    steps_of, records = RECORDINGS[name]
    content = jsonl(records)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    edges = [0, *cuts, len(content)]
    pieces = [content[begin:end] for begin, end in itertools.pairwise(edges)]
    whole = read(steps_of, content)
    assert read(steps_of, *pieces).exchanges == whole.exchanges


_JUNK = [
    b"null",
    b"7",
    b'"text"',
    b"[]",
    b"{}",
    b'{"type": ',
    b'{"type": "user"}',
    b'{"role": 3}',
    b"[" * 5_000,
    b"\x00",
]


@formats
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_garbage_costs_no_neighbour(name: str, data: st.DataObject) -> None:
    """Lines that are no records, or records of any other shape, raise nothing and change no turn."""
    steps_of, records = RECORDINGS[name]
    lines = jsonl(records).splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        junk = data.draw(st.sampled_from(_JUNK) | st.binary(max_size=12)).replace(b"\n", b"")
        lines.insert(data.draw(st.integers(0, len(lines))), junk + b"\n")
    found = [(turn.role, turn.text) for turn in read(steps_of, b"".join(lines)).turns]
    assert found == [(turn.role, turn.text) for turn in read(steps_of, jsonl(records)).turns]


_KEYS = sorted({key for _, records in RECORDINGS.values() for record in records for key in record})
_odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["user", "text", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*_KEYS, "role", "content", "id"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@formats
@settings(max_examples=25, deadline=None)
@given(place=st.integers(0, 20), key=st.sampled_from([*_KEYS, "role"]), value=_odd)
def test_a_field_of_any_type_raises_nothing(name: str, place: int, key: str, value: Any) -> None:
    """Every field may hold anything: the formats are undocumented and grow."""
    steps_of, records = RECORDINGS[name]
    changed = json.loads(json.dumps(records))
    record = changed[place % len(changed)]
    for part in [record, *(part for part in record.values() if isinstance(part, dict))][: 1 + place % 2]:
        part[key] = value
    reader = Reader(steps_of)
    reader.feed(jsonl(changed))
    assert all(isinstance(turn.text, str) for turn in reader.turns)
    assert all(exchange.key for exchange in reader.exchanges)


@formats
def test_a_line_that_is_longer_than_any_is_passed_over(name: str) -> None:
    """It is never held whole, and the lines around it are read."""
    steps_of, records = RECORDINGS[name]
    content = jsonl(records)
    reader = Reader(steps_of)
    reader.feed(b'{"type": "user", "x": "')
    for _ in range(MAX_LINE // 1_000_000 + 2):
        reader.feed(b"x" * 1_000_000)
    reader.feed(b'"}\n' + content)
    assert [turn.text for turn in reader.turns] == [turn.text for turn in read(steps_of, content).turns]
    assert reader.lines_passed_over == 1
    assert not reader.is_torn


def test_a_prompt_sent_again_takes_back_what_followed_the_line_it_hangs_on() -> None:
    """Claude Code: only the branch of the newest line stands, and nothing of it comes twice."""
    edited = [
        *CLAUDE_CODE,
        claude("user", "u3", "y1", 7, {"content": "no, the docs"}),
        claude("assistant", "a6", "u3", 8, {"id": "m4", "content": [{"type": "text", "text": "They are fine."}]}),
    ]
    assert texts(claude_code.steps, edited) == [FIRST, LOOKING, ANSWER, "no, the docs", "They are fine."]


def test_results_of_tools_that_ran_side_by_side_are_no_branches() -> None:
    """Claude Code: each result hangs on its own call's line, behind which others came."""
    one = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}
    records = [
        claude("user", "u1", None, 0, {"content": FIRST}),
        claude("assistant", "a1", "u1", 1, {"id": "m1", "content": [one]}),
        claude("assistant", "a2", "a1", 1, {"id": "m1", "content": [{"type": "text", "text": LOOKING}]}),
        claude("assistant", "a3", "a2", 1, {"id": "m1", "content": [one]}),
        claude("user", "r1", "a1", 2, {"content": [{"type": "tool_result", "tool_use_id": "t1"}]}),
        claude("user", "r2", "a3", 2, {"content": [{"type": "tool_result", "tool_use_id": "t2"}]}),
        claude("assistant", "a4", "r1", 3, {"id": "m2", "content": [{"type": "text", "text": ANSWER}]}),
    ]
    assert texts(claude_code.steps, records) == [FIRST, LOOKING, ANSWER]


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<system-reminder>x</system-reminder>"},
        {"content": "Caveat: what follows was made by local commands"},
        {"content": "Base directory for this skill: /x"},
        {"content": "<task-notification>done</task-notification>"},
        {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "text"}]},
        {"content": None},
    ],
)
def test_what_no_person_wrote_is_no_prompt(message: dict[str, Any]) -> None:
    """Claude Code: the harness's own lines have the role of a user as well."""
    assert texts(claude_code.steps, [claude("user", "u1", None, 0, message)]) == []


@pytest.mark.parametrize(
    ("more", "is_prompt"),
    [
        ({"origin": {"kind": "human"}, "promptSource": "typed"}, True),
        ({"origin": {"kind": "human"}}, True),
        ({"promptSource": "queued"}, True),
        ({"origin": None, "isMeta": None}, True),
        ({"origin": {"kind": "task-notification"}}, False),
        ({"origin": {"kind": "peer"}, "promptSource": "typed"}, False),
        ({"promptSource": "system"}, False),
    ],
)
def test_the_origin_tells_who_wrote_a_prompt(more: dict[str, Any], is_prompt: bool) -> None:
    """Claude Code: scheduled tasks, other sessions and agents that report back write prompts too."""
    assert (
        texts(claude_code.steps, [claude("user", "u1", None, 0, {"content": "go on"}, **more)]) == ["go on"] * is_prompt
    )


def test_an_interrupted_turn_is_over_without_an_answer() -> None:
    """What was said before a person stopped the model is no answer, in any format that tells of it."""
    cut = [
        (
            claude_code.steps,
            [
                *CLAUDE_CODE[:4],
                claude("user", "i", "a2", 2, {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}),
            ],
        ),
        (codex.steps, [*CODEX[:6], rollout(2, "event_msg", "turn_aborted", reason="interrupted")]),
        (kimi_code.steps, [*KIMI_CODE[:7], wire("turn.cancel", 2)]),
        (copilot.steps, [*COPILOT[:4], happened("abort", "x", 2, reason="user")]),
    ]
    for steps_of, records in cut:
        (exchange,) = read(steps_of, jsonl(records)).exchanges
        assert (exchange.answer, exchange.is_over) == (None, True)


def test_gemini_goes_back_to_a_message_and_begins_anew() -> None:
    """A rewind drops that message and all after it, one to an unknown message everything."""
    assert texts(gemini_cli.steps, [*GEMINI_CLI, {"$rewindTo": "5"}]) == [FIRST, LOOKING, ANSWER]
    assert texts(gemini_cli.steps, [*GEMINI_CLI, {"$rewindTo": "unknown"}]) == []
    checkpoint = {"$set": {"messages": [GEMINI_CLI[1], GEMINI_CLI[5]]}}
    assert texts(gemini_cli.steps, [*GEMINI_CLI, checkpoint]) == [FIRST, ANSWER]


def test_kimi_takes_back_prompts_and_forgets_nothing_that_was_said() -> None:
    """An undo takes back so many prompts; a cleared context is none."""
    assert texts(kimi_code.steps, [*KIMI_CODE, wire("context.undo", 7, count=1)]) == [FIRST, LOOKING, ANSWER]
    assert texts(kimi_code.steps, [*KIMI_CODE, wire("context.undo", 7, count=9)]) == []
    assert len(texts(kimi_code.steps, [*KIMI_CODE, wire("context.clear", 7)])) == 5


def test_kimi_messages_of_a_session_taken_over_are_read() -> None:
    """They come without the records of a turn."""
    message = {"role": "user", "content": spoken(FIRST), "origin": {"kind": "user"}}
    reply = {"role": "assistant", "content": spoken(ANSWER), "toolCalls": []}
    records = [wire("context.append_message", 0, message=each) for each in (message, reply)]
    assert texts(kimi_code.steps, records) == [FIRST, ANSWER]


def test_antigravity_goes_back_to_a_step_that_was_there() -> None:
    """A prompt under a number that is taken stands for the rest of the file from there on."""
    records = [
        *ANTIGRAVITY,
        brain(6, "USER_EXPLICIT", "USER_INPUT", 7, "the docs?"),
        brain(7, "MODEL", "PLANNER_RESPONSE", 8, "Fine."),
    ]
    assert texts(antigravity.steps, records) == [FIRST, LOOKING, ANSWER, "the docs?", "Fine."]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=12))
def test_no_rewind_ever_doubles_a_turn(jumps: list[int]) -> None:
    """Whatever goes back to wherever, each message stands at most once."""
    claude_lines = list(CLAUDE_CODE)
    gemini_lines: list[Any] = list(GEMINI_CLI)
    for number, jump in enumerate(jumps):
        parent = CLAUDE_CODE[1 + jump]["uuid"]
        claude_lines += [
            claude("user", f"n{number}", parent, 7, {"content": f"prompt {number}"}),
            claude(
                "assistant",
                f"o{number}",
                f"n{number}",
                8,
                {"id": f"p{number}", "content": [{"type": "text", "text": f"answer {number}"}]},
            ),
        ]
        gemini_lines += [
            {"$rewindTo": str(jump)},
            GEMINI_CLI[1 + jump % 6],
            {"id": f"g{number}", "type": "user", "content": f"prompt {number}"},
        ]
    for steps_of, lines in ((claude_code.steps, claude_lines), (gemini_cli.steps, gemini_lines)):
        names = [turn.id for turn in read(steps_of, jsonl(lines)).turns]
        assert len(names) == len(set(names))
        if jumps:
            assert f"prompt {len(jumps) - 1}" in texts(steps_of, lines)


def test_a_message_of_kimi_whose_step_goes_on_after_its_end_stays_one() -> None:
    """Parts of one step are one turn, whatever stands between them."""
    records = [
        loop("content.part", 1, "t.1", part={"type": "text", "text": "a"}),
        wire("usage.record", 1),
        loop("content.part", 1, "t.1", part={"type": "text", "text": "b"}),
    ]
    assert texts(kimi_code.steps, records) == ["ab"]
    assert recordings.KIMI_CODE[0]["type"] == "metadata"


@pytest.mark.parametrize(
    "lines",
    [
        [
            {"role": "user", "message": {"content": [{"type": "text", "text": "q"}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Looking."}, {"type": "tool_use"}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "a"}]}},
        ],
        [
            {"type": "system", "subtype": "init"},
            {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}},
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "Looking."}]}},
            {"type": "tool_call", "name": "shell", "status": "running"},
            {"type": "assistant", "message": {"content": "a"}},
        ],
        [
            {"role": "user", "content": "<user_query>q</user_query>"},
            {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, {"type": "tool-call"}]},
            {"role": "assistant", "content": "a"},
        ],
    ],
)
def test_cursor_s_lines_are_read_in_each_shape_that_is_told_of(lines: Sequence[dict[str, Any]]) -> None:
    """None of them is documented; the answer is what no work followed."""
    [exchange] = read(cursor.steps, recordings.jsonl(lines)).exchanges
    assert [turn.text for turn in exchange.prompts] == ["q"]
    assert exchange.answer is not None
    assert exchange.answer.text == "a"
