"""systemd's units as text. Pure but for reading the templates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from daemon.service import quoting, templates
from daemon.service.installation import Installation
from daemon.service.quoting import Unquotable
from daemon.service.refusal import Incomplete
from daemon.settings.load import CREDENTIAL

SERVICE, SOCKET, PATH = "memsyncd.service", "memsyncd.socket", "memsyncd.path"
UNITS: Sequence[str] = (SERVICE, SOCKET, PATH)

_GLOB_SIGNS = "*?[\\"


def render(planned: Installation) -> dict[str, str]:
    """Return every unit's text by its file name. Raises Incomplete where something cannot stand in a unit."""
    mode = "system" if planned.is_system else "user"
    try:
        values = _values(planned)
        return {name: templates.fill(templates.read(f"systemd/{mode}/{name}"), values) for name in UNITS}
    except (Unquotable, templates.Unfilled) as error:
        raise Incomplete(f"The unit would not be valid: {error}.") from error


def _values(planned: Installation) -> Mapping[str, str]:
    assignments = [quoting.assignment(name, value) for name, value in sorted(planned.environment.items())]
    credential = planned.credential
    return {
        "COMMAND": quoting.command(planned.command),
        "ENVIRONMENT": "\n".join(f"Environment={each}" for each in assignments),
        "CREDENTIAL": f"LoadCredential={CREDENTIAL}:{quoting.literal(str(credential))}" if credential else "",
        "SOCKET": _socket(planned),
        "PATHS": "\n".join(_watched(path) for path in planned.pending),
        "USER": quoting.literal(planned.account.name),
    }


def _socket(planned: Installation) -> str:
    """Return where hooks and commands look for a user's socket: in the session's directory, from wherever it is
    installed, or below a MEMSYNCD_HOME."""
    if planned.environment.get("MEMSYNCD_HOME"):
        return quoting.literal(str(planned.places.status_socket))
    return "%t/memsyncd/status.sock"


def _watched(pending: Path) -> str:
    """Return the setting that starts the daemon for a directory: for whole handoffs only, where its path allows it."""
    plain = quoting.literal(str(pending))
    if any(sign in plain for sign in _GLOB_SIGNS):
        return f"DirectoryNotEmpty={plain}"
    return f"PathExistsGlob={plain}/*.json"
