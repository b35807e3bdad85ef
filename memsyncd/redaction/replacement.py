"""The visible mark that stands where a secret was (facts 6; never-again 71)."""

REPLACEMENT = "[REDACTED]"
