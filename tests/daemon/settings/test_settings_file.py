"""config.toml: what is said of a wrong one, and where."""

import os
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from daemon.settings import ConfigurationError, toml_file
from tests.daemon.settings.reading import Load, sentences


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("dicover = true", "discover"),
        ("[platform]\nkidn = 'local'", "platform.kind"),
        ("[platfrom]\nkind = 'local'", "platform.kind"),
        ("[platform]\napi_key = 'x'", "platform.api_key_file"),
        ("[http]\nworkers = 3", "queue.workers"),
        ("[[spools]]\npath = '/x'\nharnes = 'codex'", "harness"),
        ("[queue]\nworkers.most = 3", "queue.workers"),
    ],
)
def test_an_unknown_key_names_the_nearest(read: Load, text: str, near: str) -> None:
    """The sentence has the file and the key that was probably meant."""
    (only,) = sentences(read, text)
    assert "config.toml:" in only
    assert near in only


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("\n[queue]\nworkers = 0", 3, ["queue.workers is 0", "a whole number from 1 to 64"]),
        ("[queue]\nworkers = 'four'", 2, ["queue.workers is 'four'", "whole number"]),
        ("[queue]\nworkers = true", 2, ["queue.workers is True"]),
        ("[platform]\nkind = 'cloud'", 2, ["platform.kind", '"local", "mem0", "mem0-server"']),
        ("discover = 'yes'", 1, ["discover", "true or false"]),
        ("exclude = '~/x'", 1, ["exclude", "a list of texts"]),
        ("exclude = [1]", 1, ["exclude", "a list of texts"]),
        ("[http]\ntimeout_seconds = inf", 2, ["http.timeout_seconds is inf", "0.1 to 600"]),
        ("[http]\ntimeout_seconds = nan", 2, ["http.timeout_seconds"]),
        ("platform = 'mem0'", 1, ["platform is a section"]),
        ("[[spools]]\nharness = 'codex'", 1, ["spools", "path"]),
        ("[telemetry]\napi_key = 5", 2, ["telemetry.api_key", "a text"]),
        ('[platform]\napi_key_file = "/a\\u0000b"', 2, ["platform.api_key_file", "control characters"]),
        ('exclude = ["/a\\nb"]', 1, ["exclude", "control characters"]),
        ('[[spools]]\npath = "/a\\u0007"', 1, ["spools", "control characters"]),
    ],
)
def test_a_wrong_value_names_key_value_and_what_is_allowed(read: Load, text: str, line: int, parts: list[str]) -> None:
    """With the line it stands on."""
    (only,) = sentences(read, text)
    assert f"config.toml:{line}: " in only
    assert all(part in only for part in parts), only


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = = 2\n", 2), ("[queue\n", 1), ("a = 1\na = 2\n", 2), ("x = [\n1,\n\n", 2), ("a = '\n", 1)],
)
def test_bad_toml_is_told_with_its_line(read: Load, text: str, line: int) -> None:
    """A file that cannot be read as TOML is an error, never an empty configuration (never-again 133)."""
    (only,) = sentences(read, text)
    assert f"config.toml:{line}: " in only


def test_a_file_that_is_no_text_or_cannot_be_read_is_an_error(read: Load, tmp_path: Path) -> None:
    """Another encoding, a directory, a megabyte of something."""
    config = tmp_path / "config.toml"
    config.write_bytes(b"discover = true\nuser = '\xe4'\n")
    assert "config.toml:2: not UTF-8" in sentences(read)[0]
    config.write_bytes(b"#" * 1_000_001)
    assert "no settings file" in sentences(read)[0]
    config.unlink()
    config.mkdir()
    assert "cannot be read" in sentences(read)[0]


def test_a_byte_order_mark_is_no_error(read: Load) -> None:
    """Some editors write one."""
    assert read("\ufeffdiscover = false\n").settings.discover is False


def test_lines_are_right_beside_multi_line_texts(read: Load, tmp_path: Path) -> None:
    """What looks like a key within a text is none."""
    text = 'agent_memory_path = """\n/a\\\nkind = 3\\\n"""\n[platform]\n# kind = "x"\nkind = "local"\n'
    loaded = read(text)
    assert loaded.origins["platform.kind"] == f"{tmp_path / 'config.toml'}:7"


def test_dotted_and_inline_forms_are_understood(read: Load) -> None:
    """All of TOML's ways to write a table mean the same."""
    loaded = read('queue.workers = 3\nlog = { level = "error" }\n["http"]\n"timeout_seconds" = 3\n[telemetry]\n')
    settings = loaded.settings
    assert (settings.queue.workers, settings.log.level, settings.http.timeout_seconds) == (3, "error", 3.0)


def test_a_file_with_a_secret_that_others_can_read_is_a_warning(read: Load, tmp_path: Path) -> None:
    """Its mode is no matter while it holds none."""
    config = tmp_path / "config.toml"
    for text, mode, told in (
        ("discover = false\n", 0o644, 0),
        ("[telemetry]\napi_key = 'x'\n", 0o600, 0),
        ("[telemetry]\napi_key = 'x'\n", 0o644, 1),
        ("[queue]\nurl = 'postgresql://u:p@h/d'\n", 0o640, 1),
        ("[queue]\nurl = 'postgresql://h/d'\n", 0o644, 0),
    ):
        config.write_text(text)
        config.chmod(mode)
        loaded = read(None, {"MEM0_API_KEY": "k"})
        assert len(loaded.warnings) == told, (text, mode)
        assert loaded.cures == dict.fromkeys(loaded.warnings, f"`chmod 600 {config}`")


def test_a_spool_that_is_no_directory_is_a_warning_with_its_cure(read: Load, tmp_path: Path) -> None:
    """One that is not there may be made yet."""
    (tmp_path / "file").touch()
    loaded = read(f"[[spools]]\npath = '{tmp_path}/file'\n[[spools]]\npath = '{tmp_path}/later'\n")
    (warning,) = loaded.warnings
    assert f"{tmp_path}/file, which is no directory" in warning
    assert loaded.cures == {warning: f"Correct it in {tmp_path}/config.toml, or take it out."}


@example(text="[a]\n[a.b]\n")
@example(text="platform = []\n")
@example(text="[platform.kind]\nx = 1\n")
@given(text=st.text(alphabet=string.printable + "é\0\ufeff", max_size=80))
@hypothesis_settings(
    max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_any_text_is_settings_or_a_sentence(read: Load, text: str) -> None:
    """No file can make loading fail in another way."""
    told: tuple[str, ...] = ()
    try:
        read(text or "\n")
    except ConfigurationError as error:
        told = tuple(error.sentences)
    assert all("config.toml" in sentence for sentence in told)


def test_a_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    """It may name a command that is run."""
    path = tmp_path / "config.toml"
    path.write_text("discover = true\n")
    path.chmod(0o666)
    with pytest.raises(ConfigurationError, match="chmod go-w"):
        toml_file.read(path)
    path.chmod(0o664)  # where each user has a group of his own, that is usual
    assert toml_file.read(path).values == {"discover": True}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_refused(tmp_path: Path) -> None:
    """Even root runs nobody else's command."""
    path = tmp_path / "config.toml"
    path.write_text("[platform]\napi_key_command = 'touch mark'\n")
    os.chown(path, 65534, 65534)
    with pytest.raises(ConfigurationError, match="user 65534"):
        toml_file.read(path)
