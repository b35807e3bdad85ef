"""A newer version of a harness may send anything in any field: nothing raises, and what nobody can read is kept."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsyncd.hooks import looking
from memsyncd.hooks.adapters import ADAPTERS, directory_of, records_for, session_of, understood
from memsyncd.hooks.bounding import MAX_JSON
from memsyncd.hooks.handoff import Handoff
from memsyncd.hooks.record import Record
from tests.memsyncd.hooks import payloads
from tests.memsyncd.hooks.payloads import Recorded

pytestmark = pytest.mark.no_cover  # 2,000 drawn payloads; the adapters' own tests run every line

MEANING = [each for each in payloads.recorded() if ADAPTERS[each.harness].events[each.event].action]
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["apply_patch", "Shell", "*** Begin Patch\n*** Add File: x\n+y", '{"exit_code": 1}', "{", "\ud800", "/a/b", "\0"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("text") | TEXTS, inner, max_size=3),
    max_leaves=6,
)


def read(one: Recorded, hook_input: dict[str, Any]) -> tuple[Record, ...]:
    told = Handoff(
        id="h",
        action=ADAPTERS[one.harness].events[one.event].action,
        hook_input=hook_input,
        harness=one.harness,
        reason=ADAPTERS[one.harness].events[one.event].reason,
    )
    before = json.dumps(hook_input)
    understood(told, one.harness)
    assert isinstance(session_of(told), str)
    assert isinstance(directory_of(told), str)
    records = records_for(told, one.harness)
    assert json.dumps(hook_input) == before
    for record in records:
        assert len(json.dumps(record.payload, allow_nan=False)) < 2 * MAX_JSON
        assert all(isinstance(each, str) for each in (record.kind, record.session_id, record.cwd, record.turn_id))
    return records


@pytest.mark.parametrize("one", MEANING, ids=str)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_value_in_any_field_is_read_or_kept(one: Recorded, data: st.DataObject) -> None:
    """What the event says is recorded as before; what is no text where a text belongs stands beside it, of a tool its
    name alone; an event that tells nothing any more but such a field is kept whole."""
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(one.hook_input)), JSON, min_size=1, max_size=3))
    hook_input = {**one.hook_input, **changed}
    adapter = ADAPTERS[one.harness]
    records = read(one, hook_input)
    unread = looking.unread(hook_input, adapter.texts, adapter.inner_texts)
    if unread:
        [record] = records
        kept = record.payload
        told = kept.get("hook_input") or kept.get("unfamiliar") or dict.fromkeys(kept.get("unfamiliar_keys", ()))
        assert {key.partition(".")[0] for key in unread} <= {key.partition(".")[0] for key in told}


@pytest.mark.parametrize("one", MEANING, ids=str)
@pytest.mark.parametrize("value", [7, True, [1], {"a": 1}, [[["deep"]]]], ids=str)
def test_a_text_of_another_type_costs_no_event(one: Recorded, value: object) -> None:
    """One field after the other holds something else: what there was to tell is told, or kept as it came."""
    for key in ADAPTERS[one.harness].texts & one.hook_input.keys():
        [record] = read(one, {**one.hook_input, key: value})
        kept = record.payload.get("hook_input") or record.payload.get("unfamiliar") or {}
        assert kept.get(key) == value or record.kind.startswith("tool_"), key
