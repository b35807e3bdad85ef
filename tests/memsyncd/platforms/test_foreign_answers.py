"""A page in the platform's place: from then on it is asked without key and text whether the platform is there again."""

from collections.abc import Iterator

import pytest

from memsyncd.platforms.json_api import WITHHELD_SECONDS
from memsyncd.platforms.platform import Busy, NotUnderstood, PlaceTaken, PlatformError
from tests.clocks import HandClock
from tests.fakes import mem0_behaviours as behave
from tests.memsyncd.platforms.grounds import BATCH, QUERY, REMOTE, Remote

FOREIGN = {
    "html": behave.html(),
    "text": behave.answer(200, b"Success"),
    "empty": behave.answer(200, b""),
    "redirect": behave.redirect("http://login.example.org/", 307),
    "511": behave.html(511),
}


@pytest.fixture
def hands() -> HandClock:
    return HandClock()


@pytest.fixture(params=sorted(REMOTE))
def remote(request: pytest.FixtureRequest, hands: HandClock) -> Iterator[Remote]:
    with REMOTE[request.param](clock=hands.clock()) as ready:
        yield ready


def meet(remote: Remote, behaviour: behave.Behaviour | None = FOREIGN["html"]) -> None:
    """Let something else answer in the platform's place, and let it be met."""
    remote.fake.always("*", behaviour)
    with pytest.raises(NotUnderstood) as met:
        remote.platform.add(BATCH)
    assert met.value.may_have_arrived and not isinstance(met.value, PlaceTaken)


@pytest.mark.parametrize("behaviour", FOREIGN.values(), ids=FOREIGN)
def test_neither_key_nor_text_goes_to_what_answers_in_its_place(remote: Remote, behaviour: behave.Behaviour) -> None:
    """After the first such answer only a small question without either goes out, for whatever is to be done."""
    meet(remote, behaviour)
    before = len(remote.fake.requests())
    for call in (lambda: remote.platform.add(BATCH), lambda: remote.platform.search(QUERY), remote.platform.ping):
        with pytest.raises(PlaceTaken) as refused:
            call()
        assert not refused.value.may_have_arrived, "nothing was sent, so nothing is to be looked for"
    asked = remote.fake.requests()[before:]
    assert len(asked) == 3
    assert all(request.method == "GET" and not request.body for request in asked)
    assert len(remote.fake.with_key()) == 1


def test_the_platform_is_taken_up_as_soon_as_it_answers_as_itself(remote: Remote) -> None:
    """It refuses the question for want of a key, in its own way; the request follows at once, and the next ones go
    without a question."""
    meet(remote)
    remote.fake.always("*", None)
    before = len(remote.fake.requests())
    remote.platform.add(BATCH)
    remote.platform.add(BATCH)
    assert [request.method for request in remote.fake.requests()[before:]] == ["GET", "POST", "POST"]
    assert len(remote.fake.with_key()) == 3


def test_a_platform_that_says_it_is_busy_is_no_page(remote: Remote) -> None:
    """Its own refusal is what the job hears."""
    meet(remote)
    remote.fake.always("*", behave.busy(503))
    with pytest.raises(Busy):
        remote.platform.add(BATCH)


def test_a_page_on_one_route_only_holds_up_no_other(remote: Remote) -> None:
    """The question is answered well, so each request goes out as ever."""
    remote.fake.always("add", behave.html())
    for _ in range(3):
        with pytest.raises(NotUnderstood) as met:
            remote.platform.add(BATCH)
        assert not isinstance(met.value, PlaceTaken)
        remote.platform.search(QUERY)


def test_who_shows_strangers_a_page_is_asked_in_earnest_once_in_a_while(remote: Remote, hands: HandClock) -> None:
    """A gateway may have pages for all who bring no key: it is not waited for without end."""
    meet(remote)
    remote.fake.always("*", None)
    remote.fake.always("ping", behave.html())
    remote.fake.always("list", behave.html())
    hands.move(WITHHELD_SECONDS - 1)
    with pytest.raises(PlaceTaken):
        remote.platform.add(BATCH)
    hands.move(1)
    remote.platform.add(BATCH)
    remote.platform.add(BATCH)


def test_asked_in_earnest_in_vain_it_is_let_alone_for_as_long_again(remote: Remote, hands: HandClock) -> None:
    """Once each while, not once and then ever again."""
    meet(remote)
    kinds: list[type[PlatformError]] = []
    for _ in range(6):
        hands.move(WITHHELD_SECONDS / 2)
        with pytest.raises(NotUnderstood) as met:
            remote.platform.add(BATCH)
        kinds.append(type(met.value))
    assert kinds == [PlaceTaken, NotUnderstood] * 3
