"""What is installed for a harness is what its adapter reads."""

import pytest

from daemon.installing.harness import Harness
from daemon.installing.harnesses import HARNESSES
from memsyncd.hooks.adapters import ADAPTERS
from memsyncd.hooks.envelope import MOVED
from memsyncd.transcripts.sources import SOURCES
from tests.memsyncd.hooks import payloads

EACH = pytest.mark.parametrize("harness", HARNESSES.values(), ids=HARNESSES)


@EACH
def test_each_installed_event_has_its_adapter_and_a_payload(harness: Harness) -> None:
    """The adapter's table gives each registered event the same action and reason, and its payload is recorded."""
    adapter = ADAPTERS[harness.name]
    told = {each.event for each in payloads.recorded() if each.harness == harness.name}
    for event in harness.events:
        meant = adapter.events[event.name]
        assert (meant.action, meant.reason) == (event.action, event.reason)
        assert event.name in told


@EACH
def test_no_hook_stands_where_its_silence_or_failure_could_forbid_anything(harness: Harness) -> None:
    """Events whose hooks decide are left alone, and limits are in the unit the harness reads them in."""
    ending = ADAPTERS[harness.name].ending
    names = {event.name for event in harness.events}
    assert not names & (ending.silence_denies | ending.failure_denies)
    assert (harness.handler.units_per_second if harness.handler.limit else 0) == ending.units_per_second


@EACH
def test_an_answer_is_found_somewhere(harness: Harness) -> None:
    """Where no registered event's payload has an answer, the session's transcript is read."""
    has_answer = any(
        record["kind"] == "assistant_stop"
        for event in harness.events
        for record in payloads.expected(harness.name).get(event.name, ())
    )
    source = SOURCES.get(harness.name)
    assert has_answer or (source is not None and source.answer_from.value == "transcript")


def test_a_session_s_end_that_is_told_is_asked_for() -> None:
    """An end is registered wherever the harness has one; of the others silence or the process tells."""
    told = {h.name for h in HARNESSES.values() if any(event.reason == "session-end" for event in h.events)}
    assert {name for name, adapter in ADAPTERS.items() if adapter.tells_end} - {"generic"} == told - {"opencode"}


def test_a_moved_harness_is_told_of_by_the_variable_that_moves_it() -> None:
    """The hook hands on the variable by which the installer goes along, for each harness whose transcripts are read."""
    variables = {
        name: harness.user.variable.encode()
        for name, harness in HARNESSES.items()
        if harness.user and harness.user.variable and name in SOURCES
    }
    assert variables == MOVED
    for name, source in SOURCES.items():
        user = HARNESSES[name].user
        assert user is not None
        assert user.directory.partition("/")[0] == source.directory
