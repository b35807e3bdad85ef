"""An owner's memories as each platform elsewhere lists them, against its fake, over real sockets."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from memsyncd.platforms.owned import ListingCut, Lists, OwnedMemory, Owner, owned
from memsyncd.platforms.platform import Message, Rejected
from tests.memsyncd.platforms.grounds import BATCH, REMOTE, Remote, hosted, self_hosted


@pytest.fixture(params=list(REMOTE))
def remote(request: pytest.FixtureRequest) -> Iterator[Remote]:
    """Give each platform elsewhere."""
    with REMOTE[request.param]() as ready:
        yield ready


def listed(remote: Remote, owner: Owner, pages: int = 50) -> list[OwnedMemory]:
    return [memory for page in cast("Lists", remote.platform).memories_of(owner, pages=pages) for memory in page]


def tell(remote: Remote, count: int, **more: str) -> None:
    texts = [Message("user", f"Fact {number} of {sorted(more.items())}.") for number in range(count)]
    accepted = remote.platform.add(replace(BATCH, messages=texts, **more))
    if not accepted.finished:
        remote.platform.extraction(accepted.event_id)


def test_a_memory_is_listed_with_the_ids_it_was_stored_under(remote: Remote) -> None:
    """However the platform calls them: the hosted one's listing calls the run a session, the server keeps the app in
    the metadata."""
    tell(remote, 1)
    (memory,) = listed(remote, Owner(user_id=BATCH.user_id))
    assert (memory.user_id, memory.agent_id, memory.app_id, memory.run_id) == (
        BATCH.user_id, BATCH.agent_id, BATCH.app_id, BATCH.run_id,
    )  # fmt: skip


def test_owners_are_told_apart(remote: Remote) -> None:
    """A person, a project's people, a person in a project, and each of them in one session."""
    tell(remote, 1)
    tell(remote, 1, user_id="bea")
    tell(remote, 1, user_id="bea", agent_id="other-1", run_id="s2")
    project = BATCH.agent_id
    assert len(listed(remote, Owner(user_id="bea"))) == len(listed(remote, Owner(project_id=project))) == 2
    assert len(listed(remote, Owner(user_id="bea", project_id=project))) == 1
    assert len(listed(remote, Owner(user_id="bea", run_id="s2"))) == 1
    assert listed(remote, Owner(user_id=BATCH.user_id, run_id="s2")) == []


@pytest.mark.parametrize("owner", [Owner(), Owner(app_id="shop"), Owner(user_id="*"), Owner("ada", run_id=" ** ")])
def test_memories_of_nobody_or_everybody_are_not_asked_for(remote: Remote, owner: Owner) -> None:
    """Before any request (facts 5.17, 5.27)."""
    with pytest.raises(Rejected):
        listed(remote, owner)
    assert remote.fake.requests() == []


def test_a_listing_that_is_not_whole_says_so_after_what_it_has() -> None:
    """The hosted platform's, where no more pages are asked for."""
    with hosted() as remote:
        tell(remote, 101)
        assert len(listed(remote, Owner(user_id=BATCH.user_id), pages=2)) == 101
        pages = cast("Lists", remote.platform).memories_of(Owner(user_id=BATCH.user_id), pages=1)
        assert len(next(pages)) == 100
        with pytest.raises(ListingCut):
            next(pages)


def test_a_server_lists_a_thousand() -> None:
    """And knows no second page."""
    with self_hosted() as remote:
        tell(remote, 999)
        assert len(listed(remote, Owner(user_id=BATCH.user_id))) == 999
        tell(remote, 1, run_id="s2")
        with pytest.raises(ListingCut):
            listed(remote, Owner(user_id=BATCH.user_id))
        assert len(listed(remote, Owner(user_id=BATCH.user_id, run_id="s2"))) == 1


@pytest.mark.parametrize("item", [{}, {"id": "", "memory": "x"}, {"id": 7, "memory": "x"}, {"id": "m", "memory": None}])
def test_what_is_no_memory_is_none(item: dict[str, object]) -> None:
    """It costs the others nothing."""
    assert owned(item) is None
