"""How a platform is reached: directly or through a proxy, and whose certificates are believed.

Proxies, extra certificate authorities and the environment's word on either never apply to loopback (CONTRACT).
"""

import ipaddress
import ssl
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import certifi
import httpcore
import httpx

from memsyncd.platforms.network import Network

PARALLEL_CALLS = 8
"""Calls in the air at once, where nothing else is said."""

SPARE_CONNECTIONS = 2
"""So many more connections than calls may be open, so that no call ever waits in the pool (never-again 153)."""

KEEP_ALIVE_SECONDS = 30.0
"""An idle connection is dropped after this. Load balancers commonly drop theirs after 60 s, and the side that drops
last is the one whose next request meets a dead connection."""


DEFAULT_WRITE_SECONDS = 15.0
"""Facts 2.30."""


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The `[http]` settings, none of which applies to loopback (CONTRACT).

    `timeout_seconds` is a write's whole time, `proxy` a URL, `ca_file` a path to PEM text. `parallel` is how many
    calls may be in the air at once, on loopback too.
    """

    timeout_seconds: float = DEFAULT_WRITE_SECONDS
    proxy: str = ""
    ca_file: str = ""
    parallel: int = PARALLEL_CALLS


class ProxyNotSupportedError(httpcore.ProxyError):
    """The proxy's URL is of a kind we cannot speak to."""


class CaFileError(httpcore.ConnectError):
    """The extra certificate authorities cannot be read."""


def is_loopback(host: str) -> bool:
    """Return whether `host`, a name or an address, is this machine itself."""
    host = host.strip("[]").rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def choose_proxy(url: httpx.URL, setting: str, environment: Mapping[str, str]) -> str:
    """Return the proxy for `url`, or empty for none: the setting, else the environment's, never for loopback.

    `environment` has the form of `urllib.request.getproxies()`: scheme or `all` to URL, and `no` to a list.
    """
    if is_loopback(url.host):
        return ""
    if setting:
        return setting
    host = f"{url.host}:{url.port}" if url.port else url.host
    if urllib.request.proxy_bypass_environment(host, dict(environment)):  # type: ignore[attr-defined]
        return ""
    proxy = environment.get(url.scheme) or environment.get("all") or ""
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def certificates(ca_file: str) -> ssl.SSLContext:
    """Return a context that believes the authorities shipped with certifi, the system's own, and those in `ca_file`.

    Raises CaFileError.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()  # where an intercepting proxy's authority is installed (never-again 154)
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError) as failure:
            raise CaFileError(
                f"http.ca_file cannot be read ({failure.strerror or 'no certificate in it'})"
            ) from failure
    return context


class PooledTransport(httpx.BaseTransport):
    """httpx's door to an httpcore pool whose sockets are opened by `network`."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request`. Raises httpcore's errors as they are, for their subclasses say more than httpx's."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def open_transport(
    url: httpx.URL, settings: HttpSettings, network: Network, environment: Mapping[str, str]
) -> httpx.BaseTransport:
    """Return a transport to the origin of `url`. Raises ProxyNotSupportedError or CaFileError."""
    proxy_url = choose_proxy(url, settings.proxy, environment)
    proxy = _proxy(proxy_url) if proxy_url else None
    loopback = is_loopback(url.host)
    context: ssl.SSLContext | None = None
    if url.scheme == "https" or (proxy is not None and proxy.url.scheme == b"https"):
        context = ssl.create_default_context() if loopback else certificates(settings.ca_file)
    if proxy is not None and proxy.url.scheme == b"https":
        proxy.ssl_context = context
    connections = settings.parallel + SPARE_CONNECTIONS
    return PooledTransport(
        httpcore.ConnectionPool(
            ssl_context=context,
            proxy=proxy,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
            network_backend=network,
        )
    )


def _proxy(url: str) -> httpcore.Proxy:
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError:
        parts, host, port = urllib.parse.urlsplit(""), b"", None
    if parts.scheme not in ("http", "https") or not host:
        raise ProxyNotSupportedError("only proxies of the form http://host:port and https://host:port are supported")
    credentials = None
    if parts.username:
        credentials = (urllib.parse.unquote(parts.username), urllib.parse.unquote(parts.password or ""))
    origin = httpcore.URL(scheme=parts.scheme.encode(), host=host, port=port, target=b"/")
    return httpcore.Proxy(origin, auth=credentials)
