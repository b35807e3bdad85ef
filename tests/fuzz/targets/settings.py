"""Settings: a file, an environment and a command line of any words become settings, or sentences about them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from daemon.configuration_error import ConfigurationError
from daemon.places import resolve
from daemon.settings import load
from daemon.settings.keys import KEYS
from tests.fuzz import planted, seeds
from tests.fuzz.target import BREAK, Target, TryOne

HOME = Path("/home/ada")


class _Loader:
    def __init__(self, place: Path) -> None:
        whole = resolve({"MEMSYNCD_HOME": str(place)}, HOME, 1, "linux")
        self.places = replace(whole, config_file=place / "config.toml")

    def try_one(self, content: bytes) -> None:
        text, _, rest = planted.into(content).partition(BREAK)
        variables, _, overrides = rest.partition(BREAK)
        self.places.config_file.write_bytes(text)
        environ = _pairs(variables)
        try:
            resolve(environ, HOME, 1, "linux")
            loaded = load(self.places, environ, _pairs(overrides))
        except ConfigurationError as error:
            planted.assert_absent(str(error))
            return
        shown = loaded.shown()
        assert shown.keys() == KEYS.keys()
        json.dumps(shown, allow_nan=False)
        planted.assert_absent(*loaded.warnings, *(value for name, value in shown.items() if _holds_secret(name)))


def _holds_secret(name: str) -> bool:
    """Whether a setting's value is masked where it is a secret; others are names, paths and numbers."""
    return name.endswith("api_key")


def _pairs(lines: bytes) -> Mapping[str, str]:
    """Return NAME=value lines as an environment holds them."""
    told = (line.decode("utf-8", "surrogateescape").partition("=") for line in lines.split(b"\n"))
    return {name: value.replace("\0", "") for name, sign, value in told if sign and name}


@contextmanager
def opened(place: Path) -> Iterator[TryOne]:
    yield _Loader(place).try_one


def _table(name: str, value: str) -> str:
    section, _, field = name.rpartition(".")
    return (f"[{section}]\n" if section else "") + f"{field} = {value}\n"


def inputs() -> Iterator[bytes]:
    """Yield every setting in a file, in the environment and on the command line, with values of several types."""
    values = ('""', "1", "0.5", "true", "[]", '"local"', '"https://ada:@PLANTED@@host.example/v1"', '"~/x"', "inf")
    for number, (name, key) in enumerate(KEYS.items()):
        value = values[number % len(values)]
        bare = value.strip('"')
        yield BREAK.join(
            (_table(name, value).encode(), f"USER=ada\n{key.variable}={bare}".encode(), f"{name}={bare}".encode())
        )
    yield b'exclude = ["~/a/**"]\n[[spools]]\npath = "/srv/x"\nharness = "codex"\n[[spools]]\npath = "~/y-plugin"\n'
    yield b'[telemetry]\nenabled = true\nendpoint = "https://t.example"\napi_key = "@PLANTED@"\n'
    plugins = b"MEM0_API_KEY=@PLANTED@\nMEM0_CODE_TOP_K=99\nMEM0_CODE_DATA_DIR=/x\nMEM0_TELEMETRY=off\nDO_NOT_TRACK=1"
    yield BREAK.join((b"", plugins, b"queue.workers=3"))
    yield BREAK.join((b"a = '''\n[platform]\n'''\n# \n'k.l'.m = 1979-05-27T07:32:00Z", b"MEMSYNCD_HOME=/h", b""))
    yield from seeds.of_file("daemon", "settings", "*.toml")


WORDS = tuple(
    word.encode()
    for name, key in KEYS.items()
    for word in (name, key.variable, f"[{name.rpartition('.')[0]}]\n", f"{name.rpartition('.')[2]} = ")
) + tuple(b"[[spools]] [[ ]] = ''' \"\"\" 1979-05-27T07:32:00Z 0x 1e400 +inf nan { } MEM0_CODE_ PLUGIN_OPTION_".split())
TARGET = Target("settings", opened, inputs, WORDS, longest=16_384)
