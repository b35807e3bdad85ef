"""Commands of memsyncd killed just before and just after their steps on disk and network, and what is so afterwards.

Nothing is lost; at most the request that was in the air comes once more, and none where the platform can be asked for
it; no file is left behind; every database is whole. The steps are found, not listed: `killing/step.py` names them.
"""

from collections.abc import Iterator

import pytest

from tests.end_to_end.killing.embedded import ByModel, Embedded
from tests.end_to_end.killing.forgetting import Forgetting, ForgettingBesideDaemon, ForgettingRemotely
from tests.end_to_end.killing.hooks import Hook
from tests.end_to_end.killing.hosted import AfterClaims, AfterSending, Hosted
from tests.end_to_end.killing.matrix import Matrix, faults, spread, table, turns
from tests.end_to_end.killing.own_server import OwnServer
from tests.end_to_end.killing.plugin import Plugin
from tests.end_to_end.killing.retention import RetentionRound
from tests.end_to_end.killing.scenario import Scenario
from tests.end_to_end.killing.telemetry import Telemetry

SCENARIOS: tuple[type[Scenario], ...] = (
    Hook,
    Hosted,
    AfterClaims,
    AfterSending,
    OwnServer,
    Embedded,
    ByModel,
    Plugin,
    Telemetry,
    Forgetting,
    ForgettingBesideDaemon,
    ForgettingRemotely,
    RetentionRound,
)

EVERYDAY: dict[type[Scenario], int] = {
    Hook: 3,
    Hosted: 6,
    Embedded: 3,
    Plugin: 2,
    Telemetry: 2,
    Forgetting: 2,
    RetentionRound: 2,
}
"""How many points each has in the everyday run; `make soak` has all."""

TURNS = 3
"""Of a step that comes often, so many are tried in the long run: the first, one in the middle, the last."""


@pytest.fixture(scope="module")
def matrix() -> Iterator[Matrix]:
    with Matrix(at_once=6) as made:
        yield made


@pytest.mark.parametrize("scenario", EVERYDAY, ids=lambda scenario: scenario.__name__)
def test_killed_at_some_steps(matrix: Matrix, scenario: type[Scenario]) -> None:
    """Spread from the command's first step to its last."""
    assert not faults(matrix.kill(scenario(), spread(EVERYDAY[scenario])))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_killed_at_every_step(matrix: Matrix, scenario: type[Scenario]) -> None:
    """Before and after each."""
    results = matrix.kill(scenario(), turns(TURNS))
    print("\n" + table(scenario.name, results))  # noqa: T201  (the figures of docs/reliability.md)
    assert not faults(results)
