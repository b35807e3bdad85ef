"""Messages, on both providers."""

from typing import Any

import pytest

from memsyncd.agent_state import MemoryMessage, MemoryProvider, NotJson

LAST = [(5, ["6", "7", "8", "9", "10"]), (1, ["10"]), (10, [str(n) for n in range(1, 11)]), (99, [str(n) for n in range(1, 11)]),
        (2**70, [str(n) for n in range(1, 11)]), (0, []), (-1, []), (-(2**70), [])]  # fmt: skip
KEPT = [(3, 7), (10, 0), (11, 0), (2**70, 0), (1, 9), (0, 10), (-1, 10)]


def ten(provider: MemoryProvider, run: Any, user: str = "u", topic: str = "t") -> None:
    for number in range(1, 11):
        run(provider.save_message(user, topic, "user", str(number)))


def texts(provider: MemoryProvider, run: Any, limit: int = 100, user: str = "u", topic: str = "t") -> list[str]:
    return [message.content for message in run(provider.get_messages(user, topic, limit))]


def test_every_field_of_a_message_comes_back(provider: MemoryProvider, run: Any) -> None:
    """What was given comes back, and what was not is None, not empty."""
    call = {"id": "c1", "args": {"path": "ä.py", "n": [1, 2.5, None, True]}}
    run(
        provider.save_message(
            "u", "t", "assistant", "done", [call], name="bot", metadata={"k": {}}, content_blocks=[{"type": "text"}]
        )
    )
    run(provider.save_message("u", "t", "user", ""))
    run(provider.save_message("u", "t", "tool", "\x00 \n'\"", tool_calls=[], metadata={}, content_blocks=[]))
    assert run(provider.get_messages("u", "t")) == [
        MemoryMessage("assistant", "done", "bot", [call], {"k": {}}, [{"type": "text"}]),
        MemoryMessage("user", ""),
        MemoryMessage("tool", "\x00 \n'\"", None, [], {}, []),
    ]


@pytest.mark.parametrize(("limit", "expected"), LAST)
def test_the_last_messages_come_oldest_first(
    provider: MemoryProvider, run: Any, limit: int, expected: list[str]
) -> None:
    """A limit cuts the old end; one of 0 or below leaves nothing, however SQLite reads a negative one."""
    ten(provider, run)
    assert texts(provider, run, limit) == expected


def test_ten_messages_come_without_a_limit(provider: MemoryProvider, run: Any) -> None:
    """The default is ten."""
    ten(provider, run)
    run(provider.save_message("u", "t", "user", "11"))
    assert [message.content for message in run(provider.get_messages("u", "t"))] == [str(n) for n in range(2, 12)]


@pytest.mark.parametrize(("keep_last", "deleted"), KEPT)
def test_deleting_tells_what_it_did(provider: MemoryProvider, run: Any, keep_last: int, deleted: int) -> None:
    """What is told to be deleted is gone, the last ones stay in order; keep_last=0 keeps nothing."""
    ten(provider, run)
    assert run(provider.delete_messages_before("u", "t", keep_last=keep_last)) == deleted
    assert run(provider.count_messages("u", "t")) == 10 - deleted
    assert texts(provider, run) == [str(number) for number in range(deleted + 1, 11)]


def test_messages_after_a_deletion_come_last(provider: MemoryProvider, run: Any) -> None:
    """Order holds across a topic that was emptied."""
    ten(provider, run)
    run(provider.delete_messages_before("u", "t", keep_last=0))
    ten(provider, run)
    run(provider.delete_messages_before("u", "t"))
    run(provider.save_message("u", "t", "user", "new"))
    assert texts(provider, run, 2) == ["10", "new"]


def test_topics_and_users_are_apart(provider: MemoryProvider, run: Any) -> None:
    """Nothing of one topic or user shows in another, whatever its name; the names are compared exactly."""
    names = [
        ("u", "t"),
        ("u", ""),
        ("u", "T"),
        ("u", "t%"),
        ("u", "t "),
        ("", "t"),
        ("U", "t"),
        ("u\x00t", ""),
        ("u", "ä"),
        ("u", "a\u0308"),
    ]
    for user, topic in names:
        run(provider.save_message(user, topic, "user", f"{user}/{topic}"))
    for user, topic in names:
        assert texts(provider, run, user=user, topic=topic) == [f"{user}/{topic}"]
    assert run(provider.delete_messages_before("u", "", keep_last=0)) == 1
    assert [run(provider.count_messages(*name)) for name in names] == [1, 0, *[1] * 8]


def test_what_is_saved_or_read_is_a_copy(provider: MemoryProvider, run: Any) -> None:
    """Neither the caller's later changes to what it saved nor those to what it read reach the store."""
    calls, metadata, blocks = [{"args": {"a": [1]}}], {"a": [1]}, [{"b": [1]}]
    run(provider.save_message("u", "t", "user", "x", calls, metadata=metadata, content_blocks=blocks))
    expected = MemoryMessage("user", "x", None, [{"args": {"a": [1]}}], {"a": [1]}, [{"b": [1]}])
    calls[0]["args"]["a"].append(2)
    metadata["a"].append(2)
    blocks[0]["b"].append(2)
    first = run(provider.get_messages("u", "t"))
    assert first == [expected]
    first[0].tool_calls.clear()
    first[0].metadata["a"].append(3)
    first.clear()
    assert run(provider.get_messages("u", "t")) == [expected]


def test_half_a_surrogate_pair_comes_back(provider: MemoryProvider, run: Any) -> None:
    """Models emit them; SQLite's text cannot hold them, the provider can, in names and in contents."""
    run(provider.save_message("u\ud83d", "t\ude00", "user", "x\ud83d"))
    run(provider.save_message("u", "t\ude00", "user", "another user"))
    run(provider.upsert_fact("u\ud83d", "k\ud83d", "v\ud83d"))
    assert texts(provider, run, user="u\ud83d", topic="t\ude00") == ["x\ud83d"]
    assert run(provider.get_facts("u\ud83d")) == {"k\ud83d": "v\ud83d"}


def test_what_is_no_json_is_refused_by_both(provider: MemoryProvider, run: Any) -> None:
    """A program tried in memory meets no surprise on disk; nothing of the refused is kept."""
    loop: list[Any] = []
    loop.append(loop)
    for value in (object(), {1, 2}, b"x", loop):
        with pytest.raises(NotJson):
            run(provider.save_message("u", "t", "user", "x", metadata={"a": value}))
        with pytest.raises(TypeError):
            run(provider.upsert_fact("u", "k", value))
    assert run(provider.count_messages("u", "t")) == 0
    assert run(provider.get_facts("u")) == {}


def test_a_large_message_comes_back(provider: MemoryProvider, run: Any) -> None:
    """A tool's whole output is a message like any other."""
    text = "line ä\n" * 300_000
    run(provider.save_message("u", "t", "tool", text))
    assert texts(provider, run) == [text]
