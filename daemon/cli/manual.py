"""The manual page, made of the commands themselves: `python -m daemon.cli.manual > docs/memsyncd.1`. Pure."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence

import click

from daemon.cli.program import program
from memsyncd.version import __version__

NAME = "memsyncd"
VERBATIM = "\b"
"""click's mark of a paragraph that keeps its lines."""

EXITS: Sequence[tuple[str, str]] = (
    ("0", "Done; nothing is wrong."),
    ("1", "Failed, or not healthy."),
    ("2", "Wrong use, or a refusal (`forget` without `--yes`)."),
    ("3", "The daemon is not running and is needed."),
    ("4", "Another daemon serves this data directory already."),
    ("75", "`flush --wait`: put off, nothing refused."),
    ("78", "The configuration is wrong; service managers do not restart on it."),
)

FILES: Sequence[tuple[str, str]] = (
    ("~/.config/memsyncd/config.toml", "The settings."),
    ("~/.local/share/memsyncd/", "The queue, memories and notes on this machine, and `spools/` with what hooks drop."),
    ("$XDG_RUNTIME_DIR/memsyncd/status.sock", "Where the daemon answers its own user, in HTTP."),
)
"""On Linux; `memsyncd config path` tells them as they are."""

ENVIRONMENT: Sequence[tuple[str, str]] = (
    ("MEMSYNCD_HOME", "One directory for everything, in place of the above."),
    ("MEMSYNCD_SECTION_KEY", "A setting, as in `MEMSYNCD_PLATFORM_KIND` for `platform.kind`."),
    ("MEM0_API_KEY", "The key of the hosted platform."),
    ("DO_NOT_TRACK", "Switches telemetry off, whatever the settings say."),
    ("NO_COLOR", "No colours."),
    ("LC_ALL=C", "No characters but ASCII's, in charts too."),
)


def manual(root: click.Group = program) -> str:
    """Return the page in the form of man(7)."""
    context = click.Context(root, info_name=NAME)
    lines = [
        f'.TH MEMSYNCD 1 "" "memsyncd {__version__}" "User Commands"',
        ".SH NAME",
        f"{NAME} \\- background sync for coding\\-agent memory",
        ".SH SYNOPSIS",
        f".B {NAME}",
        "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        *_paragraphs(root.help or ""),
        ".SH COMMANDS",
        *_commands(context, root, NAME),
        ".SH EXIT STATUS",
        *_terms(EXITS),
        ".SH FILES",
        *_terms(FILES),
        ".SH ENVIRONMENT",
        *_terms(ENVIRONMENT),
    ]
    return "\n".join(lines) + "\n"


def _commands(context: click.Context, group: click.Group, path: str) -> Iterator[str]:
    """Tell every command of a group, and those of its groups after it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield f".SS {_escaped(f'{path} {name}')} {_escaped(' '.join(command.collect_usage_pieces(inner)))}"
        yield from _paragraphs(command.help or command.short_help or "")
        yield from _options(command, inner)
        if isinstance(command, click.Group):
            yield from _commands(inner, command, f"{path} {name}")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", f".B {_escaped(record[0])}", _text(record[1]))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(text))):
        if number:
            yield ".PP"
        lines = paragraph.splitlines()
        if lines[:1] == [VERBATIM]:
            yield from (".nf", *(_escaped(line.strip()) for line in lines[1:]), ".fi")
        else:
            yield _text(" ".join(lines))


def _terms(terms: Sequence[tuple[str, str]]) -> Iterator[str]:
    for term, told in terms:
        yield from (".TP", f".B {_escaped(term)}", _text(told))


def _text(text: str) -> str:
    """Return running text, what stands in backticks in bold."""
    pieces = [_plain(piece) for piece in text.strip().split("`")]
    pieces[1::2] = [f"\\fB{piece}\\fR" for piece in pieces[1::2]]
    return _protected("".join(pieces))


def _escaped(text: str) -> str:
    return _protected(_plain(text))


def _plain(text: str) -> str:
    """Return what roff shows as it stands: a hyphen one can type again, no escape of its own."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def _protected(line: str) -> str:
    """Keep a line that begins like a request from being one."""
    return f"\\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    sys.stdout.write(manual())
