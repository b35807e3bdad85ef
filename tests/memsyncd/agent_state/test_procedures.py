"""Procedural memory, on both backends."""

import asyncio
from typing import Any

import pytest

from memsyncd.agent_state import ProceduralMemory, Procedure, ProcedureStep


def procedure(
    name: str, trigger: str = "deploy app", successes: int = 0, failures: int = 0, **fields: Any
) -> Procedure:
    return Procedure(name, "", "", trigger, success_count=successes, failure_count=failures, **fields)


def ids(found: list[Procedure]) -> list[str]:
    return [item.id for item in found]


def test_a_procedure_comes_back_whole(procedures: ProceduralMemory, run: Any) -> None:
    """Every field, its steps as steps."""
    whole = Procedure(
        "p", "Deploy", "Ships it", "when asked to ship", (ProcedureStep("build", {"target": "ä"}, "ok"), ProcedureStep("push")),
        3, 1, ("ops",), {"n": [1]},
    )  # fmt: skip
    run(procedures.store(whole))
    assert run(procedures.get("p")) == whole
    assert run(procedures.suggest("ops")) == [whole]
    assert run(procedures.get("other")) is None
    assert run(procedures.count()) == 1


@pytest.mark.parametrize("query", ["app the deploy", "NAME!", "described", "tagged", 'deploy" OR'])
def test_suggest_is_by_word_overlap(procedures: ProceduralMemory, run: Any, query: str) -> None:
    """Of trigger, name, description and tags, in any order."""
    run(procedures.store(Procedure("hit", "Name", "Described well", "deploy my app", tags=("tagged",))))
    run(procedures.store(Procedure("miss", "other", "else", "never", metadata={"deploy": "app"})))
    assert ids(run(procedures.suggest(query))) == ["hit"]
    assert run(procedures.suggest("")) == run(procedures.suggest("nothing of it")) == []


def test_suggest_ranks_by_success_before_it_cuts(procedures: ProceduralMemory, run: Any) -> None:
    """Of equally fitting ones the most successful come first, though it was stored last of many."""
    for number in range(50):
        run(procedures.store(procedure(f"bad{number}", successes=1, failures=9)))
    run(procedures.store(procedure("unused")))
    run(procedures.store(procedure("proven", successes=90, failures=10)))
    run(procedures.store(procedure("lucky", successes=9, failures=1)))
    run(procedures.store(procedure("best", successes=1)))
    assert ids(run(procedures.suggest("deploy"))) == ["best", "proven", "lucky"]
    assert ids(run(procedures.suggest("deploy", top_k=5)))[3:] == ["bad0", "bad1"]
    assert ids(run(procedures.suggest("deploy", top_k=99)))[-1] == "unused"
    assert run(procedures.suggest("deploy", top_k=0)) == run(procedures.suggest("deploy", top_k=-1)) == []


def test_a_better_fit_comes_before_a_better_record(procedures: ProceduralMemory, run: Any) -> None:
    """A shared word weighs as much as a perfect record."""
    run(procedures.store(procedure("one word", "deploy it", successes=9, failures=1)))
    run(procedures.store(procedure("two words", "deploy app")))
    assert ids(run(procedures.suggest("deploy app"))) == ["two words", "one word"]


def test_outcomes_are_counted(procedures: ProceduralMemory, run: Any) -> None:
    """Twenty at once too; for a procedure that is not there nothing happens."""
    run(procedures.store(procedure("p", successes=1)))

    async def twenty() -> None:
        await asyncio.gather(*(procedures.record_outcome("p", success=number % 4 > 0) for number in range(20)))
        await procedures.record_outcome("nobody", success=True)

    run(twenty())
    found = run(procedures.get("p"))
    assert (found.success_count, found.failure_count, found.total_uses, found.success_rate) == (16, 5, 21, 16 / 21)
    assert run(procedures.count()) == 1


def test_a_duplicate_replaces_the_whole_procedure(procedures: ProceduralMemory, run: Any) -> None:
    """Its words, and its counts, are the new one's."""
    run(procedures.store(procedure("p", "alpha beta", successes=5)))
    run(procedures.store(procedure("p", "beta gamma", failures=1)))
    assert run(procedures.count()) == 1
    assert run(procedures.suggest("alpha")) == []
    assert run(procedures.suggest("beta gamma")) == [procedure("p", "beta gamma", failures=1)]


def test_a_procedure_is_a_copy(procedures: ProceduralMemory, run: Any) -> None:
    """The templates and metadata given and read are not those kept."""
    template, metadata = {"a": "1"}, {"n": [1]}
    run(procedures.store(procedure("p", steps=(ProcedureStep("t", template),), metadata=metadata)))
    template["b"] = "2"
    metadata["n"].append(2)
    found = run(procedures.get("p"))
    found.steps[0].args_template["c"] = "3"
    found.metadata["n"].append(3)
    again = run(procedures.get("p"))
    assert (again.steps[0].args_template, again.metadata) == ({"a": "1"}, {"n": [1]})


def test_an_unused_procedure_has_no_success() -> None:
    """Its rate is nought, not an error."""
    assert procedure("p").success_rate == 0.0
    assert procedure("p").total_uses == 0
