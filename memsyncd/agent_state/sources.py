"""Whose word on a fact counts more."""

RANKS = {"user": 3, "ai_inferred": 2, "mcp": 1}
"""What a person said, what was concluded, what a tool server delivered (facts, hooks-and-apis 7)."""


def rank(source: str) -> int:
    """Return the rank of a source: a fact is replaced only from the same rank or a higher one. Unknown ones rank 0."""
    return RANKS.get(source, 0)
