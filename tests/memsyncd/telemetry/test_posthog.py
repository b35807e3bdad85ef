"""The endpoint over HTTP, against a fake on loopback."""

from collections.abc import Iterator

import pytest

from memsyncd.clock import Clock
from memsyncd.platforms.platform import (
    Busy,
    Cancelled,
    KeyRefused,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Rejected,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings
from memsyncd.telemetry.posthog import PostHog, Wire, wire
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_behaviours import Behaviour
from tests.fakes.posthog import PROJECT_KEY, FakePostHog
from tests.memsyncd.telemetry.spooling import SENDER, line, uuid_of


@pytest.fixture
def fake() -> Iterator[FakePostHog]:
    with FakePostHog() as running:
        yield running


@pytest.fixture
def endpoint(fake: FakePostHog) -> Iterator[PostHog]:
    made = PostHog(fake.url + "/", PROJECT_KEY, HttpSettings(), Clock())
    yield made
    made.close()


def batch(count: int = 2) -> list[Wire]:
    return [found for number in range(count) if isinstance(found := wire(line(number), SENDER), Wire)]


def test_a_batch_arrives(fake: FakePostHog, endpoint: PostHog) -> None:
    """Every event with its own id and time; nothing is dropped, and no header carries the key."""
    endpoint.send(batch())
    assert [event["uuid"] for event in fake.events()] == [uuid_of(0), uuid_of(1)]
    assert fake.dropped() == []
    (request,) = fake.requests()
    assert (request.method, request.path) == ("POST", "/batch/")
    assert PROJECT_KEY not in str(request.headers)


def test_a_refusal_that_repeats_the_batch_is_told_without_it(fake: FakePostHog, endpoint: PostHog) -> None:
    """The endpoint may quote what it cannot take; its words end up in the status (CONTRACT)."""
    events = batch(1)
    fake.script(behave.answer(400, {"detail": f"cannot be read: {events[0].json.decode()}"}))
    with pytest.raises(Rejected) as failure:
        endpoint.send(events)
    assert "cannot be read" in failure.value.message
    assert "[what was sent]" in failure.value.message
    assert events[0].uuid not in failure.value.message


def test_nothing_is_opened_before_the_first_batch(fake: FakePostHog, endpoint: PostHog) -> None:
    """Being configured is no reason to connect."""
    assert fake.connections == 0
    assert endpoint.destination == f"telemetry:{fake.url}"


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (behave.answer(429), Busy),
        (behave.busy(503), Busy),
        (behave.answer(408), Busy),
        (behave.answer(500), Busy),
        (behave.answer(400, {"detail": "cannot be read"}), Rejected),
        (behave.answer(413), Rejected),
        (behave.answer(422), Rejected),
        (behave.answer(401), KeyRefused),
        (behave.answer(403), KeyRefused),
        (behave.answer(402), QuotaExceeded),
        (behave.answer(204, b""), NotUnderstood),
        (behave.answer(202), NotUnderstood),
        (behave.redirect("https://example.org/"), NotUnderstood),
        (behave.html(), NotUnderstood),
        (behave.html(404), NotUnderstood),
        (behave.cut(), NoAnswer),
        (behave.half_an_answer(), NoAnswer),
    ],
)
def test_only_200_is_success(
    fake: FakePostHog, endpoint: PostHog, behaviour: Behaviour, expected: type[PlatformError]
) -> None:
    """Each other answer is one of the classes that say what comes next (hooks-and-apis 4)."""
    fake.script(behaviour)
    with pytest.raises(expected) as failure:
        endpoint.send(batch())
    assert type(failure.value) is expected
    endpoint.send(batch())
    assert sum(fake.deliveries().values()) >= 2


def test_a_wait_that_is_asked_for_is_heard(fake: FakePostHog, endpoint: PostHog) -> None:
    """Retry-After, in seconds."""
    fake.script(behave.busy(429, "37"))
    with pytest.raises(Busy) as failure:
        endpoint.send(batch())
    assert failure.value.retry_after == 37.0


def test_a_wrong_key_is_in_no_error(fake: FakePostHog) -> None:
    """Even where the endpoint repeats it."""
    wrong = "phc" + "_" + "9" * 20
    endpoint = PostHog(fake.url, wrong, HttpSettings(), Clock())
    with pytest.raises(KeyRefused):
        endpoint.send(batch())
    fake.script(behave.reject(400, f"no project has {wrong}"))
    with pytest.raises(Rejected) as failure:
        endpoint.send(batch())
    endpoint.close()
    assert wrong not in str(failure.value)


def test_an_endpoint_that_is_down(fake: FakePostHog, endpoint: PostHog) -> None:
    """Nothing was sent, and it says where to."""
    fake.refuse_connections()
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
        endpoint.send(batch())


def test_a_call_in_the_air_ends_with_the_daemon(fake: FakePostHog, endpoint: PostHog) -> None:
    """A stop does not wait for an endpoint that hangs."""
    fake.always(behave.hang())
    fake.on_request = lambda _: endpoint.cancel()
    with pytest.raises(Cancelled):
        endpoint.send(batch())


@pytest.mark.parametrize("bad", ["", "ftp://example.org", "example.org", "https://"])
def test_an_endpoint_that_is_no_address(bad: str) -> None:
    """Said at once, not at the first batch."""
    with pytest.raises(ValueError):
        PostHog(bad, PROJECT_KEY, HttpSettings(), Clock())


def test_a_password_in_the_address_is_in_no_name() -> None:
    """The destination's name is shown in a status."""
    endpoint = PostHog("https://someone:hidden@example.org/ph/?x=1", PROJECT_KEY, HttpSettings(), Clock())
    assert endpoint.destination == "telemetry:https://example.org/ph"
    endpoint.close()
