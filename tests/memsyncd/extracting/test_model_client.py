"""An OpenAI-compatible endpoint, asked over loopback."""

from collections.abc import Iterator

import pytest

from memsyncd.clock import Clock
from memsyncd.extracting.client import ModelClient, Said, base, said
from memsyncd.extracting.prompt import prompt
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    Message,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    Rejected,
    Unreachable,
)
from memsyncd.platforms.transport import HttpSettings
from tests.fakes import mem0_behaviours as behave
from tests.fakes.model_server import MODEL, FakeModel, completion

KEY = "sk" + "-" + "0" * 12
PIECE = [Message("user", "The orders service uses PostgreSQL 16."), Message("assistant", "Noted.")]


class Key:
    """A key that is there."""

    def __init__(self, key: str = "") -> None:
        self.key = key

    def current(self) -> str:
        return self.key


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with FakeModel() as fake:
        yield fake


def client(fake: FakeModel, *, key: str = "", model: str = MODEL) -> ModelClient:
    return ModelClient(fake.url, model, Key(key), HttpSettings(), Clock())


def test_a_question_offers_no_tool_and_names_the_form_of_the_answer(fake: FakeModel) -> None:
    """Whatever a dialogue says, there is nothing the model could call; the schema goes along."""
    fake.tokens = 321
    model = client(fake)
    answer = model.ask(prompt(PIECE), 60.0)
    model.close()
    (body,) = fake.requests()
    assert set(body) == {"model", "messages", "stream", "temperature", "max_tokens", "response_format"}
    assert body["stream"] is False
    assert body["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "PostgreSQL 16" in answer.text
    assert answer.tokens == 321


@pytest.mark.parametrize(
    ("knows", "first", "then"),
    [
        ({"response_format", "temperature", "max_tokens", "stream"}, 1, 1),
        ({"temperature", "max_tokens", "stream"}, 2, 1),
        ({"stream"}, 3, 1),
    ],
)
def test_a_server_that_knows_less_is_asked_for_less(fake: FakeModel, knows: set[str], first: int, then: int) -> None:
    """What it refuses is left out, and left out from the start the next time."""
    fake.knows = knows
    model = client(fake)
    assert "PostgreSQL" in model.ask(prompt(PIECE), 60.0).text
    assert len(fake.requests()) == first
    model.ask(prompt(PIECE), 60.0)
    assert len(fake.requests()) == first + then
    model.close()


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (behave.busy(429, "7"), Busy),
        (behave.busy(500), Busy),
        (behave.html(), NotUnderstood),
        (behave.answer(200, b"no json"), NotUnderstood),
        (behave.answer(200, {"choices": []}), NotUnderstood),
        (behave.answer(200, {"results": []}), NotUnderstood),
        (behave.reject(413, "context length exceeded"), Rejected),
        (behave.reject(400, "context length exceeded"), Rejected),
        (behave.cut(), NoAnswer),
    ],
)
def test_what_is_no_answer_is_an_error_of_its_class(
    fake: FakeModel, behaviour: behave.Behaviour, error: type[PlatformError]
) -> None:
    """As with every platform."""
    fake.always(behaviour)
    model = client(fake)
    with pytest.raises(error):
        model.ask(prompt(PIECE), 60.0)
    model.close()


def test_a_model_that_hangs_is_waited_for_no_longer_than_was_said(fake: FakeModel) -> None:
    """It may have worked on it all the same."""
    fake.always(behave.hang())
    model = client(fake)
    with pytest.raises(NoAnswer):
        model.ask(prompt(PIECE), 1.5)
    model.close()


def test_an_unknown_model_is_refused_in_the_servers_words(fake: FakeModel) -> None:
    """So that a person can tell what to set."""
    model = client(fake, model="another")
    with pytest.raises(Rejected, match="'another' not found"):
        model.ask(prompt(PIECE), 60.0)
    model.close()


def test_the_key_goes_along_and_into_no_error(fake: FakeModel) -> None:
    """A wrong one is refused without being shown."""
    fake.keys = {KEY}
    good, bad = client(fake, key=KEY), client(fake, key="wrong" + KEY)
    assert good.ask(prompt(PIECE), 60.0).text
    with pytest.raises(KeyRefused) as refused:
        bad.ask(prompt(PIECE), 60.0)
    assert KEY not in str(refused.value)
    good.close()
    bad.close()


def test_a_ping_needs_somebody_there(fake: FakeModel) -> None:
    """Whether or not it lists its models."""
    model = client(fake)
    model.ping()
    fake.stop_listening()
    model.drop_connections()
    with pytest.raises(Unreachable):
        model.ping()
    model.close()
    assert fake.pings == 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("http://localhost:1234/v1/chat/completions", "http://localhost:1234/v1"),
        ("https://models.example.org/team/api", "https://models.example.org/team/api"),
    ],
)
def test_addresses_are_taken_as_people_write_them(written: str, meant: str) -> None:
    """With the route, without the version."""
    assert base(written) == meant


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (completion("yes", tokens=5), Said("yes", 5)),
        (completion(None, tool_calls=[{"function": {"name": "rm", "arguments": "{}"}}]), Said("")),
        (completion([{"type": "text", "text": "y"}, {"type": "image"}, {"type": "text", "text": "es"}]), Said("yes")),  # type: ignore[arg-type]
        ({**completion("yes"), "usage": {"total_tokens": "many"}}, Said("yes")),
        ({**completion("yes"), "usage": None}, Said("yes")),
    ],
)
def test_only_the_text_of_an_answer_is_read(document: object, answer: Said) -> None:
    """A call of a tool that nobody offered is nothing."""
    assert said(document) == answer


def test_a_stop_ends_the_call(fake: FakeModel) -> None:
    """Within its deadline, however long the model thinks."""
    import threading

    fake.always(behave.hang())
    model = client(fake)
    threading.Thread(target=lambda: (fake.wait_for(lambda f: len(f.requests()) == 1), model.cancel())).start()
    with pytest.raises(PlatformError, match="our own stop"):
        model.ask(prompt(PIECE), 60.0)
    model.close()
