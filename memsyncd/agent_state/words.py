"""Words as recall compares them: the same for what is kept and what is asked, in memory and in the full-text index."""

import re
import unicodedata

LONGEST_WORD = 64
"""Characters of a word that count. A longer run is a blob, not a word; FTS5 would cut it at 32 KiB."""

_ASCII_WORDS = re.compile(r"[0-9a-z]+")


def words_of(*texts: str) -> frozenset[str]:
    """Return the distinct words of `texts`, without regard to case: runs of letters, digits and their marks.

    What has neither, such as `++` or an emoji, is a word as it stands between spaces.
    """
    return frozenset(word[:LONGEST_WORD] for text in texts for chunk in text.split() for word in _split(chunk))


def index_terms(words: frozenset[str]) -> str:
    """Return `words` as the full-text index takes them: ASCII letters and digits only, one term a word, none shared.

    SQLite's own idea of a letter is of Unicode 6.1 and knows no marks; so it is given none to judge.
    """
    return " ".join(sorted(map(index_term, words)))


def index_term(word: str) -> str:
    """Return the index's term for one word."""
    if word.isascii() and word.isalnum():
        return "w" + word
    return "x" + word.encode("utf-8", "surrogatepass").hex()


def _split(chunk: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", chunk).casefold()
    if folded.isascii():
        return _ASCII_WORDS.findall(folded) or [folded]
    spaced = "".join(character if unicodedata.category(character)[0] in "LNM" else " " for character in folded)
    return spaced.split() or [folded]
