"""A context in the words each harness takes from a hook's standard output (hooks-and-apis 1A to 1H).

Where a harness, or an event of it, takes none, there is no form, and nothing is asked for. Nothing but the context is
ever said: no decision, no message to the person. It runs from Python 3.9 on and imports only a built-in module
(`drop.py`).
"""

import _json

TYPE_CHECKING = False  # the real one costs as much to import as the whole drop
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROMPT, SUBAGENT_START = "user-prompt", "subagent-start"


def output(context: str, harness: str, action: str) -> bytes:
    """Return what to print for a `context` at an event, or nothing."""
    form = FORMS.get((harness, action))
    return form(context) if form and context else b""


def takes_context(harness: str, action: str) -> bool:
    """Whether a harness hands what a hook prints at an event to its model."""
    return (harness, action) in FORMS


def _specific(event: str) -> "Callable[[str], bytes]":
    """Return the form of Claude Code and those that follow it; `event` has to be the very event's name there."""

    def form(context: str) -> bytes:
        inner = f'{{"hookEventName": "{event}", "additionalContext": {_quoted(context)}}}'
        return f'{{"hookSpecificOutput": {inner}}}\n'.encode("ascii")

    return form


def _named(key: str) -> "Callable[[str], bytes]":
    def form(context: str) -> bytes:
        return f'{{"{key}": {_quoted(context)}}}\n'.encode("ascii")

    return form


def _injected_step(context: str) -> bytes:
    return f'{{"injectSteps": [{{"ephemeralMessage": {_quoted(context)}}}]}}\n'.encode("ascii")


def _plain(context: str) -> bytes:
    return context.encode("utf-8", "replace") + b"\n"


def _quoted(text: str) -> str:
    return _json.encode_basestring_ascii(text)


FORMS: "Mapping[tuple[str, str], Callable[[str], bytes]]" = {
    ("claude-code", PROMPT): _specific("UserPromptSubmit"),
    ("claude-code", SUBAGENT_START): _specific("SubagentStart"),
    ("codex", PROMPT): _specific("UserPromptSubmit"),
    ("codex", SUBAGENT_START): _specific("SubagentStart"),
    ("gemini-cli", PROMPT): _specific("BeforeAgent"),
    ("cursor", PROMPT): _named("additional_context"),
    ("copilot", PROMPT): _named("additionalContext"),
    ("antigravity", PROMPT): _injected_step,
    # these take no additionalContext, but whatever is printed at this event; OpenCode's is our own module
    ("kimi", PROMPT): _plain,
    ("opencode", PROMPT): _plain,
}
"""By harness and action."""
