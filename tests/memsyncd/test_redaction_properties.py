"""What redaction promises of every text: the secret goes, it never raises, it is idempotent, JSON stays JSON, time is linear."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memsyncd.redaction import redact, redact_value

pytestmark = pytest.mark.no_cover  # tracing doubles what is measured here; every line runs in test_redaction.py too

ALPHABET = "abcdefghijkmnpqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789"
BODY = st.text(alphabet=ALPHABET, min_size=40, max_size=48).map("Zq7{}".format)

SHAPES = [
    "sk-{}", "sk-ant-{}", "psk-{}", "m0-{}", "m0sk_{}", "mem0_sk-{}", "ghp_{}", "gho_{}", "ghs_{}", "github_pat_{}", "glpat-{}", "xoxb-{}", "xapp-{}", "AIza{}", "ya29.{}",
    "npm_{}", "hf_{}", "SG.{}", "sk_live_{}", "rk_live_{}", "shpat_{}", "dop_v1_{}", "dckr_pat_{}", "glsa_{}", "lin_api_{}", "whsec_{}", "hvs.{}", "pypi-AgE{}", "gsk_{}",
    "password={}", "api_key: {}", "--token {}", "DB_PASSWORD={}", 'clientSecret = "{}"', "secret='{}'", '{{"access_token": "{}"}}', "{{'passwd': '{}'}}", "<password>{}</password>",
    "https://bob:{}@host.example/x", "redis://:{}@host.example", "Authorization: Basic {}", "authorization: bearer {}", "X-Api-Key: {}", "Cookie: a={}; b={}", "?access_token={}&next=1",
    "AccountKey={};EndpointSuffix=x", "Server=x;Password={};Encrypt=true", "sshpass -p {} ssh x", "mysql -u root -p{} db", "CREATE USER x IDENTIFIED BY '{}'", 'password: "{}',
    "das Passwort lautet {}", "mot de passe : {}", "contrase\u00f1a: {}", "\u5bc6\u7801\u662f {}", "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f{}", "openssl enc -k {} -in x", "the password is {}", "pw: {}", "password for it is {}", "password:\n  {}", "token: |\n  {}",
]  # fmt: skip
SURROUNDING = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\\\"'`<>@", exclude_categories=["Cs"]), max_size=60
)


def raw(text: str) -> str:
    return text


def in_json(text: str) -> str:
    return json.dumps({"output": text, "n": 1})


def in_json_twice(text: str) -> str:
    return json.dumps({"payload": json.dumps({"output": text}, ensure_ascii=False)})


def in_json_thrice(text: str) -> str:
    return json.dumps([in_json_twice(text)])


@pytest.mark.parametrize("wrap", [raw, in_json, in_json_twice, in_json_thrice])
@given(
    shape=st.sampled_from(SHAPES),
    body=BODY,
    before=SURROUNDING,
    after=SURROUNDING,
    gap=st.sampled_from([" ", "\n", ", ", "; ", "(", "\t"]),
)
def test_a_secret_never_survives(  # noqa: PLR0917  (what hypothesis draws)
    wrap: Callable[[str], str], shape: str, body: str, before: str, after: str, gap: str
) -> None:
    """Every shape, amid any text, raw or in JSON at three depths; what was JSON still is."""
    text = wrap(f"{before}{gap}{shape.format(body, body)}\n{after}")
    redacted = redact(text)
    assert body not in redacted
    assert body[:20] not in redacted
    assert redact(redacted) == redacted
    if wrap is not raw:
        json.loads(redacted)


SECRETISH = st.lists(
    st.sampled_from([*"aB7 \n\t\\\"'`=:&?,;()[]{}<>@/-_.%$*|!+#", "password", "token", "api_key", "Authorization", "Basic ", "Cookie", "sk-", "eyJ", "[REDACTED]", "://", " is ", "\u0130", "\ud800", "\\n", "\\u0022", "AKIA", "\n  ", "|\n", "\u5bc6\u7801", "\u662f", "\uff1a", "\\u5bc6\\u7801", "mot de passe", " est ", "Passwort", " lautet ", "-----END PRIVATE KEY-----", "pw", "xxxxxxxxxxxxxxxx", "pass", "key", "creds", "user: a, ", "kT9#vLq2xZp", "a1B2c3D4e5F6g7H8i9J0k1"]),
    max_size=40,
).map("".join)  # fmt: skip


@given(text=SECRETISH | st.text(max_size=80))
@example(text="password=\u0130\u0130 token=ab1")
@settings(max_examples=400)
def test_any_text_is_redacted_without_an_error_and_once_is_enough(text: str) -> None:
    """No text makes it raise, and redacting again changes nothing."""
    once = redact(text)
    assert redact(once) == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | SECRETISH,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SECRETISH | st.sampled_from(["password", "token", "name", "value"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(value=JSON, ascii_only=st.booleans())
@settings(max_examples=200)
def test_json_stays_json_with_as_many_entries(value: object, ascii_only: bool) -> None:
    """As a text it parses to the same shape; as a value it keeps its shape too."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    for after in (json.loads(redact(text)), redact_value(value)):
        assert shape_of(after) == shape_of(json.loads(text))


