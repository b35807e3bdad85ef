"""Which adapter reads which harness's hook JSON."""

from collections.abc import Callable, Mapping

from memsyncd.hooks import bounding, claude_code
from memsyncd.hooks.bounding import Redact
from memsyncd.hooks.claude_code import session_of
from memsyncd.hooks.handoff import Handoff
from memsyncd.hooks.record import Record

__all__ = ["records_for", "session_of"]

Adapter = Callable[..., tuple[Record, ...]]
"""Called with a handoff and `redact`; never raises, whatever the handoff's `hook_input` holds."""

ADAPTERS: Mapping[str, Adapter] = {"claude-code": claude_code.records}
"""By harness. Any other is read as Claude Code, whose names most share (hooks-and-apis, section 0)."""


def records_for(handoff: Handoff, harness: str, *, redact: Redact = bounding.unredacted) -> tuple[Record, ...]:
    """Return the records in `handoff`. `harness` is the spool's own, for a handoff that names none.

    `redact` takes secrets out of a text before it is cut, where half of one could no longer be told; what comes whole
    in the payloads is still the caller's to redact.
    """
    adapter = ADAPTERS.get(handoff.harness or harness, claude_code.records)
    return adapter(handoff, redact=redact)
