"""The dotted keys of the schema: what each takes, how text becomes its value, and the sentence when it does not."""

import math
import os
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from daemon.settings import telling
from daemon.settings.schema import MASK, Settings, Spool

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
"""Facts 15.5 and 12.1."""

_SECRET = frozenset({"telemetry.api_key", "extractor.api_key"})
_ADDRESSES = frozenset({"queue.url", "http.proxy", "platform.url", "telemetry.endpoint", "extractor.url"})


class ValueFault(ValueError):
    """A value that its key does not take; the message says what it takes."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `name` is dotted; `type` the schema's; `section` empty at the top."""

    name: str
    type: Any

    @property
    def variable(self) -> str:
        """Its environment variable (CONTRACT: Said precisely)."""
        return "MEMSYNCD_" + self.name.replace(".", "_").upper()

    def parse(self, value: object) -> Any:
        """Return `value`, as TOML gives it, as the key's type. Raises ValueFault."""
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueFault(self.allowed)
        if any(not _is_plain(text) for text in _texts(value)):
            raise ValueFault("a text without control characters")  # a path with a NUL is none
        if not all(map(is_unicode, _texts(value))):
            raise ValueFault("a text in UTF-8")
        try:
            return msgspec.convert(value, self.type)
        except msgspec.ValidationError as error:
            raise ValueFault(_spool_fault(error) if self.name == "spools" else self.allowed) from error

    def parse_text(self, text: str) -> Any:
        """Return the value that `text`, from the environment or the command line, stands for. Raises ValueFault.

        Lists are separated like PATH.
        """
        kind = _plain(self.type)
        if kind is bool:
            word = text.strip().lower()
            if word not in TRUE_WORDS | FALSE_WORDS:
                raise ValueFault(self.allowed)
            return word in TRUE_WORDS
        if kind in (int, float):
            try:
                return self.parse(kind(text.strip()))
            except ValueError:
                raise ValueFault(self.allowed) from None
        if get_origin(kind) is list:
            parts = [part for part in text.split(os.pathsep) if part]
            return self.parse([{"path": part} for part in parts] if self.name == "spools" else parts)
        return self.parse(text.strip())

    def clamp(self, value: float) -> Any:
        """Return the nearest value within the key's bounds."""
        bounds = _bounds(self.type)
        if bounds.ge is not None:
            value = max(value, bounds.ge)
        if bounds.le is not None:
            value = min(value, bounds.le)
        return value

    @property
    def type_is_whole(self) -> bool:
        """Whether it takes whole numbers."""
        return _plain(self.type) is int

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        kind, bounds = _plain(self.type), _bounds(self.type)
        if get_origin(kind) is Literal:
            return "one of " + ", ".join(f'"{word}"' for word in get_args(kind))
        if kind is bool:
            return "true or false"
        if kind in (int, float):
            noun = "a whole number" if kind is int else "a number"
            form = "" if kind is int else "g"
            return f"{noun} from {bounds.ge:{form}} to {bounds.le:{form}}"
        if self.name == "spools":
            return "[[spools]] tables with a path"
        return "a list of texts" if get_origin(kind) is list else "a text"

    def shown(self, value: object) -> object:
        """Return `value` as fit for a person's eyes: secrets masked, also those in addresses and in a command."""
        if self.name in _SECRET:
            return MASK if value else ""
        if self.name in _ADDRESSES and isinstance(value, str):
            return telling.place(value, MASK)
        if self.name == "platform.api_key_command" and isinstance(value, str) and value:
            return telling.command(value, MASK)
        return value

    def holds_secret(self, value: object) -> bool:
        """Whether `value` is a secret or has one in it."""
        if self.name in _ADDRESSES and isinstance(value, str):
            return telling.holds_secret(value)
        return self.shown(value) != value


def _walk(owner: type[Struct], prefix: str) -> dict[str, Key]:
    found: dict[str, Key] = {}
    for name, kind in get_type_hints(owner, include_extras=True).items():
        if isinstance(kind, type) and not isinstance(kind, types.GenericAlias) and issubclass(kind, Struct):
            found |= _walk(kind, f"{prefix}{name}.")
        else:
            found[prefix + name] = Key(prefix + name, kind)
    return found


KEYS: Mapping[str, Key] = types.MappingProxyType(_walk(Settings, ""))
"""Every setting by its dotted name."""

SECTIONS = frozenset(name.split(".")[0] for name in KEYS if "." in name)

SPOOL_KEYS = tuple(field.name for field in msgspec.structs.fields(Spool))


def nearest(name: str, known: Mapping[str, object] | frozenset[str] | tuple[str, ...] = KEYS) -> str:
    """Return the known name most like `name`: in its own section, else the same word elsewhere, else any."""
    import difflib  # noqa: PLC0415  (only for a mistake; every command reads settings)

    section, _, last = name.rpartition(".")
    neighbours = [other for other in known if section and other.rpartition(".")[0] == section]
    at_home = difflib.get_close_matches(name, neighbours, n=1, cutoff=0.8)
    moved = [other for other in known if other.rpartition(".")[2] == last]
    return (at_home or moved or difflib.get_close_matches(name, list(known), n=1, cutoff=0.0))[0]


def is_unicode(text: str) -> bool:
    """Whether a variable's or an argument's text was in UTF-8: other bytes come as halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _bounds(kind: Any) -> Meta:
    found = [part for part in get_args(kind) if isinstance(part, Meta)]
    return found[0] if found else Meta()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _is_plain(text: str) -> bool:
    return not any(letter < " " or letter == "\x7f" for letter in text)


def _spool_fault(error: msgspec.ValidationError) -> str:
    return f"[[spools]] tables with a path and, if it is not plain, a harness (both texts): {error}"
