"""The charts: their columns, their heights, and what stands for several minutes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.charts import EIGHTHS, Joined, Values, drawn


@pytest.mark.parametrize(
    ("values", "columns", "height", "joined", "rows", "peak"),
    [
        ([0, 1, 8], 3, 1, "highest", ["▁▂█"], 8),
        ([0, 0], 2, 1, "highest", ["▁▁"], 0),
        ([None, 0, 4], 3, 1, "highest", [" ▁█"], 4),
        ([0, 8, 16], 3, 2, "highest", [" ▁█", "▁██"], 16),
        ([1, 2], 5, 1, "highest", ["▅▅██"], 2),
        ([1, 2, 3, 4], 2, 1, "highest", ["▅█"], 4),
        ([1, 2, 3, 4], 2, 1, "sum", ["▄█"], 7),
        ([9, 1, 2, 3, 4], 2, 1, "sum", ["██"], 10),
        ([None, None, 3, None], 2, 1, "sum", [" █"], 3),
        ([], 10, 1, "sum", [""], 0),
    ],
)
def test_charts(  # noqa: PLR0917  (a table)
    values: Values, columns: int, height: int, joined: Joined, rows: list[str], peak: float
) -> None:
    """Nothing is a thin line, no daemon an empty column, and neighbours are joined from the newest on."""
    chart = drawn(values, columns=columns, height=height, joined=joined)
    assert (list(chart.rows), chart.peak) == (rows, peak)


@given(
    st.lists(st.none() | st.floats(0, 1e12), max_size=90), st.integers(1, 200), st.integers(1, 6),
    st.sampled_from(["highest", "sum"]),
)  # fmt: skip
def test_every_chart_fits(values: Values, columns: int, height: int, joined: Joined) -> None:
    """Whatever the values: so many rows, none wider than the room, all of one width, and what is more than nothing shows."""
    chart = drawn(values, columns=columns, height=height, joined=joined)
    assert len(chart.rows) == height
    assert len({len(row) for row in chart.rows}) == 1
    assert len(chart.rows[0]) <= columns
    assert all(character in EIGHTHS for row in chart.rows for character in row)
    if chart.peak > 0:
        assert "█" in chart.rows[0]