def shape_of(value: object) -> object:
    if isinstance(value, dict):
        return {"of": [shape_of(item) for item in value.values()]}
    return [shape_of(item) for item in value] if isinstance(value, list) else None


UNITS = [
    "password(", "password('", "PASSWORD ", "password: |\n", "password: !a ", ":thin:a/", ":thin:", "form-data", 'form-data name="', "ldapsearch ", "ldapsearch -w", "?key=", "&key=a", "-pass pass:",
    "self.token = ", "a, password = ", ":param token: ", "[token] = ", "password: a[a, ", "password: a |", '"Authorization": "Basic ',
    "password=", "password='", 'password="', "password=`", 'password="a"b', 'password: \\"', 'password=\\"\\\\\\"x ', "password=\\", "token=a,", "token=a,a", "token=)", "token ", "token is ",
    "password:\n", 'password="""', "password='''x\n", "Authorization: Basic ", "Authorization:", 'Authorization: a="', "Cookie: a=", 'Cookie: a="', "://", "://a:", "://a:b@", "a:b@", "://a:@@", "@", "\\", '\\"', "\\\\n",
    "sk-", "task-", "sk-sk-", "ask-", "eyJ", "eyJaaaaaaaaaa", "eyJaaaaaaaaaa.", "eyJaaaaaaaaaa-", "AKIA", "a_", "x", " ", "\t", "\n", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIB\n", "-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n1    1 ", "mysql ", "mysql -", "curl ", "curl -u ", "login ", "login a password ", "sshpass -p '", "identified by ", "bearer a", "&sig=", "?a=b&", "password=&a", "<password>", "password=<", "token=<a", "token=${", "token=$(",
    "token=a(", "token=a.b", "token=a[", "token={{", "token: a |", "password: str", "key", "a key", " key=", "secret_", "secret-secret-", '{"secret": [', '"token": [[', '"token": ["a",', "--password ", '"--password", ', '"name": "token", "value": ', "1//0", "12345678:AA", "password:\n  'a", "password:\n  a\n", "token: |\n  a\n", "token: >-\n a", "  a\n", "token: |", "mot de passe ", "mot de ", "contrase\u00f1a", "contrase\u00f1a: ", "\u5bc6\u7801", "\u5bc6\u7801\uff1a", "\u5bc6\u7801\u662f a", "\\u5bc6\\u7801", "\\\\u5bc6", "\u043f ", "openssl ", "openssl -k ", "sig=", "sig=a", "sig=A1", "AC", "SK0f0f", "pw", "pw=", "passwort lautet ",
    "-----END PRIVATE KEY-----\n", "aaaaaaaaaaaaaaaaaaaa\n-----END PRIVATE KEY-----\n", "PRIVATE KEY aaaaaaaaaaaaaaaaaaaa\n", "lautet a", "password for a ", "password for a a a a a ", "password of a: ", "password:\\n  a", "token: |\\n  a", "\\n  a", "hooks.slack.com/services/", "%22", "password%3D%22",
    "pass ", "pass: a", "pass a1B2c3D4e5F6", "user: a, pass ", "user: a, ", "key is ", "key: A1b2", "key=a1B2c3D4", "key a1B2c3D4e5F6g7H8i9J0k1", "creds ", "creds: a:", "creds a/ b", "creds: a1B2:", "db pass ",
]  # fmt: skip
SMALL, LARGE = 16_384, 65_536
TRIES = 4
"""A square is one in each; a neighbour that has the processor's caches is not."""


def cost(text: str) -> float:
    """Measure processor seconds, the least of three, so that another process's turn does not count."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        redact(text)
        best = min(best, time.thread_time() - start)
        if best < 0.002:
            break
    return best


def grows_too_much(unit: str, size: int, larger: int, times: float) -> bool:
    """Whether the larger text of so many characters costs so many times as much."""
    small, large = (cost((unit * (each // len(unit) + 1))[:each]) for each in (size, larger))
    return large >= 0.02 and large >= times * small


@pytest.mark.parametrize("unit", UNITS)
def test_the_cost_is_linear_in_the_length(unit: str) -> None:
    """Four times the text costs about four times as much, for each text that a careless pattern would choke on."""
    assert not all(grows_too_much(unit, SMALL, LARGE, 9) for _ in range(TRIES))


@given(units=st.lists(st.sampled_from(UNITS), min_size=2, max_size=3))
@settings(max_examples=15, deadline=None)
def test_mixed_bad_texts_cost_no_more_than_some_microseconds_a_character(units: list[str]) -> None:
    """No mixture of them is quadratic either."""
    unit = "".join(units)
    assert not all(grows_too_much(unit, SMALL // 4, SMALL, 10) for _ in range(TRIES))


@pytest.mark.parametrize(
    "unit", ["password='a\"b ", "://a:b@@", "\\", "eyJaaaaaaaaaa-", "sk-", "Authorization: Basic a "]
)
def test_a_megabyte_of_the_worst_is_done(unit: str) -> None:
    """Without deep recursion, and with all of it looked at."""
    text = unit * (1_000_000 // len(unit))
    assert len(redact(text)) <= 3 * len(text)
