"""The daemon killed with SIGKILL: nothing accepted is lost, nothing is delivered twice."""

import signal
import threading

import pytest

from daemon.demo.recording import steps
from tests.end_to_end.conftest import Home
from tests.end_to_end.test_recorded_session import assert_delivered_once, play, until_delivered
from tests.fakes.loopback_http import Request

pytestmark = pytest.mark.usefixtures("uncounted")


def test_killed_after_every_step_of_the_recording(hosted: Home) -> None:
    """A daemon that dies after each hook of a session, and comes back, delivers the session once."""
    for step in steps(hosted.project):
        hosted.start(wait=False)
        hosted.hook(step.action, step.hook_input, reason=step.reason)
        hosted.stop(signal.SIGKILL)
    hosted.start()
    until_delivered(hosted)
    assert_delivered_once(hosted)


@pytest.mark.parametrize("moment", ["before the request is read", "after the batch is committed"])
def test_killed_at_the_first_add(hosted: Home, moment: str) -> None:
    """A daemon that dies with a request in the air looks for the batch before it sends it again."""
    api = hosted.api
    assert api is not None
    killed = threading.Event()

    def kill(request: Request) -> None:
        if request.path.endswith("/memories/add/") and not killed.is_set():
            assert hosted.daemon is not None
            hosted.daemon.kill()
            hosted.daemon.wait()
            killed.set()

    if moment.startswith("before"):
        api.on_request = kill
    else:
        api.on_commit = kill
    hosted.start(wait=False)
    play(hosted)
    hosted.until(killed.is_set, "no request came")
    hosted.start()
    until_delivered(hosted)
    assert_delivered_once(hosted)


@pytest.mark.parametrize("question", [1, 2])
def test_killed_while_asking_for_an_extraction(hosted: Home, question: int) -> None:
    """What was accepted is asked for again after a restart, and not sent again."""
    api = hosted.api
    assert api is not None
    api.extraction_polls = 2
    asked: list[Request] = []
    killed = threading.Event()

    def kill(request: Request) -> None:
        if "/event" in request.path:
            asked.append(request)
            if len(asked) == question and hosted.daemon is not None:
                hosted.daemon.kill()
                hosted.daemon.wait()
                killed.set()

    api.on_request = kill
    hosted.start(wait=False)
    play(hosted)
    hosted.until(killed.is_set, "no question came")
    hosted.start()
    until_delivered(hosted)
    assert_delivered_once(hosted)
