"""Near-duplicates and changes of mind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.platforms.local.merge import Relation, claim_of, fingerprint, fuller, relation

KNOWLEDGE = "project_knowledge"


def between(old: str, new: str, category: str = KNOWLEDGE) -> Relation:
    return relation(claim_of(new, category), claim_of(old, category), lambda _: 1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We always use pnpm in this repository.", "In this repository always use pnpm"),
        ("Deployments run through the pipeline.", "The deployment runs through the pipeline"),
        ("Schema changes are applied by the ops team.", "Schema changes are applied by the ops team on request."),
        ("The root cause was the stale lock file in `/run/sync`.", "Root cause: the stale lock file in `/run/sync`"),
    ],
)
def test_the_same_in_other_words_is_the_same(old: str, new: str) -> None:
    """Order, endings and small additions do not make another memory."""
    assert between(old, new) is Relation.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Staging runs on port 8080.", "The worker dashboard uses port 9090."),
        ("The login page uses React.", "The tax table has 14 columns."),
        ("The upload limit is 10 MB.", "A search may take 200 ms."),
        ("It's 64 MB", "The offline cache is limited to 500 MB."),
        ("Lint with ruff.", "Deploy with make."),
        ("Never restart host3 by hand.", "Never restart host4 by hand."),
        ("The limits are read from `quota_low.toml`.", "The limits are read from `quota_high.toml`."),
    ],
)
def test_different_things_stay_apart(old: str, new: str) -> None:
    """A shared unit, verb or port does not make two facts one."""
    assert between(old, new) is Relation.DIFFERENT


def test_a_newer_figure_does_not_hide_an_older_result() -> None:
    """Results are history: both stay."""
    assert (
        between("Import of the catalogue took 80 s.", "Import of the catalogue took 30 s.", "results")
        is Relation.DIFFERENT
    )


def test_the_fuller_of_two_is_kept_and_else_the_newer() -> None:
    """A shorter repetition does not cost the details."""
    long, short = (
        claim_of("Deploys go through the pipeline in Oslo on Mondays", KNOWLEDGE),
        claim_of("Deploys go through the pipeline", KNOWLEDGE),
    )
    assert fuller(short, long, lambda _: 1.0) == long.text
    assert fuller(long, short, lambda _: 1.0) == long.text


def test_a_fingerprint_ignores_order_but_not_negation_or_place() -> None:
    """It tells contents apart, within one lane of one project."""
    where = {"lane": "project", "owner": "team", "app_id": "shop"}
    assert fingerprint("use pnpm always", **where) == fingerprint("Always use pnpm.", **where)
    assert fingerprint("use pnpm", **where) != fingerprint("don't use pnpm", **where)
    assert fingerprint("use pnpm", **where) != fingerprint("use pnpm", **{**where, "app_id": "other"})


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_two_texts_can_be_compared(old: str, new: str) -> None:
    """No text raises, and a text with terms is the same as itself."""
    assert between(old, new) in Relation
    if claim_of(old, KNOWLEDGE).terms:
        assert between(old, old) is Relation.SAME
