"""Messages in parts small enough for one request (facts 4.1 to 4.9)."""

import itertools
import json
import math
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.packets.batches import BUDGET, batches, estimate
from memsyncd.platforms.platform import Message


def _user(text: str) -> Message:
    return Message("user", text)


def _assistant(text: str) -> Message:
    return Message("assistant", text)


def _plain_estimate(messages: Sequence[Message]) -> int:
    text = json.dumps([{"role": m.role, "content": m.content} for m in messages], ensure_ascii=False)
    ascii_characters = sum(character.isascii() for character in text)
    return math.ceil((ascii_characters * 4 + (len(text) - ascii_characters) * 10) / 10)


@pytest.mark.parametrize(("text", "tokens"), [("x" * 100, 54), ("漢" * 100, 114), ('"' * 100, 94), ("\\\n" * 50, 94)])
def test_estimates(text: str, tokens: int) -> None:
    """The estimate is made over the JSON text, so what JSON escapes costs double (facts 4.1, 4.2)."""
    assert estimate([_user(text)]) == tokens


@pytest.mark.parametrize(("character", "fits"), [("x", 59_967), ("漢", 23_986)])
def test_the_largest_message_of_one_batch(character: str, fits: int) -> None:
    """One message of 59,967 ASCII or 23,986 CJK characters is one batch, one character more is two (facts 4.2)."""
    assert len(batches([_user(character * fits)])) == 1
    assert [len(part[0].content) for part in batches([_user(character * (fits + 1))])] == [fits, 1]


def test_under_the_budget_nothing_changes() -> None:
    """What fits is one batch, the very same messages; nothing at all is one empty batch (facts 4.3)."""
    messages = [_user("a"), _assistant("b"), _user("c")]
    assert batches(messages) == [messages]
    assert batches([]) == [[]]


def test_two_exchanges_make_two_batches() -> None:
    """Four messages of 20,000 characters make exactly two batches, an exchange each (facts 4.8)."""
    messages = [
        maker(letter * 20_000) for maker, letter in ((_user, "a"), (_assistant, "b"), (_user, "c"), (_assistant, "d"))
    ]
    assert batches(messages) == [messages[:2], messages[2:]]


def test_exchanges_are_packed_greedily() -> None:
    """Exchanges that fit together go together; none is split to fill a batch (facts 4.4)."""
    messages = [message for _ in range(5) for message in (_user("q"), _assistant("x" * 24_000))]
    assert [len(part) for part in batches(messages)] == [4, 4, 2]


def test_an_assignment_stays_with_its_response() -> None:
    """In an exchange too large, a subagent's assignment and the response after it stay together (facts 4.5)."""
    assignment = _assistant("Subagent assignment (Explore: find the cause):\n" + "a" * 20_000)
    response = _assistant("Subagent response (Explore: find the cause):\n" + "b" * 20_000)
    before, after = _assistant("c" * 30_000), _assistant("d" * 30_000)
    parts = batches([_user("find out"), before, assignment, response, after])
    assert [assignment, response] in parts
    assert [message for part in parts for message in part] == [_user("find out"), before, assignment, response, after]


def test_a_pair_too_large_is_parted() -> None:
    """An assignment and a response that do not fit together are parted, each of them whole (facts 4.5, 4.6)."""
    assignment = _assistant("Subagent assignment (Explore: x):\n" + "a" * 40_000)
    response = _assistant("Subagent response (Explore: x):\n" + "b" * 40_000)
    assert batches([_user("q"), assignment, response]) == [[_user("q"), assignment], [response]]


def test_a_response_of_the_user_role_starts_no_exchange() -> None:
    """A response that its recorder gave the user's role is no new exchange (facts 4.5)."""
    assignment = _assistant("Subagent assignment (Explore: x):\n" + "a" * 28_000)
    response = _user("Subagent response (Explore: x):\n" + "b" * 28_000)
    parts = batches([_user("q" * 20_000), assignment, response])
    assert [assignment, response] in parts


@pytest.mark.parametrize("budget", [1, 13, 14])
def test_a_budget_too_small_is_an_error(budget: int) -> None:
    """A budget that holds not one character is an error, not a loop (facts 4.7)."""
    with pytest.raises(ValueError, match="too small"):
        batches([_user("漢漢")], budget=budget)


def test_long_texts_arrive_complete() -> None:
    """A prompt of 42,000 and an answer of 76,000 characters come over whole (facts 4.9)."""
    prompt, answer = "p" * 42_000, "a" * 76_000
    parts = batches([_user(prompt), _assistant(answer)])
    assert "".join(m.content for part in parts for m in part if m.role == "user") == prompt
    assert "".join(m.content for part in parts for m in part if m.role == "assistant") == answer
    assert all(estimate(part) <= BUDGET for part in parts)


def test_a_megabyte_costs_little_more_than_its_size() -> None:
    """Cutting is linear: eight times the text takes nowhere near 64 times as long."""
    text = 'line "quoted" 漢字 \\ end\n' * 5_000

    def seconds(times: int) -> float:
        started = time.process_time()
        batches([_user(text * times)])
        return time.process_time() - started

    seconds(1)
    assert seconds(8) < 32 * max(seconds(1), 0.005)


_TEXTS = st.text(alphabet=st.sampled_from('ab "\\\n\x00\x7fé漢😀'), max_size=120)
_MESSAGES = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), _TEXTS), max_size=12)


@given(_MESSAGES, st.sampled_from([20, 40, 100, 200]))
def test_batches_keep_everything(shapes: list[tuple[str, str]], budget: int) -> None:
    """Order, roles and every character are kept, every batch is within the budget, every estimate is exact."""
    messages = [Message(role, text) for role, text in shapes]
    parts = batches(messages, budget=budget)
    assert all(estimate(part) == _plain_estimate(part) <= budget for part in parts)
    rest = [piece for part in parts for piece in part]
    for message in messages:
        text = ""
        while True:
            piece = rest.pop(0)
            assert piece.role == message.role
            text += piece.content
            if text == message.content:
                break
            assert message.content.startswith(text)
            assert piece.content
    assert rest == []


@given(_MESSAGES, st.sampled_from([60, 100, 200]))
def test_no_exchange_that_fits_is_split(shapes: list[tuple[str, str]], budget: int) -> None:
    """Every exchange that fits a batch by itself lies in one batch."""
    messages = [Message(role, f"{number}:{text}") for number, (role, text) in enumerate(shapes)]
    parts = [list(part) for part in batches(messages, budget=budget)]
    starts = [at for at, message in enumerate(messages) if at == 0 or message.role == "user"]
    for start, end in itertools.pairwise([*starts, len(messages)]):
        exchange = messages[start:end]
        if _plain_estimate(exchange) <= budget:
            assert any(part[at : at + len(exchange)] == exchange for part in parts for at in range(len(part)))


@given(_TEXTS.filter(bool), st.sampled_from([20, 100]))
def test_each_piece_is_the_largest_prefix(text: str, budget: int) -> None:
    """No piece of a message could have taken one character more (facts 4.6)."""
    parts = batches([_user(text)], budget=budget)
    pieces = [message.content for part in parts for message in part]
    assert "".join(pieces) == text
    for piece, following in itertools.pairwise(pieces):
        assert _plain_estimate([_user(piece + following[0])]) > budget
