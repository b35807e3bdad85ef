"""Telling a subagent's assignment and its response among messages, by their first lines (facts 10.8)."""

import re

from memsyncd.platforms.platform import Message

_HEAD = 300
"""Characters looked at: a heading is a type and a description."""

_ASSIGNMENT = re.compile(r"[^\n]*agent\b[^\n]*\bassignment\b", re.IGNORECASE)
_RESPONSE = re.compile(r"[^\n]*agent\b[^\n]*\bresponse\b", re.IGNORECASE)


def is_answer_to(message: Message, before: Message) -> bool:
    """Tell whether `message` is a subagent's response and the one right `before` it the assignment."""
    return (
        _RESPONSE.match(message.content[:_HEAD]) is not None and _ASSIGNMENT.match(before.content[:_HEAD]) is not None
    )
