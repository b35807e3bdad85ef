"""What a platform repeats of a request is nobody's business: not a word of it ends up in an error."""

import html
import json
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsyncd.clock import Clock
from memsyncd.extracting.client import ModelClient
from memsyncd.platforms.echoes import SENT, without_echo
from memsyncd.platforms.platform import PlatformError
from memsyncd.platforms.transport import HttpSettings
from tests.fakes import mem0_behaviours as behave
from tests.fakes.mem0_behaviours import Behaviour
from tests.fakes.model_server import MODEL, FakeModel
from tests.memsyncd.platforms.grounds import BATCH, QUERY, STATEMENT, Key, Remote, hosted, self_hosted

PROMPT = "Deploy the billing service to Lisbon, and tell Ada's team \u2013 it's \u201curgent\u201d now"
UNSPACED = "\u628a\u8ba1\u8d39\u670d\u52a1\u90e8\u7f72\u5230\u91cc\u65af\u672c"


def request(*contents: str) -> dict[str, object]:
    messages = [{"role": "user", "content": content} for content in contents]
    return {"messages": messages, "user_id": "ada", "metadata": {"dirs": ["billing"]}, "infer": True}


@pytest.mark.parametrize(
    ("said", "sent", "shown"),
    [
        (f"invalid input: {PROMPT}", PROMPT, f"invalid input: {SENT}"),
        (f"invalid input: {PROMPT.upper()}!", PROMPT, f"invalid input: {SENT}!"),
        (f"invalid input: '{PROMPT[7:40]}' (cut)", PROMPT, f"invalid input: '{SENT}' (cut)"),
        (f"bad {json.dumps(PROMPT)}", PROMPT, f'bad "{SENT}"'),
        (f"bad {json.dumps(json.dumps(PROMPT))}", PROMPT, f'bad " "{SENT} ""'),
        (f"bad {html.escape(PROMPT)} here", PROMPT, f"bad {SENT} here"),
        (f"bad q={urllib.parse.quote(PROMPT)}", PROMPT, f"bad q={SENT}"),
        ("bad ['deploy', 'the', 'billing', 'service']", PROMPT, f"bad ['{SENT}']"),
        ("first line\\nsecond line is bad", "first line\nsecond line", f"{SENT} is bad"),
        ("bad: one two three four; bad: five six seven eight", "one two three four five six seven eight", f"bad: {SENT}; bad: {SENT}"),
        (f"bad: {UNSPACED[2:8]}", UNSPACED, f"bad: {SENT}"),
        (f"bad: {json.dumps(UNSPACED)}", UNSPACED, f'bad: "{SENT}"'),
        ("bad: configurationmanagement", "the configurationmanagement", f"bad: {SENT}"),
        ("bad: rm -rf", "rm -rf", f"bad: {SENT}"),
        ("bad: Lisbon", "Lisbon", f"bad: {SENT}"),
        ("bad: \u5220\u9664", "\u5220\u9664", f"bad: {SENT}"),
        ("the service is not there", PROMPT, "the service is not there"),
        ("a user id is missing", "user", "a [what was sent] id is missing"),
        ("Rate limit exceeded, 100% used &amp; more\\n", PROMPT, "Rate limit exceeded, 100% used &amp; more\\n"),
        ("", PROMPT, ""),
    ],
)  # fmt: skip
def test_what_repeats_the_request_is_taken_out(said: str, sent: str, shown: str) -> None:
    """As it is, cut, escaped, in other capitals, with other signs; the platform's own words stay as they are."""
    assert without_echo(said, request("something else", sent)) == shown


@pytest.mark.parametrize(
    "said", ['model "small-coder-2-5-instruct" not found', "user_id ada-of-the-billing-team is unknown", "role user"]
)
def test_what_is_nobodys_words_may_be_told(said: str) -> None:
    """A model and ids have to be named in what is wrong with them."""
    sent = {**request("hello there"), "model": "small-coder-2-5-instruct", "user_id": "ada-of-the-billing-team"}
    assert without_echo(said, sent) == said


def test_nothing_sent_leaves_the_words_alone() -> None:
    """A question without a body repeats nothing."""
    assert without_echo("gone", None) == without_echo("gone", []) == "gone"


@given(st.text(min_size=1), st.text(), st.text())
def test_no_text_breaks_it(sent: str, before: str, after: str) -> None:
    """Whatever is sent and said; a text of some length does not come through whole."""
    shown = without_echo(f"{before} {sent} {after}", request(sent))
    assert isinstance(shown, str)
    if len(sent) > 20 and sent.isascii() and sent.isalpha() and len(before) < 1_000:
        assert sent not in shown


ECHOES = [
    lambda text: behave.answer(400, {"detail": f"invalid input: {text}"}),
    lambda text: behave.answer(500, {"error": f"cannot store '{text}'"}),
    lambda text: behave.answer(401, {"message": f"no: {text}"}),
    lambda text: behave.answer(422, {"detail": [{"loc": ["body"], "msg": f"bad {text}", "input": text}]}),
    lambda text: behave.answer(429, {"error": f"quota exceeded at {text.lower()}"}),
    lambda text: behave.answer(502, {"code": "provider_bad_request", "detail": f"the model refused {text!r}"}),
]


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(PlatformError) as failure:
        act()
    return failure.value.message.casefold()


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("ground", [hosted, self_hosted])
def test_no_error_of_a_platform_repeats_what_it_was_sent(
    ground: Callable[[], object], echo: Callable[[str], Behaviour]
) -> None:
    """Whatever it refuses, and whenever: also in the answer to a later question."""
    with ground() as remote:  # type: ignore[attr-defined]
        assert isinstance(remote, Remote)
        said = BATCH.messages[0].content
        remote.fake.always("*", echo(said))
        told = [refused(lambda: remote.platform.add(BATCH)), refused(remote.platform.ping)]
        assert all(SENT in each and said.casefold() not in each for each in told)
        remote.fake.always("*", echo(QUERY.text))
        assert QUERY.text.casefold() not in refused(lambda: remote.platform.search(QUERY))


@pytest.mark.parametrize("echo", ECHOES)
def test_no_error_of_a_model_repeats_what_it_was_asked(echo: Callable[[str], Behaviour]) -> None:
    """The extraction model is sent the dialogue too."""
    with FakeModel() as fake:
        fake.always(echo(STATEMENT))
        model = ModelClient(fake.url, MODEL, Key(""), HttpSettings(), Clock())
        assert STATEMENT.casefold() not in refused(lambda: model.ask(BATCH.messages, 60.0))
        model.close()
