"""`config`: what is in effect, whether it is right, where everything lies."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from daemon.cli.program import main
from daemon.cli.surroundings import Surroundings

KEY = "tk-" + "x" * 20


def around(home: Path, **environ: str) -> Surroundings:
    given: Mapping[str, str] = {"MEMSYNCD_HOME": str(home / "m"), **environ}
    return Surroundings(environ=given, home=home, uid=1000, platform="linux", wall=lambda: 1_800_000_000.0)


def write_config(home: Path, text: str) -> None:
    (home / "m").mkdir()
    (home / "m/config.toml").write_text(text)


def test_show_tells_values_and_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each setting stands with its value and whether file, environment, command line or default gave it."""
    write_config(tmp_path, "[queue]\nworkers = 2\n")
    surroundings = around(tmp_path, MEMSYNCD_LOG_LEVEL="debug")
    assert main(["config", "show", "--json", "--set", "discover=false"], surroundings) == 0
    shown = json.loads(capsys.readouterr().out)["settings"]
    assert shown["queue.workers"]["value"] == 2
    assert "config.toml" in shown["queue.workers"]["origin"]
    assert shown["log.level"] == {"value": "debug", "origin": "MEMSYNCD_LOG_LEVEL"}
    assert shown["discover"] == {"value": False, "origin": "command line"}
    assert shown["platform.kind"]["origin"] == "default"
    assert main(["config", "show"], surroundings) == 0
    assert "\nlog.level " in capsys.readouterr().out


def test_show_masks_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No key is shown, neither to people nor as JSON."""
    write_config(tmp_path, f'[telemetry]\napi_key = "{KEY}"\n[http]\nproxy = "http://u:{KEY}@proxy.test:1"\n')
    for words in (["config", "show"], ["config", "show", "--json"], ["config", "check"]):
        assert main(words, around(tmp_path, MEM0_API_KEY=KEY)) == 0
        printed = capsys.readouterr()
        assert KEY not in printed.out + printed.err


def test_check_says_every_fault_and_exits_78(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong configuration exits 78 with a sentence for each fault, also as JSON, and `show` and `run` refuse it too."""
    write_config(tmp_path, "[queue]\nworkrs = 2\nworkers = 0\n")
    assert main(["config", "check"], around(tmp_path)) == 78
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "queue.workrs" in printed.err
    assert "queue.workers" in printed.err
    assert main(["config", "check", "--json"], around(tmp_path)) == 78
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert len(document["errors"]) == 2
    assert main(["config", "show"], around(tmp_path)) == 78


def test_check_is_content_without_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a fresh machine the configuration is right, and nothing is created by asking."""
    assert main(["config", "check"], around(tmp_path)) == 0
    assert "there is no file" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_path_tells_the_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Config, data and socket are told, and a relative MEMSYNCD_HOME is a sentence and 78."""
    assert main(["config", "path", "--json"], around(tmp_path)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["config"] == str(tmp_path / "m/config.toml")
    assert main(["config", "path"], around(tmp_path)) == 0
    assert told["socket"] in capsys.readouterr().out
    assert main(["config", "path"], around(tmp_path, MEMSYNCD_HOME="relative")) == 78
    assert "absolute" in capsys.readouterr().err


def test_path_tells_a_shortened_socket(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the socket's path is too long for the system, the wanted place is told on standard error."""
    assert main(["config", "path"], around(tmp_path, MEMSYNCD_HOME="/" + "x" * 120)) == 0
    assert "too long" in capsys.readouterr().err


def test_the_key_is_told_by_its_source_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`show` tells where the key is from; a source without one is a warning there and in `check`; no command is run."""
    assert main(["config", "show", "--json"], around(tmp_path, MEM0_API_KEY=KEY)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["key"], told["warnings"]) == ("MEM0_API_KEY", [])
    missing = ["--set", "platform.kind=mem0", "--set", f"platform.api_key_file={tmp_path}/none"]
    assert main(["config", "show", *missing], around(tmp_path)) == 0
    printed = capsys.readouterr()
    assert "key: none" in printed.out
    assert f"{tmp_path}/none" in printed.err
    assert main(["config", "check", *missing, "--json"], around(tmp_path)) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 2
    command = ["--set", f"platform.api_key_command=touch {tmp_path}/ran"]
    assert main(["config", "show", *command], around(tmp_path)) == 0
    assert "platform.api_key_command" in capsys.readouterr().out.splitlines()[-1]
    assert not (tmp_path / "ran").exists()


FLEET = {"MEMSYNCD_QUEUE_URL": "postgresql://h/q", "MEMSYNCD_PLATFORM_KIND": "mem0"}


def test_an_edge_is_not_told_to_get_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Workers deliver for it; what it lacks without one is a remark, and its configuration is right."""
    assert main(["config", "check", "--json"], around(tmp_path, MEMSYNCD_QUEUE_ROLE="edge", **FLEET)) == 0
    (remark,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "recall" in remark and "search" in remark
    assert main(["config", "check", "--json"], around(tmp_path, MEMSYNCD_QUEUE_ROLE="worker", **FLEET)) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert warning.startswith("There is no key for mem0")


@pytest.mark.parametrize(
    ("environ", "word"),
    [
        ({"MEMSYNCD_QUEUE_ROLE": "edge"}, "queue.url"),
        ({"MEMSYNCD_QUEUE_URL": "postgresql://a:b@h/q"}, "platform.kind"),
        ({**FLEET, "MEMSYNCD_QUEUE_PAYLOAD_KEY_FILE": "/nowhere/payload.key"}, "queue.payload_key_file"),
        ({**FLEET, "MEMSYNCD_QUEUE_URL": "postgresql://h/q?no-such-word=1"}, "queue.url"),
    ],
)
def test_check_refuses_what_run_would_of_a_fleet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], environ: dict[str, str], word: str
) -> None:
    """Both say so with 78, and `check` asks no database for it."""
    for words in (["config", "check"], ["run", "--once"]):
        assert main(words, around(tmp_path, **environ)) == 78
        assert word in capsys.readouterr().err
