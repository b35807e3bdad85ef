"""An event as it is sent: what is added, kept, left out, and what is never sent."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.telemetry.posthog import MAX_EVENT_BYTES, Sender, Unsendable, Wire, body, wire
from memsyncd.version import __version__
from tests.memsyncd.telemetry.spooling import SENDER, line, uuid_of


def sent(**fields: Any) -> Any:
    found = wire(line(1, **fields), SENDER)
    assert isinstance(found, Wire), found
    return found.document()


def test_an_event_keeps_its_name_id_time_and_properties() -> None:
    """The same at every try, so the endpoint can tell a repeat (hooks-and-apis 4)."""
    assert wire(line(1), SENDER) == wire(line(1), SENDER)
    assert sent(properties={"harness": "codex", "duration_ms": 12}) == {
        "event": "code.session_start",
        "distinct_id": "code-anon-0123",
        "properties": {
            "harness": "codex",
            "duration_ms": 12,
            "$lib": "memsyncd",
            "$lib_version": __version__,
            "$process_person_profile": False,
        },
        "timestamp": "2027-01-15T07:00:00.000Z",
        "uuid": uuid_of(1),
    }


def test_a_profile_of_the_person_only_with_the_account() -> None:
    """Nobody is profiled by a machine's random id."""
    found = wire(line(1), Sender("ana@example.org", is_account=True))
    assert isinstance(found, Wire)
    assert found.document()["properties"]["$process_person_profile"] is True


def test_an_own_distinct_id_is_kept() -> None:
    """A plugin's recorder knows better whose its events are."""
    assert sent(distinct_id="code-anon-other")["distinct_id"] == "code-anon-other"


def test_an_account_that_is_not_allowed_is_not_told() -> None:
    """Whoever wrote it into the line, and whenever: such an event goes under the random id. One that would join the two
    is not sent."""
    assert sent(distinct_id="ana@example.org")["distinct_id"] == "code-anon-0123"
    alias = line(1, event="$create_alias", distinct_id="ana@example.org", properties={"alias": "code-anon-1"})
    assert wire(alias, SENDER) is Unsendable.NOT_ALLOWED
    assert isinstance(wire(alias, Sender("ana@example.org", is_account=True)), Wire)


def test_a_secret_in_a_name_is_not_sent() -> None:
    """Names are labels, and a plugin's line may hold anything."""
    assert "a1B2" not in sent(event="code." + "sk-" + "proj-" + "a1B2" * 8)["event"]


@pytest.mark.parametrize("nobody", [None, "", " ", "null", "None", "undefined", "NaN", "anonymous", 7, "x" * 300])
def test_an_id_that_names_nobody_is_replaced(nobody: object) -> None:
    """The endpoint would drop such an event in silence (hooks-and-apis 4)."""
    assert sent(distinct_id=nobody)["distinct_id"] == "code-anon-0123"


@pytest.mark.parametrize(
    "text",
    [
        line(1, event=None),
        line(1, event=""),
        line(1, uuid=None),
        line(1, uuid="1"),
        line(1, uuid="{" + uuid_of(1) + "}"),
        line(1, uuid="\u0660" + uuid_of(1)[1:]),
    ],
)
def test_what_would_be_dropped_in_silence_is_never_sent(text: bytes) -> None:
    """No name or no valid id: a 200 would be no delivery (hooks-and-apis 4)."""
    assert wire(text, SENDER) is Unsendable.INCOMPLETE


def test_nothing_is_sent_as_nobody() -> None:
    """Without an identity of ours and without an own one an event stays here."""
    assert wire(line(1), Sender("")) is Unsendable.INCOMPLETE
    assert isinstance(wire(line(1, distinct_id="somebody"), Sender("")), Wire)


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", "0000-00-00T00:00:00Z"])
def test_a_time_that_is_none_is_left_out(timestamp: str | None) -> None:
    """The endpoint then takes the time it came."""
    assert "timestamp" not in sent(timestamp=timestamp)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"1", b"\xff", b'{"event": 1}'])
def test_what_is_no_event_is_corrupt(text: bytes) -> None:
    """It is not guessed at."""
    assert wire(text, SENDER) is Unsendable.CORRUPT


@pytest.mark.parametrize(
    "fields", [{"properties": {"x": "a" * MAX_EVENT_BYTES}}, {"event": "ä" * (MAX_EVENT_BYTES // 4)}]
)
def test_what_is_too_large_is_never_sent(fields: Any) -> None:
    """The endpoint would drop it (hooks-and-apis 4)."""
    assert wire(line(1, **fields), SENDER) is Unsendable.TOO_LARGE


def test_private_keys_of_a_plugins_line_are_not_sent() -> None:
    """Whatever version of a plugin wrote it: the same rules on the way out (facts 12.5)."""
    secret = "sk-" + "proj-" + "a1B2" * 8
    properties = {
        "prompt": "p",
        "Api-Key": "k",
        "nested": [{"cwd": "/w", "distinct_id": "ana@example.org", "kept": 1}],
        "note": f"key {secret}",
    }
    told = sent(properties=properties)["properties"]
    assert told["nested"] == [{"kept": 1}]
    assert set(told) == {"nested", "note", "$lib", "$lib_version", "$process_person_profile"}
    assert secret not in json.dumps(told)


def test_properties_cannot_pass_for_ours() -> None:
    """What we add wins over what a line says (facts 18.28)."""
    told = sent(properties={"$lib": "other", "$process_person_profile": True})["properties"]
    assert (told["$lib"], told["$process_person_profile"]) == ("memsyncd", False)


@settings(max_examples=40)
@given(st.binary(max_size=200) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["event", "uuid", "timestamp", "properties", "distinct_id", "x"]), inner)).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_any_line_is_sent_or_named(text: bytes) -> None:
    """No line, whatever is in it, ends a run."""
    assert isinstance(wire(text, SENDER), Wire | Unsendable)


def test_the_body_is_what_the_batch_route_takes() -> None:
    """Key, batch and times as hooks-and-apis 4 says."""
    events = [found for number in range(2) if isinstance(found := wire(line(number), SENDER), Wire)]
    document = json.loads(body(events, "phc" + '_"quoted', 1_800_000_000.25))
    assert document == {
        "api_key": "phc" + '_"quoted',
        "historical_migration": False,
        "sent_at": "2027-01-15T08:00:00.250Z",
        "batch": [event.document() for event in events],
    }
