"""A project's name from its git remote, the same as the daemon gives it (facts 18.25, 18.26)."""

from memsyncd.evidence.event import Scope
from memsyncd.scope.remote import app_name, normalise_remote
from memsyncd.scope.shown import shown


def project_from_remote(url: str) -> str | None:
    """Return `owner-name` for a network remote (`host-name` where it has one path part), None for anything else.

    User, password, port, query and fragment never become part of it, and a secret in the path makes it a hash. A
    path to a folder is no remote. Raises for no text.
    """
    identity = normalise_remote(url)
    if not identity.removeprefix("https://").partition("/")[2]:
        return None
    return shown(Scope(repo_id=identity, app_id=app_name(identity))).app_id
