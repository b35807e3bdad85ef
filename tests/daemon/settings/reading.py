"""Settings read from a text, an environment and overrides."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from daemon.settings import ConfigurationError, Loaded

Load = Callable[..., Loaded]

HOME = Path("/home/ada")


def sentences(read: Load, text: str = "", environ: Mapping[str, str] | None = None, **overrides: object) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        read(text, environ, **overrides)
    assert refused.value.exit_code == 78
    return list(refused.value.sentences)
