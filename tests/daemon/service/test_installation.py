"""What is refused before anything is written: a service without something the shell has (never-again 95, 96)."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.service.commands import Answer, Run
from daemon.service.installation import Account, Installation, check, command, of_system, of_user
from daemon.service.refusal import Incomplete
from memsyncd.version import __version__


def works(_: object) -> Answer:
    return Answer(0, f"memsyncd, version {__version__}")


def refused(installation: Installation, run: Run = works, **environ: str) -> str:
    with pytest.raises(Incomplete) as told:
        check(installation, {"HOME": str(installation.account.home), "USER": "ada", **environ}, run)
    return str(told.value)


@pytest.fixture
def ada(tmp_path: Path) -> Installation:
    return of_user(Account("ada", os.getuid(), tmp_path), sys.executable, {}, "linux")


def test_a_whole_one_is_accepted(ada: Installation) -> None:
    """On the embedded platform nothing is needed; the real interpreter answers without a shell's environment."""
    loaded = check(ada, {"HOME": str(ada.account.home), "USER": "ada"})
    assert loaded.settings.platform.kind == "local"


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"MEM0_API_KEY": "x" * 9}, "platform.kind"),
        ({"MEMSYNCD_HTTP_PROXY": "http://proxy.test:1"}, "http.proxy"),
        ({"MEM0_USER_ID": "ada@example.org"}, "platform.user_id"),
        ({"MEMSYNCD_LOG_LEVEL": "debug"}, "MEMSYNCD_LOG_LEVEL"),
    ],
)
def test_a_setting_that_only_the_shell_has(ada: Installation, variables: dict[str, str], told: str) -> None:
    """It is named with its variable, and never with its value."""
    said = refused(ada, **variables)
    assert told in said
    assert not any(value in said for value in variables.values())


def test_a_key_that_is_nowhere(ada: Installation) -> None:
    """The hosted platform without a key: where to write it."""
    ada.places.config_file.parent.mkdir(parents=True)
    ada.places.config_file.write_text('[platform]\nkind = "mem0"\n')
    assert str(ada.places.config_file.with_name("mem0_api_key")) in refused(ada)


def test_an_edge_needs_no_key(ada: Installation) -> None:
    """Workers deliver for it."""
    ada.places.config_file.parent.mkdir(parents=True)
    ada.places.config_file.write_text('[platform]\nkind = "mem0"\n[queue]\nurl = "postgresql://h/q"\nrole = "edge"\n')
    check(ada, {"HOME": str(ada.account.home), "USER": "ada"}, works)


HOSTED = '[platform]\nkind = "mem0"\napi_key_file = "{0}"\n'


@pytest.mark.parametrize(
    ("settings", "variables", "told"),
    [
        ("", {"HTTPS_PROXY": "http://me:x@proxy.test:1"}, ["HTTPS_PROXY", "http.proxy"]),
        ("", {"https_proxy": "http://proxy.test:1", "SSL_CERT_FILE": "/ca.pem"}, ["https_proxy", "http.ca_file"]),
        ("", {"ALL_PROXY": "http://proxy.test:1"}, ["ALL_PROXY"]),
        ('[http]\nproxy = "http://proxy.test:1"\n', {"SSL_CERT_FILE": "/ca.pem"}, ["SSL_CERT_FILE", "http.ca_file"]),
        ('[http]\nproxy = "http://proxy.test:1"\n', {"HTTPS_PROXY": "http://proxy.test:1"}, []),
        ("", {"HTTP_PROXY": "http://proxy.test:1", "SSL_CERT_FILE": "/ca.pem"}, []),
        ("", {"HTTPS_PROXY": "http://proxy.test:1", "NO_PROXY": "api.mem0.ai"}, []),
        ("", {"HTTPS_PROXY": ""}, []),
    ],
)
def test_a_proxy_that_only_the_shell_knows(
    ada: Installation, settings: str, variables: dict[str, str], told: list[str]
) -> None:
    """The service would find no way to the platform, or not believe who answers there; where none is needed for it,
    nothing is asked for (never-again 154). A proxy may hold a password, and is not repeated."""
    key = ada.account.home / "key"
    key.write_text("fake-key")
    ada.places.config_file.parent.mkdir(parents=True)
    ada.places.config_file.write_text(HOSTED.format(key) + settings)
    if not told:
        check(ada, {"HOME": str(ada.account.home), "USER": "ada", **variables}, works)
        return
    said = refused(ada, **variables)
    assert all(word in said for word in told)
    assert not any(value in said for value in variables.values())


def test_a_key_beside_the_configuration_is_enough(tmp_path: Path) -> None:
    """It becomes the service's credential, and decides the platform as there."""
    key = tmp_path / ".config/memsyncd/mem0_api_key"
    key.parent.mkdir(parents=True)
    key.write_text("fake-key")
    ada = of_user(Account("ada", os.getuid(), tmp_path), sys.executable, {}, "linux")
    assert "platform.kind" in refused(replace(ada, credential=None), MEM0_API_KEY="fake-key")
    assert check(ada, {"HOME": str(tmp_path), "USER": "ada"}, works).settings.platform.kind == "mem0"


def test_a_configuration_that_cannot_be_read(ada: Installation) -> None:
    """With its file and line."""
    ada.places.config_file.parent.mkdir(parents=True)
    ada.places.config_file.write_text("[platfrom]\n")
    assert "platform" in refused(ada)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (lambda _: Answer(1, "Traceback\nModuleNotFoundError: No module named 'daemon'"), "No module named"),
        (lambda _: Answer(0, "memsyncd, version 0.0.1"), "does not answer"),
        (lambda _: Answer(127), "exit code 127"),
    ],
)
def test_a_program_that_does_not_start_without_the_shell(ada: Installation, run: Run, told: str) -> None:
    """An interpreter that finds us only through a variable, or finds another version."""
    assert told in refused(ada, run)


@pytest.mark.parametrize("place", ["/home/ada/.venv/bin/python", "/root/venv/bin/python", "/tmp/venv/bin/python"])
def test_a_system_service_cannot_see_a_home(tmp_path: Path, place: str) -> None:
    """ProtectHome= hides the interpreter: refused, with a place that works."""
    assert "/opt/memsyncd" in refused(of_system(Account("memsyncd", 4343, tmp_path), place))


def test_an_interpreter_that_is_not_known(ada: Installation) -> None:
    """Nothing relative is ever written."""
    assert "absolute" in refused(replace(ada, command=command("python3")))
