"""Times as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.clock import from_rfc3339, rfc3339


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+12:00",
        "9999-12-31T23:59:59.999999Z",
        "",
        "soon",
        "\0",
        "\ud800",
    ],
)
def test_what_is_no_time_of_the_years_1_to_9999_is_none(text: str) -> None:
    """A time that UTC has no year for is none, as is what is no time at all."""
    assert from_rfc3339(text) is None


@given(st.text(max_size=30) | st.datetimes(timezones=st.timezones() | st.none()).map(lambda moment: moment.isoformat()))
def test_every_time_that_is_read_can_be_written(text: str) -> None:
    """Whatever a handoff says of its time, what is understood of it can be stored."""
    moment = from_rfc3339(text)
    assert moment is None or rfc3339(moment)
