"""Whose payload a handoff's is, what it is, and the records in it."""

from dataclasses import replace

from memsyncd.hooks import bounding, reading
from memsyncd.hooks.adapter import Adapter, Meaning
from memsyncd.hooks.bounding import Redact
from memsyncd.hooks.handoff import FLUSH, RECORD_ACTIONS, Handoff
from memsyncd.hooks.harnesses import ADAPTERS
from memsyncd.hooks.record import Record

__all__ = ["ADAPTERS", "adapter_of", "directory_of", "harness_of", "records_for", "session_of", "understood"]

GENERIC = "generic"

_SIGNATURES = {
    harness: [
        (adapter.name, signature)
        for adapter in ADAPTERS.values()
        for signature in adapter.signatures
        if harness in signature.hooks_of
    ]
    for harness in ADAPTERS
}
"""By the harness whose hooks others run: whose else a payload may be, and by what that is told."""


def records_for(handoff: Handoff, harness: str, *, redact: Redact = bounding.unredacted) -> tuple[Record, ...]:
    """Return the records in `handoff`; never raises, whatever its `hook_input` holds. `harness` is the spool's own, for
    a handoff that names none.

    `redact` takes secrets out of a text before it is cut, where half of one could no longer be told; what comes whole
    in the payloads is still the caller's to redact.
    """
    known = understood(handoff, harness)
    return reading.records(known, adapter_of(known.harness), redact)


def understood(handoff: Handoff, harness: str) -> Handoff:
    """Return a handoff with the harness whose payload it truly has, and with an action where only the payload tells.

    An action that is the harness's own name of an event, or none, is looked up in the adapter's table; any that
    CONTRACT names stays, for the command line knows what it was registered for.
    """
    name = harness_of(handoff, harness)
    action, reason = handoff.action, handoff.reason
    if action != FLUSH and action not in RECORD_ACTIONS:
        meaning = _meaning(handoff, adapter_of(name))
        if meaning.action:
            action, reason = meaning.action, reason or meaning.reason
    if (name, action, reason) == (handoff.harness, handoff.action, handoff.reason):
        return handoff
    return replace(handoff, harness=name, action=action, reason=reason)


def harness_of(handoff: Handoff, harness: str) -> str:
    """Return the harness whose payload it is: another's than the hook's where one runs the other's hooks
    (never-again 90). `harness` is the spool's own, for a handoff that names none."""
    named = handoff.harness or harness
    for name, signature in _SIGNATURES.get(named, ()):
        if all(key in handoff.hook_input for key in signature.has) and not any(
            key in handoff.hook_input for key in signature.lacks
        ):
            return name
    return named


def adapter_of(harness: str) -> Adapter:
    """Return the adapter that reads a harness's payloads."""
    return ADAPTERS.get(harness) or ADAPTERS[GENERIC]


def session_of(handoff: Handoff) -> str:
    """Return the session a handoff belongs to, UNKNOWN_SESSION where its hook names none (facts 2.14)."""
    return reading.session_of(handoff, adapter_of(harness_of(handoff, "")))


def directory_of(handoff: Handoff) -> str:
    """Return where the agent stood, empty where nothing tells."""
    return reading.directory_of(handoff, adapter_of(harness_of(handoff, "")))


def _meaning(handoff: Handoff, adapter: Adapter) -> Meaning:
    none = Meaning("")
    if not reading.is_unreadable(handoff) and handoff.action == "unknown":
        return adapter.events.get(reading.event_of(handoff, adapter), none)
    return adapter.events.get(handoff.action, none)
