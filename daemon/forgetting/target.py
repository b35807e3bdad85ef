"""What is to be forgotten, and how it is told again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

SESSION, PROJECT, MEMORY = "session", "project", "memory"


@dataclass(frozen=True, slots=True)
class Target:
    """One of `session_id`, `repo_id` (with the project's other names) and `memory_id` is set. `at` is when it was
    asked for, Unix seconds: what was captured later is not meant. `key` names the request. `remote` and `shared`:
    the platform's memories go too, and those that a project's people share."""

    key: str
    at: float
    session_id: str = ""
    repo_id: str = ""
    app_id: str = ""
    project_id: str = ""
    root: str = ""
    memory_id: str = ""
    remote: bool = False
    shared: bool = False

    @property
    def kind(self) -> str:
        """SESSION, PROJECT or MEMORY."""
        return SESSION if self.session_id else MEMORY if self.memory_id else PROJECT

    @property
    def name(self) -> str:
        """The id that tells it again: of session, memory or repository."""
        return self.session_id or self.memory_id or self.repo_id

    def words(self) -> Sequence[bytes]:
        """Return what a file that cannot be parsed holds if it is of this: ids and paths, as JSON may write them."""
        named = [self.session_id] if self.session_id else [self.root] if self.root not in ("", "/") else []
        return [name.encode("utf-8", "surrogateescape") for name in named]

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Target":
        """Return what `document` told. Raises TypeError for anything else."""
        try:
            return msgspec.convert(asdict(cls(**document)), cls)
        except (msgspec.ValidationError, UnicodeEncodeError, RecursionError) as error:
            raise TypeError("a field of another type") from error
