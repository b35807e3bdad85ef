"""From found memories to the text an agent is given: numbered lines within a budget (facts 8, 18.5 to 18.7). Pure.

Lengths are in characters (code points). A context is never longer than its budget, whatever the memories hold.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memsyncd.hooks.prompt_noise import TAGS
from memsyncd.platforms.platform import Memory
from memsyncd.recall.cutting import cut, repaired, whole
from memsyncd.redaction import redact

DEFAULT_BUDGET = 4_000
"""Facts 8.1, 18.5."""

MIN_BUDGET, MAX_BUDGET = 1_000, 10_000
"""Between them a configured budget is clamped (facts 8.1); a harness cuts what is longer (hooks-and-apis 2A)."""

HEADING = "Noted in earlier work on this project, and possibly of use for this prompt:"
"""The line above memories found for a prompt."""

NOTHING_FOUND = "No matching memories found."
SEARCH_FAILED = "Memory search failed."
"""What an explicit search says in place of memories (facts 8.6)."""

TAG = "memsyncd-memories"
"""The element that holds a context where it stands amid other text: by it, capture knows its own words again."""

_UNTOLD_BRANCHES = frozenset({"", "main", "master", "unknown", "detached"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile("[\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]")
"""What a model reads and nobody sees: marks that turn the direction of text, blanks without width, and letters of the
tag block. The joiners U+200C and U+200D stay, for scripts and emoji need them."""

_FRAMES = (
    TAG,
    *TAGS,
    "system",
    "user_query",
    "user_request",
    "user_instructions",
    "environment_context",
    "hook_context",
)
_CLAIMED = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(_FRAMES)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the lines, with its own line breaks. It counts towards the budget."""

    before: str = ""
    after: str = ""


BARE = Frame()
"""The lines alone, as an explicit search gives them (facts 8.6)."""

HEADED = Frame(before=f"{HEADING}\n")
"""Under the heading, as a hook prints it (facts 7.5)."""


def tagged(heading: str = HEADING) -> Frame:
    """Return the frame for a context that stands amid other text: TAG around `heading` and the lines (facts 18.8)."""
    return Frame(before=f"<{TAG}>\n{words(heading)}\n", after=f"\n</{TAG}>")


@dataclass(frozen=True, slots=True)
class Line:
    """What is said of a memory: `words`, which may be cut, between `lead` and `label`, which stay whole or go."""

    words: str
    label: str = ""
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """A text for an agent, and the memories it holds, in order; both empty where nothing is to be told."""

    text: str = ""
    included: Sequence[Memory] = ()


def clamped(budget: int) -> int:
    """Return a configured budget within MIN_BUDGET and MAX_BUDGET."""
    return min(max(budget, MIN_BUDGET), MAX_BUDGET)


def words(text: str) -> str:
    """Return `text` fit for a line: redacted, white space and control characters one space, fit for UTF-8, and nothing
    in it that cannot be seen.

    A `<` before the name of one of our own or a harness's elements becomes `[`: none ends a frame early.
    """
    seen = text if text.isascii() else _UNSEEN.sub("", repaired(text))
    return _CLAIMED.sub("[", " ".join(_CONTROL.sub(" ", redact(seen)).split()))


def branch_label(branch: object) -> str:
    """Return ` [learnt on branch NAME]`, or nothing for a main branch or none (facts 8.3)."""
    name = words(branch) if isinstance(branch, str) else ""
    return "" if name.lower() in _UNTOLD_BRANCHES else f" [learnt on branch {name}]"


def plain_line(memory: Memory) -> Line:
    """Return a memory's text and its branch: no id, score or category (facts 8.2)."""
    return Line(words(memory.memory), branch_label(memory.metadata.get("branch")))


def context(
    memories: Iterable[Memory],
    *,
    budget: int = DEFAULT_BUDGET,
    frame: Frame = BARE,
    line: Callable[[Memory], Line] = plain_line,
) -> Context:
    """Return the numbered lines of `memories` in `frame`, at most `budget` characters with all that is around them.

    The order is kept; a memory without words takes no number. The first that does not fit ends the list (facts 8.4);
    only where it is the very first it is cut, with an ellipsis before its label (facts 8.5), and without lead or
    label where there is no room for them.
    """
    room = budget - len(frame.before) - len(frame.after)
    lines: list[str] = []
    included: list[Memory] = []
    for memory in memories:
        said = line(memory)
        if not said.words:
            continue
        text = f"{len(lines) + 1}. {said.lead}{said.words}{said.label}"
        if len(text) > room:
            text = "" if lines else _shortened(said, room)
        if not text:
            break
        lines.append(text)
        included.append(memory)
        room -= len(text) + len("\n")
    return Context("".join((frame.before, "\n".join(lines), frame.after)), tuple(included)) if lines else Context()


def _shortened(said: Line, room: int) -> str:
    for lead, label in ((said.lead, said.label), ("", said.label), ("", "")):
        if kept := cut(said.words, room - len("1. ") - len(lead) - len(label)):
            return f"1. {lead}{kept}{label}"
    return ""


def search_text(memories: Iterable[Memory] | None, *, budget: int = DEFAULT_BUDGET) -> str:
    """Return the answer to an explicit search: the lines alone, or a sentence where nothing new was found (facts 8.6).

    None stands for a search that did not succeed: that is no "nothing".
    """
    if memories is None:
        return SEARCH_FAILED
    return context(memories, budget=budget).text or NOTHING_FOUND


def combined(texts: Iterable[str], *, limit: int) -> str:
    """Return several contexts as one of at most `limit` characters (facts 8.7).

    Blank lines go, and so do lines said before, in whatever case and spacing; the first spelling stays. Where it is
    cut, its last line says how many characters are missing.
    """
    kept: dict[str, str] = {}
    for line in (line for text in texts for line in text.splitlines() if line.strip()):
        kept.setdefault(" ".join(line.split()).casefold(), line)
    text = "\n".join(kept.values())
    if len(text) <= limit:
        return text
    room = limit - len(f"\n...[truncated {len(text)} chars]")
    shown = text[: whole(text, room)].rstrip()
    return f"{shown}\n...[truncated {len(text) - len(shown)} chars]" if shown else cut(text, limit)
