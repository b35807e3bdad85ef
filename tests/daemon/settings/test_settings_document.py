"""docs/settings.md says what the schema says."""

import json
from pathlib import Path

import pytest

from daemon.places import resolve
from daemon.settings import Settings, flatten, load
from daemon.settings.keys import KEYS

DOCUMENT = Path(__file__).parents[3] / "docs/settings.md"


def rows() -> dict[str, list[str]]:
    lines = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {cell[0].strip("`"): cell for cell in cells}


def test_every_setting_is_listed_once_in_the_schemas_order() -> None:
    """Nothing is set that the document does not name, and nothing named is unknown."""
    assert list(rows()) == sorted(KEYS, key=list(KEYS).index)
    assert DOCUMENT.read_text().count("\n| `") == len(KEYS)


@pytest.mark.parametrize("name", list(KEYS))
def test_default_and_bounds_are_the_schemas(name: str) -> None:
    """As TOML would write the default."""
    _, default, takes, meaning, _ = rows()[name]
    assert default == f"`{json.dumps(flatten(Settings())[name])}`"
    assert takes == KEYS[name].allowed
    assert meaning


def test_the_example_is_right(tmp_path: Path) -> None:
    """Whoever copies it starts a daemon."""
    example = DOCUMENT.read_text().split("```toml\n")[1].split("```")[0]
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, Path("/home/ada"), 1, "linux")
    places.config_file.write_text(example)
    settings = load(places, {}, {}).settings
    assert settings.platform.api_key_file == "/home/ada/.config/memsyncd/key"
    assert settings.spools[0].harness == "codex"


def test_the_other_variables_work(tmp_path: Path) -> None:
    """Each name in the last column sets the setting of its row."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, Path("/home/ada"), 1, "linux")
    values = {"platform.url": "http://h", "recall.scope": "mine", "telemetry.enabled": "off"}
    for name, cells in rows().items():
        for variable in [part for part in cells[4].split("`")[1::2] if part.isupper()]:
            loaded = load(places, {variable: values.get(name, "/1")}, {})
            told = [warning for warning in loaded.warnings if variable in warning]
            assert variable in loaded.origins[name] or told, variable
