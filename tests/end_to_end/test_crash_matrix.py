"""Commands of memsyncd killed just before and just after their steps on disk and network, and what is so afterwards.

Nothing is lost; at most the request that was in the air comes once more, and none where the platform can be asked for
it; no file is left behind; every database is whole. The steps are found, not listed: `killing/step.py` names them.
"""

from collections.abc import Iterator

import pytest

from tests.end_to_end.killing.calls import changing_modules, module_of
from tests.end_to_end.killing.damaged import DamagedEvidence
from tests.end_to_end.killing.embedded import ByModel, Embedded
from tests.end_to_end.killing.exchange import Exporting, Importing
from tests.end_to_end.killing.forgetting import Forgetting, ForgettingBesideDaemon, ForgettingRemotely
from tests.end_to_end.killing.heavy import Heavy
from tests.end_to_end.killing.hooks import Hook
from tests.end_to_end.killing.hosted import AfterClaims, AfterSending, Hosted
from tests.end_to_end.killing.installing import Installing
from tests.end_to_end.killing.letters import LetterBack
from tests.end_to_end.killing.matrix import Matrix, faults, spread, table, turns
from tests.end_to_end.killing.naming import Naming
from tests.end_to_end.killing.own_server import OwnServer
from tests.end_to_end.killing.pauses import Pausing, ProjectResuming, Resumed, Resuming
from tests.end_to_end.killing.plugin import Plugin
from tests.end_to_end.killing.retention import RetentionRound
from tests.end_to_end.killing.scenario import Scenario
from tests.end_to_end.killing.telemetry import Telemetry, TelemetryOff

SCENARIOS: tuple[type[Scenario], ...] = (
    Hook,
    Hosted,
    AfterClaims,
    AfterSending,
    OwnServer,
    Embedded,
    ByModel,
    DamagedEvidence,
    Heavy,
    Plugin,
    Telemetry,
    TelemetryOff,
    Forgetting,
    ForgettingBesideDaemon,
    ForgettingRemotely,
    RetentionRound,
    Pausing,
    Resuming,
    Resumed,
    ProjectResuming,
    LetterBack,
    Exporting,
    Importing,
    Installing,
    Naming,
)

EVERYDAY: dict[type[Scenario], int] = {
    Hook: 2,
    Hosted: 4,
    Embedded: 2,
    Plugin: 2,
    Telemetry: 2,
    ForgettingRemotely: 2,
    RetentionRound: 2,
}
"""How many points each has in the everyday run; `make soak` has all."""

TURNS = 3
"""Of a step that comes often, so many are tried in the long run: the first, one in the middle, the last."""

NOT_KILLED = {
    "abandoned_writes": "what it does not remove it finds again",
    "agent_state.schema": "in the process of whoever imports it: tests/memsyncd/agent_state",
    "cli.terminal": "a pipe of its own",
    "doctor.deep": "writes to see whether it can, and deletes",
    "doctor.hooks": "only reads databases",
    "doctor.machine": "only reads databases",
    "hooks.error_log": "a line of a log",
    "hooks.recalling": "the status socket",
    "installing.made_directory": "an empty directory stays, or is gone",
    "mcp_server.wire": "standard output",
    "service.failed_starts": "counts for none where it is not whole",
    "service.files": "in one step, by the next install if not by this",
    "service.log_cap": "a log",
    "status.history": "each sample has a checksum",
    "status.snapshot": "copies to look at",
    "telemetry.lifecycle": "an event told again or not at all",
}
"""Modules that change something and are killed in no scenario, with the reason."""


@pytest.fixture(scope="module")
def matrix() -> Iterator[Matrix]:
    with Matrix(at_once=8) as made:
        yield made


@pytest.fixture(scope="module")
def small_matrix() -> Iterator[Matrix]:
    with Matrix(at_once=2) as made:
        yield made


@pytest.mark.parametrize("scenario", EVERYDAY, ids=lambda scenario: scenario.__name__)
def test_killed_at_some_steps(small_matrix: Matrix, scenario: type[Scenario]) -> None:
    """Spread from the command's first step to its last."""
    assert not faults(small_matrix.kill(scenario(), spread(EVERYDAY[scenario])))


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_killed_at_every_step(matrix: Matrix, scenario: type[Scenario]) -> None:
    """Before and after each."""
    results = matrix.kill(scenario(), turns(TURNS))
    print("\n" + table(scenario.name, results))  # noqa: T201  (the figures of docs/reliability.md)
    assert not faults(results)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_nothing_that_changes_the_disk_is_left_out(matrix: Matrix) -> None:
    """Every module that does is killed in some scenario, or is named here with the reason; no other is."""
    killed = {module_of(point.name) for scenario in SCENARIOS for point in matrix.points(scenario())}
    assert changing_modules() - killed == NOT_KILLED.keys()
