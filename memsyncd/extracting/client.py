"""An OpenAI-compatible endpoint's chat completions, over HTTP."""

import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import httpx
import msgspec

from memsyncd import redaction
from memsyncd.clock import Clock
from memsyncd.extracting.prompt import SCHEMA
from memsyncd.platforms import authorization
from memsyncd.platforms.addresses import Resolve, system_resolver
from memsyncd.platforms.json_api import JsonApi
from memsyncd.platforms.network import Network
from memsyncd.platforms.platform import Message, NotUnderstood, Rejected
from memsyncd.platforms.transport import HttpSettings

KEY_HEADER = authorization.KeyHeader("Authorization", "Bearer ", required=False)
"""A model server of one's own takes no key."""

MAX_ANSWER_TOKENS = 2_000
"""Sixteen memories of 400 characters with their JSON; a model that runs on is cut here."""

MOST_TOKENS = 100_000_000
"""Of question and answer, as a server may count them; another number is none, and the estimate counts."""

PING_SECONDS = 5.0

_COMPLETIONS = "/chat/completions"
_MODELS = "/models"

_LIMITS: Mapping[str, Any] = {"temperature": 0, "max_tokens": MAX_ANSWER_TOKENS}
_FORMS: Sequence[Mapping[str, Any]] = (
    {
        **_LIMITS,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "memories", "strict": True, "schema": SCHEMA},
        },
    },
    _LIMITS,
    {},
)
"""The forms of a request, best first: servers refuse what they do not know, a schema or even a limit."""

_ABOUT_THE_FORM = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Said:
    """What the model answered, and how many tokens question and answer cost by its own count, if it tells."""

    text: str
    tokens: int | None = None


class _Message(msgspec.Struct):
    content: str | list[Any] | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Usage(msgspec.Struct):
    total_tokens: Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS)] = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None


class ModelClient:
    """One endpoint and one model, for the daemon's life; safe from any thread. No connection before the first call.

    `url` is the API's base, as other programs take it (`http://localhost:11434/v1`); the route itself at its end, or
    a bare host, is understood too. Raises ValueError for a bad `url`.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key_source: authorization.KeySource,
        http: HttpSettings,
        clock: Clock,
        *,
        redact: Callable[[str], str] = redaction.redact,
        proxies: Callable[[], Mapping[str, str]] = urllib.request.getproxies,
        resolve: Resolve = system_resolver,
        open_connection: Callable[[Network], httpx.BaseTransport] | None = None,
    ) -> None:
        self._api = JsonApi(
            base(url),
            key_source,
            KEY_HEADER,
            http,
            clock,
            probe_path=_MODELS,
            redact=redact,
            proxies=proxies,
            resolve=resolve,
            open_connection=open_connection,
        )
        self._model = model
        self._form = 0
        self.destination = f"extractor:{self._api.url}"

    def ask(self, messages: Sequence[Message], seconds: float) -> Said:
        """Return the model's answer within `seconds`.

        A request refused for its form goes again in the next one, and that form is kept. Raises PlatformError.
        """
        refused: Rejected | None = None
        for number in range(self._form, len(_FORMS)):
            try:
                answer = self._complete(messages, _FORMS[number], seconds)
            except Rejected as error:
                refused = refused or error
                if error.status not in _ABOUT_THE_FORM:
                    break
            else:
                self._form = number
                return answer
        assert refused is not None  # the last form at least was tried
        raise refused

    def ping(self) -> None:
        """See whether anybody answers, by its list of models. Raises PlatformError."""
        try:
            self._api.ask("GET", _MODELS, None, PING_SECONDS)
        except Rejected:
            return  # a server without the list, but there

    def drop_connections(self) -> None:
        """Use new connections from now on."""
        self._api.drop_connections()

    def cancel(self) -> None:
        """End the call in the air; it and all further ones raise Cancelled."""
        self._api.cancel()

    def close(self) -> None:
        """Release connections."""
        self._api.close()

    def _complete(self, messages: Sequence[Message], form: Mapping[str, Any], seconds: float) -> Said:
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "stream": False,
            **form,
        }
        return said(self._api.ask("POST", _COMPLETIONS, body, seconds, safe=False))


def base(url: str) -> str:
    """Return the API's base for what people write as its address."""
    trimmed = url.strip().rstrip("/").removesuffix(_COMPLETIONS)
    _, _, rest = trimmed.partition("://")
    return trimmed if "/" in rest else f"{trimmed}/v1"


def said(value: Any) -> Said:
    """Read a completion. Raises NotUnderstood for what is none; calls of tools, which nobody offered, are not read."""
    try:
        completion = msgspec.convert(value, _Completion)
    except msgspec.ValidationError:
        raise NotUnderstood("the answer is no chat completion: is extractor.url right?") from None
    if not completion.choices:
        raise NotUnderstood("a chat completion without a choice")
    content = completion.choices[0].message.content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return Said(content or "", _tokens(completion.usage))


def _tokens(usage: Any) -> int | None:
    try:
        return msgspec.convert(usage, _Usage).total_tokens or None
    except msgspec.ValidationError:
        return None
