"""The group of all commands: each is imported when it is named, so that `status` does not load the daemon."""

import contextlib
import errno
import importlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from daemon.cli import exits, outlet
from daemon.cli.notice import tell_of_trouble
from daemon.cli.output import silence
from daemon.cli.surroundings import Surroundings, of_this_process
from daemon.cli.wording import clean
from daemon.configuration_error import ConfigurationError
from memsyncd.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, str] = {
    "run": "daemon.cli.run:run",
    "demo": "daemon.cli.demo:demo",
    "status": "daemon.cli.status:status",
    "doctor": "daemon.cli.doctor:doctor",
    "jobs": "daemon.cli.jobs:jobs",
    "flush": "daemon.cli.flush:flush",
    "drain": "daemon.cli.drain:drain",
    "search": "daemon.cli.search:search",
    "ui": "daemon.cli.ui:ui",
    "pause": "daemon.cli.pause:pause",
    "resume": "daemon.cli.resume:resume",
    "forget": "daemon.cli.forget:forget",
    "export": "daemon.cli.export:export",
    "import": "daemon.cli.importing:import_",
    "service": "daemon.cli.service:service",
    "mcp": "daemon.cli.mcp:mcp",
    "config": "daemon.cli.config:config",
    "telemetry": "daemon.cli.telemetry:telemetry",
    "hook": "daemon.cli.hooks:hook",
    "hooks": "daemon.cli.hooks:hooks",
    "completion": "daemon.cli.completion:completion",
}
"""Name to `module:attribute`, in the order help shows them."""

GONE = frozenset({errno.EPIPE, errno.EIO})
"""What writing to a pipe without a reader gives, and to a terminal that was closed."""

SERVICE = "run"
"""The command that has nothing to say on standard output."""


class Commands(click.Group):
    """A group that loads a command when it is looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (click's)
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete a command's name; for a shell that shows no help, without loading any."""
        from daemon.cli.completion import is_bash  # noqa: PLC0415  (only when a shell asks)

        if incomplete.startswith("-") or not is_bash(ctx):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        return [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memsyncd")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Background sync for coding-agent memory.

    Hooks drop a file; the daemon delivers it to a memory platform until the platform has confirmed it. Start with
    `memsyncd demo`, which shows the whole path in a throw-away directory.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str], surroundings: Surroundings | None = None) -> int:
    """Run the command line and return its exit code; sentences, never tracebacks, for what people can get wrong."""
    around = surroundings or of_this_process()
    try:
        outlet.guard(is_needed=next(iter(arguments), "") != SERVICE)
        code = program.main(args=list(arguments), prog_name="memsyncd", standalone_mode=False, obj=around)
        sys.stdout.flush()
        tell_of_trouble(around, arguments)
    except click.ClickException as error:
        with _heard_or_not():
            error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 128 + signal.SIGINT
    except exits.Leave as leave:
        return _leave(leave.code, leave.sentence)
    except ConfigurationError as error:
        return _leave(exits.MISCONFIGURED, str(error))
    except (outlet.OutputLost, OSError) as error:
        return _failed(error)
    finally:
        with _heard_or_not():
            sys.stderr.flush()
    return code if isinstance(code, int) else exits.DONE


def _failed(error: outlet.OutputLost | OSError) -> int:
    """Say what the system would not do, unless whoever would read it is gone, and return the exit code."""
    if error.errno not in GONE:
        _leave(exits.FAILED, str(error) if isinstance(error, outlet.OutputLost) else _sentence(error))
    if error.errno in GONE or isinstance(error, outlet.OutputLost):
        silence()
    return exits.FAILED


def _leave(code: int, sentence: str) -> int:
    """Say why, where anybody can be told, and return the exit code."""
    told = "\n".join(map(clean, sentence.split("\n")))  # it may name what somebody else has named
    with _heard_or_not():
        if told:
            click.echo(f"memsyncd: {told}", err=True)
    return code


@contextlib.contextmanager
def _heard_or_not() -> Iterator[None]:
    """Say something on standard error, which may be full or gone: the exit code is the same."""
    try:
        yield
    except OSError:
        silence()


def _sentence(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is None:  # a path from here was asked for
        return "The directory you stand in is gone: go to another, or name one."
    return f"{error.filename or 'The system refused'}: {error.strerror or error}."
