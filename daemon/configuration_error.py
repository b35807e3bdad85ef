"""What a person must set right before the daemon can run."""

from collections.abc import Sequence

EXIT_CONFIGURATION = 78
"""EX_CONFIG of sysexits.h; services do not restart on it (CONTRACT: Commands)."""


class ConfigurationError(Exception):
    """The configuration, or something in its place on disk, is wrong; starting again would not help.

    `sentences` says each fault with what to change; none of them holds a secret.
    """

    exit_code = EXIT_CONFIGURATION

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences: Sequence[str] = sentences
