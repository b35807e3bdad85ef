"""Batching: a packet's messages in parts small enough for one request (facts 4.1 to 4.8). Pure.

Costs are counted in fifths of an estimated token, so that they add up in whole numbers: an ASCII character of the
messages' JSON text costs 0.4 tokens, any other a whole one.
"""

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from memsyncd.packets.subagents import is_answer_to
from memsyncd.platforms.platform import Message

BUDGET = 24_000
"""Estimated tokens a request may have (facts 4.1)."""

_ASCII, _OTHER, _FIFTHS = 2, 5, 5


def estimate(messages: Sequence[Message]) -> int:
    """Return the estimated tokens of the messages' JSON text, rounded up."""
    return -(-_cost_of(messages) // _FIFTHS)


def batches(messages: Sequence[Message], *, budget: int = BUDGET) -> Sequence[Sequence[Message]]:
    """Return the messages in batches of at most `budget` estimated tokens, in order, no character lost.

    What fits whole is one batch, no message at all one empty batch. An exchange is split only if it does not fit by
    itself, a message only likewise; the pieces of a message joined give back its exact text. Raises ValueError if
    the budget is too small for a single character.
    """
    if estimate(messages) <= budget:
        return [messages]
    limit = budget * _FIFTHS
    packed: list[list[Message]] = []
    cost = limit
    for unit in _units(messages, limit):
        more = _inner_cost(unit)
        if packed and cost + _SEPARATOR + more <= limit:
            packed[-1] += unit
            cost += _SEPARATOR + more
        else:
            packed.append(list(unit))
            cost = _BRACKETS + more
    return packed


def _units(messages: Sequence[Message], limit: int) -> Iterator[Sequence[Message]]:
    """Yield what is not to be split: exchanges that fit; of others the pairs and messages that fit, and pieces."""
    for exchange in _exchanges(messages):
        if _cost_of(exchange) <= limit:
            yield exchange
            continue
        for part in _pairs(exchange):
            if _cost_of(part) <= limit:
                yield part
            else:
                for message in part:
                    yield from ([piece] for piece in _pieces(message, limit))


def _exchanges(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Cut before each user message (facts 4.4), but never between a subagent's assignment and its response."""
    start = 0
    for at in range(1, len(messages)):
        if messages[at].role == "user" and not is_answer_to(messages[at], messages[at - 1]):
            yield messages[start:at]
            start = at
    yield messages[start:]


def _pairs(exchange: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Cut an exchange into its messages, an assignment and the response right after it together (facts 4.5)."""
    at = 0
    while at < len(exchange):
        paired = at + 1 < len(exchange) and is_answer_to(exchange[at + 1], exchange[at])
        size = 2 if paired else 1
        yield exchange[at : at + size]
        at += size


def _pieces(message: Message, limit: int) -> Iterator[Message]:
    """Cut a message into the largest prefixes that fit (facts 4.6), by bisection of the running costs."""
    room = limit - _BRACKETS - _inner_cost([Message(message.role, "")])
    text = message.content
    if room < 0:
        raise ValueError("the budget is too small for an empty message")
    if room >= _cost_of_text(text):
        yield message
        return
    most = room // _ASCII
    start = 0
    while start < len(text):
        running = array("q", accumulate(map(_COSTS.__getitem__, text[start : start + most]), initial=0))
        length = bisect_right(running, room) - 1
        if length <= 0:
            raise ValueError("the budget is too small for a single character")
        yield Message(message.role, text[start : start + length])
        start += length


class _Costs(dict[str, int]):
    """The cost of each character inside a JSON string."""

    def __missing__(self, character: str) -> int:
        return _OTHER


def _cost_of_json(text: str) -> int:
    ascii_characters = len(text.encode("ascii", "ignore"))
    return _ASCII * ascii_characters + _OTHER * (len(text) - ascii_characters)


def _cost_of_text(text: str) -> int:
    """Return the cost of a text inside its JSON quotes."""
    return _cost_of_json(json.dumps(text, ensure_ascii=False)) - _QUOTES


def _inner_cost(messages: Sequence[Message]) -> int:
    """Return the cost of the messages' JSON without the brackets around the list."""
    return _cost_of(messages) - _BRACKETS


def _cost_of(messages: Sequence[Message]) -> int:
    listed = [{"role": message.role, "content": message.content} for message in messages]
    return _cost_of_json(json.dumps(listed, ensure_ascii=False))


_QUOTES = _cost_of_json('""')
_BRACKETS = _cost_of_json("[]")
_SEPARATOR = _cost_of_json(", ")
_COSTS = _Costs({chr(code): _cost_of_text(chr(code)) for code in range(128)})
