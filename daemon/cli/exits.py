"""Exit codes (CONTRACT "Commands" and "Said precisely"), and the exception that carries one out of a command."""

DONE = 0
FAILED = 1
"""Failed, or not healthy."""
WRONG_USE = 2
NOT_RUNNING = 3
"""The daemon is not running and is needed."""
ALREADY_RUNNING = 4
PUT_OFF = 75
"""`flush --wait`: not delivered yet, and nothing refused (sysexits.h: EX_TEMPFAIL)."""
MISCONFIGURED = 78
"""sysexits.h: EX_CONFIG; service managers do not restart on it."""


class Leave(Exception):
    """End the command with an exit code and, on standard error, a sentence."""

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
