"""What httpx, httpcore and the sockets raise, as the platform's own errors: did anything leave this machine or not."""

import httpcore
import httpx

from memsyncd.platforms.network import CallEndedError, NameNotFoundError
from memsyncd.platforms.platform import Cancelled, NoAnswer, PlatformError, Rejected, Unreachable
from memsyncd.platforms.tls_stream import CertificateError, TlsError
from memsyncd.platforms.transport import CaFileError, ProxyNotSupportedError

LOWER_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    CallEndedError,
    OSError,
    RuntimeError,  # httpx: the client or the stream is closed
)
"""All that a call can raise below us."""

POOL_TIMEOUTS = (httpx.PoolTimeout, httpcore.PoolTimeout)
"""No connection came free."""

LOST_CONNECTION = (
    httpx.ReadError,
    httpx.WriteError,
    httpx.RemoteProtocolError,
    httpcore.ReadError,
    httpcore.WriteError,
    httpcore.RemoteProtocolError,
)
"""The connection broke: for a kept one, most likely before the other side saw the request."""

_NOT_CONNECTED = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpcore.ConnectError,
    httpcore.ConnectTimeout,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    *POOL_TIMEOUTS,
)
_TIMEOUTS = (httpx.TimeoutException, httpcore.TimeoutException)


def platform_error(failure: Exception, host: str) -> PlatformError:
    """Return the PlatformError for a lower `failure` of a call to `host`; what is in doubt is NoAnswer."""
    if isinstance(failure, CallEndedError):
        return Cancelled("ended by our own stop")
    if isinstance(failure, httpx.InvalidURL):
        return Rejected("the request's address is longer than an address may be")
    if isinstance(failure, _NOT_CONNECTED):
        return Unreachable(_why_not_connected(failure, host))
    if isinstance(failure, httpx.LocalProtocolError | httpcore.LocalProtocolError):
        return Rejected("the request cannot be written as HTTP")
    if isinstance(failure, _TIMEOUTS):
        return NoAnswer(f"{host} took the request and did not answer in time")
    return NoAnswer(f"the connection to {host} broke before the whole answer was there")


def _why_not_connected(failure: Exception, host: str) -> str:  # noqa: PLR0911  (a table)
    match failure:
        case CertificateError():
            return (
                f"the certificate of {host} is not trusted ({failure}); "
                "behind an intercepting proxy, name its authority in http.ca_file"
            )
        case TlsError():
            return f"{host} does not speak TLS as expected ({failure})"
        case CaFileError() | ProxyNotSupportedError():
            return str(failure)
        case NameNotFoundError():
            return f"the address of {host} is not known ({failure})"
        case httpcore.ProxyError() | httpx.ProxyError():
            return f"the proxy refused to connect to {host} ({failure})"
        case httpcore.PoolTimeout() | httpx.PoolTimeout():
            return f"no connection to {host} came free"
        case _ if isinstance(failure, _TIMEOUTS):
            return f"no connection to {host} in time"
        case _:
            return f"no connection to {host} ({failure})"
