"""Telling a person's words in a prompt from what the harness put there (facts 10.6, hooks-and-apis 2A)."""

import re

TAGS = (
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
    "system-reminder",
    "task-notification",
)
"""Elements of the harness's own at the head of a prompt. What a hook injected comes back as a `system-reminder`."""

_OPENING = re.compile(rf"\s*<({'|'.join(TAGS)})(?:\s[^<>]*)?>")
_ATTACHMENT = re.compile(r"\s*<!--\s*attach.*?-->", re.IGNORECASE | re.DOTALL)


def persons_words(prompt: str) -> tuple[str, str]:
    """Return what a person wrote, and the name of the first of the harness's own elements before it, or nothing.

    Elements and an attachment's comment at the head go, what follows them is kept; an element that never ends takes
    all. A prompt without any comes back unchanged.
    """
    first = ""
    position = 0
    while True:
        if attachment := _ATTACHMENT.match(prompt, position):
            position = attachment.end()
        elif opening := _OPENING.match(prompt, position):
            first = first or opening[1]
            end = prompt.find(f"</{opening[1]}>", opening.end())
            if end < 0:
                return "", first
            position = end + len(opening[1]) + 3
        else:
            return (prompt[position:].lstrip() if position else prompt), first
