"""The fixture that reads settings."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from daemon.places import resolve
from daemon.settings import Loaded, load
from tests.daemon.settings.reading import HOME, Load


@pytest.fixture
def read(tmp_path: Path) -> Load:
    """Load settings from a file's text, an environment and overrides."""

    def call(text: str = "", environ: Mapping[str, str] | None = None, **overrides: object) -> Loaded:
        places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, HOME, 1, "linux")
        if text:
            places.config_file.write_text(text)
        dotted = {name.replace("__", "."): value for name, value in overrides.items()}
        return load(places, environ if environ is not None else {"USER": "ada"}, dotted)

    return call
