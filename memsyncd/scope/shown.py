"""What of a scope people and platforms see: names of branches and folders, which may have a secret in them."""

import hashlib
from dataclasses import replace

from memsyncd.evidence.event import Scope
from memsyncd.redaction import redact
from memsyncd.scope.remote import project_id

_HASH_LENGTH = 10
"""Hexadecimal digits, as many as a project id has (facts 5.14)."""


def shown(scope: Scope) -> Scope:
    """Return `scope` with the secrets in its shown names replaced; the same object where there are none.

    The repository's identity stays, and with it the hash in the project id. Of a branch and a directory each part
    between slashes is redacted by itself, so that a directory keeps its depth. An app id that has a secret becomes one
    made of its hash, as two projects must not come to share one.
    """
    branch, directory = _parts(scope.branch), _parts(scope.directory)
    app_id = scope.app_id if redact(scope.app_id) == scope.app_id else _named_by_hash(scope.app_id)
    if (branch, directory, app_id) == (scope.branch, scope.directory, scope.app_id):
        return scope
    project = scope.project_id if app_id == scope.app_id else project_id(app_id, scope.repo_id)
    return replace(scope, branch=branch, directory=directory, app_id=app_id, project_id=project)


def _parts(name: str) -> str:
    return "/".join(map(redact, name.split("/")))


def _named_by_hash(app_id: str) -> str:
    return f"redacted-{hashlib.sha256(app_id.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH_LENGTH]}"
