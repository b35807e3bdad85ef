"""One identity per repository, whichever way it was cloned, and the names made from it (facts 5.1 to 5.16).

An identity is `https://host[:port]/path` for a repository on the network and `local:` + real path for any other.
"""

import hashlib
import re
import unicodedata

LOCAL = "local:"
"""What the identity of a folder without a network remote begins with."""

_URL = re.compile(r"(?:[A-Za-z0-9+.-]+::)?([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_HOST = re.compile(r"\[[0-9a-z:.%]+\]|[^\s/?#@:\[\]\\\x00-\x1f]+")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_WEB = frozenset({"http", "https", "git+http", "git+https"})
_DEFAULT_PORTS = {"http": frozenset({80, 443}), "git+http": frozenset({80, 443})}
_HTTPS_PORTS = frozenset({443})
_MAX_PORT = 65535
_MAX_URL = 2048

_UNSEEN = frozenset({"Cc", "Cf"})
"""Categories of characters that a person who reads an address does not see as they are: control and format."""

_SSH_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that serve a site's ssh on another port, as each site documents it."""

_HASH_LENGTH = 10
"""Hex digits of SHA-256 in a project id (facts 5.14, 5.15)."""


def normalise_remote(url: str) -> str:
    """Return the identity behind a remote's `url`, or an empty string for a path, `file://` or nothing at all.

    User, password, query and fragment never stay; the host is lower case; the path keeps its case and loses `.git`
    and superfluous slashes. Ports: only one of http(s) that is not the default is kept, for an ssh or git port says
    nothing about which repository it is. One longer than any, or with characters that nobody sees, is none.
    Idempotent; raises for no text.
    """
    url = url.strip()
    if len(url) > _MAX_URL or (not url.isprintable() and any(unicodedata.category(each) in _UNSEEN for each in url)):
        return ""
    match = _URL.fullmatch(url)
    if match is not None:
        scheme = match[1].lower()
        identity = "" if scheme == "file" else _from_url(scheme, match[2])
    else:
        identity = "" if _DRIVE.match(url) else _from_scp(url)
    return identity if len(identity) <= _MAX_URL else ""


def _from_url(scheme: str, rest: str) -> str:
    authority, path = _split_authority(rest)
    host, port = _split_port(authority)
    if scheme not in _WEB and _has_odd_port(authority):
        path = f"/{authority.partition(':')[2]}{path}"  # written as in the scp form (facts 5.7)
    if scheme not in _WEB or port in _DEFAULT_PORTS.get(scheme, _HTTPS_PORTS):
        port = None
    return _identity(host, port, path)


def _split_authority(rest: str) -> tuple[str, str]:
    """Return host[:port] without the user part, and the path with all that follows it."""
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    authority, path = rest[:end], rest[end:]
    if "@" not in authority and "@" in path and _has_odd_port(authority):
        # The "port" is the beginning of a password that holds a slash, `?` or `#`.
        return _split_authority(path[path.rindex("@") + 1 :])
    return authority[authority.rfind("@") + 1 :], path


def _has_odd_port(authority: str) -> bool:
    _, colon, port = authority.partition(":")
    return bool(colon) and not authority.startswith("[") and not (port.isascii() and port.isdigit())


def _split_port(authority: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        host, port = host + bracket, rest.removeprefix(":")
    else:
        host, _, port = authority.partition(":")
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= len(str(_MAX_PORT)) else 0
    return host, number if 0 < number <= _MAX_PORT else None


def _from_scp(url: str) -> str:
    """`[user@]host:path`, where git sees a host only if the colon comes before any slash."""
    if url.startswith("["):  # [user@host:port]:path and [::1]:path
        inside, bracket, path = url[1:].partition("]:")
        if not bracket:
            return ""
        inside = inside[inside.rfind("@") + 1 :]
        host = f"[{inside}]" if inside.count(":") > 1 else inside.partition(":")[0]
        return _identity(host, None, path)
    slash = url.find("/")
    head = url if slash < 0 else url[:slash]
    user, at, place = head.rpartition("@")
    if at and ":" not in place and not place.startswith("["):
        # The last `@` stands in the path, or a password before it ate the colon: keep neither.
        host, colon, _ = user[user.find("@") + 1 :].partition(":")
        return _identity(host, None, url[len(user) + 1 :]) if colon else ""
    host, colon = place, ""
    if place.startswith("["):
        host, colon, _ = place.partition("]:")
        host = f"{host}]" if host.count(":") > 1 else host[1:]
        width = len("]:")
    else:
        host, colon, _ = place.partition(":")
        width = 1
    if not colon:
        return ""
    return _identity(host, None, url[url.index(colon, len(user) + len(at)) + width :])


def _identity(host: str, port: int | None, path: str) -> str:
    host = host.strip().lower().rstrip(".")
    parts = [part.strip() for part in re.split(r"[?#]", path, maxsplit=1)[0].split("/")]
    parts = [part for part in parts if part not in {"", "."}]
    if not _HOST.fullmatch(host):
        return ""
    if host == "ssh.dev.azure.com" and len(parts) == 4 and parts[0] == "v3":  # noqa: PLR2004  (v3/org/project/repo)
        host, parts = "dev.azure.com", [parts[1], parts[2], "_git", parts[3]]
    if len(parts) == 3 and parts[0] == "scm":  # noqa: PLR2004  (Bitbucket Server puts scm/ before project/repo on http only)
        parts = parts[1:]
    while parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1].removesuffix(".git").strip()
        if not parts[-1] or parts[-1] == ".":
            parts.pop()
    host = _SSH_HOSTS.get(host, host)
    return "/".join([f"https://{host}" if port is None else f"https://{host}:{port}", *parts])


def is_local(identity: str) -> bool:
    """Whether `identity` is a folder's, not a network repository's."""
    return identity.startswith(LOCAL)


def app_name(identity: str) -> str:
    """Return the short name people see: the last two path parts as `owner-name`, host and name for one part, the
    folder's name for a local identity, `unknown` for none (facts 5.10, 5.13)."""
    if is_local(identity):
        parts = [part for part in re.split(r"[\\/]", identity.removeprefix(LOCAL)) if part]
        return parts[-1] if parts else "unknown"
    authority, _, path = normalise_remote(identity).removeprefix("https://").partition("/")
    parts = [part for part in path.split("/") if part]
    host = _split_port(authority)[0]
    return "-".join(parts[-2:] if len(parts) > 1 else [host, *parts]) or "unknown"


def project_id(app_id: str, identity: str) -> str:
    """Return the id that people share: `app-<10 hex>`, and `local-app-<10 hex>` for a folder (facts 5.14, 5.15)."""
    place = identity.removeprefix(LOCAL)
    digest = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
    return f"local-{app_id}-{digest}" if is_local(identity) else f"{app_id}-{digest}"


def shared_ids(app_id: str, project: str, identity: str) -> tuple[str, ...]:
    """Return the ids under which the memories are that a project's people share: its own id, and of a repository on
    the network also the bare app id, which older versions shared under (facts 5.16)."""
    return tuple(dict.fromkeys(each for each in (project, "" if is_local(identity) else app_id) if each))
