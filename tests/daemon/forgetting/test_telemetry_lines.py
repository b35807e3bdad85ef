"""The lines of telemetry that are about a session or a repository."""

from pathlib import Path

from daemon.forgetting.telemetry_lines import drop, hashes
from memsyncd.clock import Clock
from memsyncd.telemetry.recorder import Recorder
from memsyncd.telemetry.salt import NAME, Salt


def test_lines_are_told_by_their_salted_hashes(tmp_path: Path) -> None:
    """Those of others stay, in claims too; where telemetry never was on there is no salt, and none is made."""
    assert hashes(tmp_path, ["s-1"]) == [] and not (tmp_path / NAME).exists()
    salt = Salt(tmp_path / NAME)
    recorder = Recorder(tmp_path, harness="h", source="s", salt=salt, redact=str, clock=Clock(), new_uuid=lambda: "u")
    for session in ("s-1", "s-2", "s-1"):
        recorder.record("session_started", session_id=session, repo_id="r")
    (tmp_path / "telemetry-7-0123abcd-a0.sending").write_bytes((tmp_path / "telemetry.jsonl").read_bytes())
    told = hashes(tmp_path, ["s-1"])
    assert drop(tmp_path, told, only_count=True) == drop(tmp_path, told) == 4
    assert drop(tmp_path, told) == 0
    for name in ("telemetry.jsonl", "telemetry-7-0123abcd-a0.sending"):
        assert (tmp_path / name).read_bytes().count(b"\n") == 1
