"""Who may ask the page anything: the browser that brought the token once, from the page itself, under its own name.

What keeps others out, each by itself: the `Host` (a name that was pointed at loopback), `Origin` and `Sec-Fetch-Site`
(another site's page in the same browser), a cookie behind a secret path (other programs of this machine, also those
that serve pages on another port of the same host: cookies know no ports), and for what acts a token that only the page
itself holds. Decisions only; nothing is sent from here.
"""

import hmac
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qsl

from daemon.status_socket.http_message import Request

TOKEN_HEADER = "memsyncd-token"  # noqa: S105  (a header's name)

AHEAD = frozenset({"sec-purpose", "purpose", "x-purpose", "x-moz"})
"""Headers by which browsers, of today and of before, mark what they fetch or show before anybody has opened it."""

WRONG_TOKENS = 5
WINDOW_SECONDS = 60.0
"""After so many wrong tokens within so long, none is looked at; the right one stays good for later."""


class Verdict(StrEnum):
    """What is to become of a request."""

    REFUSED = "refused"
    TOO_MANY = "too many"
    ENTER = "enter"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class Secrets:
    """`token` is good once, for the cookie. `place` is a segment of every path of the page; `acting` is what calls
    that act carry in a header. All are URL-safe text of 256 bits."""

    token: str
    cookie: str
    place: str
    acting: str

    @classmethod
    def made(cls, random: Callable[[], str]) -> "Secrets":
        """Return new ones; `random` gives a text nobody can guess at each call."""
        return cls(random(), random(), random(), random())


class Guard:
    """For one page at one port; `monotonic` gives seconds. Not for several threads."""

    def __init__(self, secrets: Secrets, port: int, monotonic: Callable[[], float]) -> None:
        self._secrets = secrets
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]"))
        self._monotonic = monotonic
        self._is_used = False
        self._wrong: deque[float] = deque(maxlen=WRONG_TOKENS)
        self.cookie_name = f"memsyncd-{port}"
        self.root = f"/{secrets.place}/"
        self.used_again = 0
        self.wrong_tokens = 0

    @property
    def cookie(self) -> str:
        """The `Set-Cookie` of the exchange: for this browser's present run, and this page's paths alone."""
        return f"{self.cookie_name}={self._secrets.cookie}; Path={self.root}; HttpOnly; SameSite=Strict"

    def verdict(self, request: Request) -> Verdict:
        """Decide about a request. ENTER uses up the token."""
        if not self._is_from_here(request):
            return Verdict.REFUSED
        if request.path == "/":
            return self._exchange(request)
        if not request.path.startswith(self.root) or not self._has_cookie(request.headers):
            return Verdict.REFUSED
        if request.method not in ("GET", "HEAD") and not self._may_act(request.headers):
            return Verdict.REFUSED
        return Verdict.PAGE

    def _is_from_here(self, request: Request) -> bool:
        """Whether it names this page as its host, and no other site had a part in it."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self._hosts or (origin is not None and origin != f"http://{host}"):
            return False
        is_opening = request.method == "GET" and request.path in ("/", self.root)
        site = request.headers.get("sec-fetch-site")
        return site in (None, "same-origin") or (site == "none" and is_opening)

    def _exchange(self, request: Request) -> Verdict:
        """Exchange the token, unless a browser only fetches ahead what nobody has asked for."""
        given = dict(parse_qsl(request.query)).get("token", "")
        if request.method != "GET" or not given or not AHEAD.isdisjoint(request.headers):
            return Verdict.REFUSED
        now = self._monotonic()
        if len(self._wrong) == WRONG_TOKENS and now - self._wrong[0] < WINDOW_SECONDS:
            return Verdict.TOO_MANY
        if not _is_same(given, self._secrets.token):
            self._wrong.append(now)
            self.wrong_tokens += 1
            return Verdict.REFUSED
        if self._is_used:
            self.used_again += 1
            return Verdict.REFUSED
        self._is_used = True
        return Verdict.ENTER

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie_name and _is_same(value, self._secrets.cookie):
                return True
        return False

    def _may_act(self, headers: Mapping[str, str]) -> bool:
        """Whether a call may act. A browser says of each whence it comes; one that does not say is not this page's."""
        return "origin" in headers and _is_same(headers.get(TOKEN_HEADER, ""), self._secrets.acting)


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())
