"""Why a service is not installed, started or looked at: always a sentence with what to type."""

from collections.abc import Sequence


class ServiceError(Exception):
    """Base of what the service's commands raise; `sentence` is for a person.

    ServiceError        a service manager's command failed, or did not do what it said
    ├── WrongUse        the wrong account, or the wrong one of two modes: nothing was done
    └── Incomplete      the service would not have what the daemon needs: nothing was installed
    """

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences: Sequence[str] = sentences


class WrongUse(ServiceError):
    """Nothing was done: exit 2."""


class Incomplete(ServiceError):
    """Nothing was installed: exit 78."""
