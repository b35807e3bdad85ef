"""Whether telemetry is on is decided in one place, and every documented place leads there."""

import math
from pathlib import Path

import pytest

from daemon.configuration_error import ConfigurationError
from daemon.places import resolve
from daemon.settings import Settings, load
from daemon.telemetry.consent import Consent, Standing, Target, target, why_off
from tests.daemon.telemetry.switched_on import KEY, ON


def settings(tmp_path: Path, text: str = "", **environ: str) -> Settings:
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, tmp_path, 1, "linux")
    places.config_file.write_text(text)
    return load(places, environ, {}).settings


def test_all_three_are_needed(tmp_path: Path) -> None:
    """Enabled, an endpoint and a key make a target, which shows its key to nobody."""
    found = target(settings(tmp_path, **ON))
    assert found == Target("http://127.0.0.1:9", KEY, 300.0)
    assert KEY not in repr(found)


@pytest.mark.parametrize(
    ("text", "environ", "why"),
    [
        ("", {}, "telemetry.enabled is false"),
        ("[telemetry]\nenabled = false\n", ON, "telemetry.enabled is false"),
        ("", {**ON, "MEMSYNCD_TELEMETRY_ENABLED": "no"}, "telemetry.enabled is false"),
        ("", {**ON, "MEM0_TELEMETRY": "0"}, "telemetry.enabled is false"),
        ("", {**ON, "MEM0_TELEMETRY": " Off "}, "telemetry.enabled is false"),
        ("", {**ON, "DO_NOT_TRACK": "1"}, "telemetry.enabled is false"),
        ("", {**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": ""}, "telemetry.endpoint is empty"),
        ("", {**ON, "MEMSYNCD_TELEMETRY_API_KEY": ""}, "telemetry.api_key is empty"),
    ],
)
def test_off_from_every_documented_place(tmp_path: Path, text: str, environ: dict[str, str], why: str) -> None:
    """Whatever says no, or is missing, leaves no target and says why (never-again 77)."""
    found = settings(tmp_path, text, **environ)
    assert target(found) is None
    assert why_off(found) == why


def test_the_reason_says_where_the_no_is_from(tmp_path: Path) -> None:
    """Whoever wonders why nothing is sent is told the variable, or the line."""
    places = resolve({"MEMSYNCD_HOME": str(tmp_path)}, tmp_path, 1, "linux")
    loaded = load(places, {**ON, "DO_NOT_TRACK": "1"}, {})
    assert why_off(loaded.settings, loaded.origins) == "telemetry.enabled is false (DO_NOT_TRACK)"


@pytest.mark.parametrize(("days", "seconds"), [("7", 604_800.0), ("1", 86_400.0), ("0", math.inf)])
def test_what_cannot_be_sent_stays_for_the_days_of_the_settings(tmp_path: Path, days: str, seconds: float) -> None:
    """None is for ever, as with everything that is kept."""
    found = target(settings(tmp_path, **ON, MEMSYNCD_RETENTION_TELEMETRY_DAYS=days))
    assert found is not None and found.kept_seconds == seconds


@pytest.mark.parametrize("endpoint", ["http://h", "http://h/", "http://h/batch", "http://h/batch/"])
def test_an_endpoint_may_be_written_with_its_route(tmp_path: Path, endpoint: str) -> None:
    """As its documentation has it: it goes to the same place."""
    found = target(settings(tmp_path, **{**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": endpoint}))
    assert found is not None and found.endpoint == "http://h"


@pytest.mark.parametrize("endpoint", ["https://ex%41mple.org", "https://a|b", "http://[fe80::1%25eth0]", "http://h:x"])
def test_an_endpoint_no_client_takes_is_a_wrong_setting(tmp_path: Path, endpoint: str) -> None:
    """Said with the setting's name, and not by a daemon that breaks at its start."""
    with pytest.raises(ConfigurationError, match=r"telemetry\.endpoint"):
        settings(tmp_path, **{**ON, "MEMSYNCD_TELEMETRY_ENDPOINT": endpoint})


@pytest.mark.parametrize(("kind", "allowed"), [("mem0", True), ("local", False)])
def test_the_account_counts_only_where_a_platform_can_tell_it(tmp_path: Path, kind: str, allowed: bool) -> None:
    """The embedded platform knows nobody."""
    environ = {**ON, "MEMSYNCD_TELEMETRY_ACCOUNT": "yes", "MEMSYNCD_PLATFORM_KIND": kind}
    found = target(settings(tmp_path, **environ))
    assert found is not None
    assert found.account is allowed


@pytest.mark.parametrize(
    ("before", "after", "standing"),
    [
        ("", "", Standing.AGREED),
        ("", "[log]\nlevel = 'debug'\n", Standing.AGREED),
        ("", "[telemetry]\nenabled = false\n", Standing.REFUSED),
        ("[telemetry]\nenabled = true\n", "[telemetry]\nenabled = false\n", Standing.REFUSED),
        ("[telemetry]\nenabled = true\n", "", Standing.CHANGED),
        ("[telemetry]\nendpoint = 'http://a'\n", "[telemetry]\nendpoint = 'http://b'\n", Standing.CHANGED),
        ("[telemetry]\nenabled = true\n", "[telemetry\n", Standing.CHANGED),
        ("[telemetry]\nenabled = true\n", None, Standing.CHANGED),
    ],
)
def test_a_no_in_the_file_counts_while_the_daemon_runs(
    tmp_path: Path, before: str, after: str | None, standing: Standing
) -> None:
    """A no is taken up at once; anything else that differs holds back what would be sent."""
    file = tmp_path / "config.toml"
    file.write_text(before)
    consent = Consent(file)
    assert consent.standing() is Standing.AGREED
    file.unlink() if after is None else file.write_text(after)
    assert consent.standing() is standing
