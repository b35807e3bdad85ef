"""What a person must set right before the daemon can run."""

from collections.abc import Sequence

EXIT_CONFIGURATION = 78
"""EX_CONFIG of sysexits.h; services do not restart on it (CONTRACT: Commands)."""


class ConfigurationError(Exception):
    """The configuration, or something in its place on disk, is wrong; starting again would not help.

    `sentences` says each fault with what to change; none of them holds a secret: a key that was written where its
    file's name belongs is not repeated.
    """

    exit_code = EXIT_CONFIGURATION

    def __init__(self, *sentences: str) -> None:
        from memsyncd.redaction import redact  # noqa: PLC0415  (only for a mistake; every command can make this one)

        self.sentences: Sequence[str] = [redact(sentence) for sentence in sentences]
        super().__init__("\n".join(self.sentences))
