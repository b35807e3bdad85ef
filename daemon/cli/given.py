"""What may not be empty: an empty value comes from an unset variable, and must not mean more than was meant."""

from pathlib import Path

import click

from daemon.cli import exits


class GivenText(click.ParamType[str]):
    """A text of at least one visible character."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002  (click gives it)
        """Return the text as it is."""
        return _given(value, param)


class GivenPath(click.ParamType[Path]):
    """A path, as it is given."""

    name = "path"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ARG002
        """Return it."""
        return Path(_given(value, param))


class GivenDirectory(GivenText):
    """A directory, absolute afterwards. With `is_there` it has to be one at this moment."""

    name = "directory"

    def __init__(self, *, is_there: bool = False) -> None:
        self._is_there = is_there

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return its path."""
        path = Path(super().convert(value, param, ctx)).absolute()
        if self._is_there and not path.is_dir():
            raise exits.Leave(exits.WRONG_USE, f"{_named(param)}: there is no directory {path}.")
        return str(path)


def _given(value: str, param: click.Parameter | None) -> str:
    if not value.strip():
        raise exits.Leave(exits.WRONG_USE, f"{_named(param)} is empty: give it a value, or leave it out.")
    return value


def _named(param: click.Parameter | None) -> str:
    if isinstance(param, click.Argument):
        return param.metavar or param.human_readable_name
    return param.opts[0] if param is not None else "The value"
