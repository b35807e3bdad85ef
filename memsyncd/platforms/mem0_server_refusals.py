"""What a refusal of the self-hosted server means: its 502 tells what failed behind it (hooks-and-apis 3B)."""

from collections.abc import Callable, Mapping

from memsyncd.platforms import refusals
from memsyncd.platforms.platform import Busy, PlatformError, Rejected

_BEHIND = {
    "provider_auth_failed": "the server's own key for its language model is refused",
    "provider_rate_limited": "the server's language model asks it to slow down",
    "provider_timeout": "the server's language model did not answer in time",
    "provider_unavailable": "the server's language model cannot be reached",
    "datastore_unavailable": "the server's database cannot be reached",
    "vector_store_unavailable": "the server's vector store cannot be reached",
}


class ModelRefused(Rejected):
    """The server's language model refused this one request; what the server had stored by then is not known."""

    may_have_arrived = True


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, *, now: float, redact: Callable[[str], str]
) -> PlatformError:
    """Return the error for an answer whose `status` is not 2xx; see `refusals.refusal`.

    A request that the model itself refuses is refused for good, and must not cool the destination for its neighbours.
    """
    code = _code(body) if status == 502 else ""  # noqa: PLR2004  (Bad Gateway)
    said = refusals.message(body)
    shown = f": {refusals.cut(redact(said))}" if said else ""
    if code == "provider_bad_request":
        return ModelRefused(f"the server's language model refused it ({status}{shown})", status=status)
    if code in _BEHIND:
        retry_after = refusals.retry_after(headers, now)
        return Busy(f"{_BEHIND[code]} ({status}{shown})", status=status, retry_after=retry_after)
    return refusals.refusal(status, headers, body, now=now, redact=redact)


def _code(body: bytes) -> str:
    document = refusals.decode(body)
    code = document.get("code") if isinstance(document, Mapping) else None
    return code if isinstance(code, str) else ""
