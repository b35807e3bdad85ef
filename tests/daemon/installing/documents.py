"""Documents as harnesses and people write them, for hypothesis: JSON with comments, and TOML."""

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

NAMES = st.one_of(
    st.sampled_from(["hooks", "Stop", "SessionStart", "PreToolUse", "version", "model", "env", "mcpServers", "memory"]),
    st.text(max_size=6),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)

FOREIGN = st.fixed_dictionaries(
    {
        "type": st.just("command"),
        "command": st.sampled_from(["./lint.sh", "echo '}' // \"x\"", "notify-send done", "x"]),
    },
    optional={"timeout": st.integers(1, 600)},
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(FOREIGN, max_size=2)}, optional={"matcher": st.sampled_from(["", "Bash", "*"])}
    ),
    max_size=3,
)
EVENTS = st.sampled_from(["SessionStart", "Stop", "PreToolUse", "PostToolUse", "Notification"])


@st.composite
def settings_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an object as a settings file holds it, often with hooks of others."""
    document: dict[str, Any] = draw(st.dictionaries(NAMES.filter(lambda name: name != "hooks"), VALUES, max_size=4))
    if draw(st.booleans()):
        items = list(document.items())
        items.insert(draw(st.integers(0, len(items))), ("hooks", draw(st.dictionaries(EVENTS, GROUPS, max_size=3))))
        document = dict(items)
    return document


NAMED_HOOKS = st.dictionaries(
    st.text(max_size=6).filter(lambda name: name != "memsyncd"),
    st.dictionaries(EVENTS, GROUPS | st.lists(FOREIGN, max_size=2), max_size=3),
    max_size=3,
)
"""What Antigravity's file holds; one value of another form would make it ignore all of it."""

GAPS = [
    "",
    " ",
    "  ",
    "\t",
    "\n",
    "\n  ",
    "\n\t",
    "\n\n    ",
    " /* kept */ ",
    "/*,}*/\n",
    "// kept, too\n",
    "\n  //{\n  ",
    "/**/",
]


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """Write a value as somebody may have: any indentation, line ends, comments, commas behind the last item.

    How it is laid out hangs on one number, for hypothesis is slow with thousands of small choices.
    """
    chance = Random(draw(st.integers(0, 2**32)))
    layout = draw(st.sampled_from(["free", "two", "tab", "minified"]))
    if layout == "free":
        text = _gap(chance) + _laid_out(value, chance) + _gap(chance)
    else:
        indent = {"two": 2, "tab": "\t", "minified": None}[layout]
        separators = (",", ":") if layout == "minified" else None
        text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False) + chance.choice(["", "\n"])
    return chance.choice(["", "", "\ufeff"]) + text.replace("\n", chance.choice(["\n", "\n", "\r\n"]))


def _gap(chance: Random) -> str:
    return chance.choice(GAPS)


def _laid_out(value: Any, chance: Random) -> str:
    if isinstance(value, dict):
        items = [
            json.dumps(key, ensure_ascii=chance.random() < 0.5)
            + _gap(chance)
            + ":"
            + _gap(chance)
            + _laid_out(item, chance)
            for key, item in value.items()
        ]
        return "{" + _joined(items, chance) + "}"
    if isinstance(value, list):
        return "[" + _joined([_laid_out(item, chance) for item in value], chance) + "]"
    return json.dumps(value)


def _joined(items: list[str], chance: Random) -> str:
    text = _gap(chance)
    for index, item in enumerate(items):
        comma = "," if index < len(items) - 1 or chance.random() < 0.5 else ""
        text += item + _gap(chance) + comma + _gap(chance)
    return text


TOML_LINES = st.sampled_from(
    [
        "# a person's words",
        "",
        "   ",
        'model = "k2"',
        "temperature = 0.5  # warm",
        "'odd key' = '''\n[[hooks]]\n'''",
        '"quoted.key" = """\\\n  [not] = "a table" """',
        "servers = [\n  1, # one\n  [2, 3],\n]",
        "inline = { a = 1, b = [ { c = '}' } ] }",
        "when = 1979-05-27T07:32:00Z",
    ]
)
TOML_TABLES = st.sampled_from(
    [
        '[[hooks]]\nevent = "Stop"\ncommand = "./say done"  # mine',
        '[[ hooks ]]\n# indented\n  event = "PreToolUse"\n  command = \'lint "x"\'\n  matcher = "Bash"',
        '[[hooks]]\ncommand = """\nmany\nlines"""\nevent = "Stop"',
        "[[other]]\nx = 1",
        "[[other]]\n[other.sub]\ny = 2",
    ]
)


@st.composite
def toml_documents(draw: st.DrawFn) -> str:
    """Draw a TOML document with and without hooks of others; some are not valid, which the test leaves out."""
    lines = draw(st.lists(TOML_LINES, max_size=5))
    if draw(st.booleans()):
        lines.append(
            draw(
                st.sampled_from(
                    [
                        "hooks = []",
                        "hooks = [\n  # none yet\n]",
                        'hooks = [{event = "Stop", command = "x"}]',
                        'hooks = [\n  {event = "Stop", command = "x"}, # mine\n]',
                    ]
                )
            )
        )
    for index, table in enumerate(draw(st.lists(TOML_TABLES, max_size=4))):
        lines += [table, *draw(st.lists(st.sampled_from(["", "# about the next one", f"k{index} = 1"]), max_size=2))]
        if draw(st.booleans()):
            lines.append(f"[table{index}]\nz = 0")
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = "\n".join(lines).replace("\n", newline)
    return draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline, newline * 2]))
