"""Whose memories they are, with which key, and whether the platform takes it."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from daemon.api_key.source import KeySource
from daemon.chosen_platform import platform_of, whose_memories
from daemon.doctor.check import Check, failed, passed, unchecked
from daemon.doctor.examination import Examination
from daemon.doctor.examining import Probe
from daemon.service.units import SERVICE
from daemon.settings.environment import API_KEY_VARIABLES
from memsyncd.clock import Clock
from memsyncd.platforms.platform import (
    Busy,
    KeyRefused,
    NoAnswer,
    NotUnderstood,
    PlatformError,
    QuotaExceeded,
    Unreachable,
)
from memsyncd.platforms.wildcards import is_wildcard
from memsyncd.scope.user import DEFAULT_USER, VARIABLES

KEY_SECONDS = 8.0
ASKED_SECONDS = 9.0
"""For the round trip, the key's command included."""

REMEDIES: Mapping[type[PlatformError], str] = {
    KeyRefused: "Write the right key where it comes from (the check `key` tells where); it is taken up within 15 s.",
    QuotaExceeded: "Raise the account's limit, or wait until it is renewed.",
    Unreachable: "Check the network, and platform.url, http.proxy and http.ca_file with `memsyncd config show`.",
    NoAnswer: "It takes requests and does not answer: try again, or ask whoever runs it.",
    Busy: "It says that it is too busy: try again later; the daemon does so by itself.",
    NotUnderstood: "Check platform.url and http.proxy with `memsyncd config show`: no memory platform answers there. "
    "On a network with a login page, log in first.",
}


def probes(examined: Examination) -> list[Probe]:
    """Return the checks."""
    hung = "What is asked for the key, or the platform, hangs: `memsyncd config show` tells which those are."
    return [
        Probe("user id", partial(_user_id, examined)),
        Probe("key", partial(_key, examined), hung, seconds=KEY_SECONDS),
        Probe("authentication", partial(_authentication, examined), hung, seconds=ASKED_SECONDS),
    ]


def user_id(whose: str, origin: str, environ: Mapping[str, str], faults: Sequence[str]) -> Check:
    """Judge whose memories they are (facts 14.5): a wildcard is nobody's id, and what is used in its place is told."""
    name = "user id"
    remedy = "Set platform.user_id to the one id your memories are kept under."
    wrong = [fault for fault in faults if "platform.user_id" in fault]
    if wrong:
        return failed(name, " ".join(wrong), remedy)
    told = f"{whose}, from {origin}"
    for variable in VARIABLES:
        if variable == origin:
            break
        if is_wildcard(environ.get(variable, "")):
            return failed(name, f"{variable} is a wildcard, which is nobody's id; {told} is used instead", remedy)
    if whose == DEFAULT_USER:
        return failed(name, f"nothing says whose memories they are, so {told}, which is everybody's", remedy)
    return passed(name, told)


def key(
    kind: str,
    origin: str,
    problems: Sequence[str],
    *,
    is_found: bool,
    mode: int | None,
    is_service: bool,
    is_edge: bool = False,
) -> Check:
    """Judge the key's source; never its text. `mode` is of the file it is in, if it is in one; `is_edge`: others
    deliver."""
    name = "key"
    if kind == "local":
        return passed(name, "the embedded platform needs none")
    file = "`memsyncd config path` says where the settings are"
    if not is_found:
        if not problems and (kind == "mem0-server" or is_edge):
            of_edge = "an edge needs one for its own searches and recall alone"
            why = of_edge if is_edge else "a server without authentication needs none"
            return passed(name, f"there is none, and {why}")
        told = " ".join(problems) or f"there is none for {kind}"
        return failed(name, told, f"Write it into a file of mode 0600 and name that in platform.api_key_file; {file}.")
    if problems:
        return failed(
            name, f"from {origin}; {' '.join(problems)}", "Do as it says; `memsyncd config show` tells the rest."
        )
    if is_service and origin in API_KEY_VARIABLES:
        told = f"from {origin}, which this shell has and the service has not"
        return failed(name, told, f"Write it into a file of mode 0600 and name that in platform.api_key_file; {file}.")
    told = f" (mode {stat.S_IMODE(mode):04o})" if mode is not None else ""
    return passed(name, f"from {origin}{told}")


def authentication(kind: str, url: str, failure: PlatformError | None, seconds: float) -> Check:
    """Judge a round trip with the key."""
    name = "authentication"
    where = f"{kind} at {url}" if url else kind
    if failure is None:
        return passed(name, f"{where} took the key and answered in {seconds * 1000:.0f} ms")
    remedy = next((words for kind_, words in REMEDIES.items() if isinstance(failure, kind_)), "")
    told = f"{failure.message} (HTTP {failure.status})" if failure.status else failure.message
    return failed(name, f"{where}: {told[:300]}", remedy or "`memsyncd config show` tells what is asked, and where.")


def _user_id(examined: Examination) -> Check:
    whose = whose_memories(examined.settings, examined.environ)
    origin = examined.loaded.origins["platform.user_id"] if examined.loaded else ""
    told = origin if examined.settings.platform.user_id else "the account's name"
    return user_id(whose, told, examined.environ, examined.faults)


def _key(examined: Examination) -> Check:
    kind = examined.settings.platform.kind
    if examined.faults:
        return unchecked("key", "the configuration is wrong")
    if kind == "local":
        return key(kind, "", (), is_found=False, mode=None, is_service=False)
    source = _source(examined)
    try:
        is_found = bool(source.current())
        origin = source.origin()
        return key(
            kind,
            origin,
            source.problems(),
            is_found=is_found,
            mode=_mode(origin),
            is_service=_has_service(examined),
            is_edge=examined.settings.queue.is_edge,
        )
    finally:
        source.close()


def _authentication(examined: Examination) -> Check:
    platform = examined.settings.platform
    if examined.faults:
        return unchecked("authentication", "the configuration is wrong")
    if platform.kind == "local":
        return passed("authentication", "the embedded platform asks for none")
    source = _source(examined)
    try:
        if platform.kind == "mem0" and not source.current():
            return unchecked("authentication", "there is no key")
        asked = platform_of(examined.places, examined.settings, source, Clock())
        try:
            failure, seconds = timed(asked.ping, examined.monotonic)
            return authentication(platform.kind, asked.url, failure, seconds)
        finally:
            asked.close()
    finally:
        source.close()


def timed(act: Callable[[], object], monotonic: Callable[[], float]) -> tuple[PlatformError | None, float]:
    """Run `act`; return how it failed, if it did, and how long it took."""
    begun = monotonic()
    try:
        act()
    except PlatformError as error:
        return error, monotonic() - begun
    return None, monotonic() - begun


def _source(examined: Examination) -> KeySource:
    return KeySource.from_settings(examined.settings, examined.environ)


def _mode(origin: str) -> int | None:
    words = origin.split(" ", 1)
    try:
        return os.stat(words[1]).st_mode if words[0] == "api_key_file" else None
    except (OSError, IndexError):
        return None


def _has_service(examined: Examination) -> bool:
    home = examined.home
    own = (home / ".config/systemd/user" / SERVICE, home / "Library/LaunchAgents/com.memsyncd.agent.plist")
    return any(path.exists() for path in own)
