"""The status as Prometheus text."""

import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from daemon.status.metrics import metrics_text

STATUS = {
    "version": "0.1.0",
    "run_id": "r1",
    "state": "degraded",
    "uptime_seconds": 12.5,
    "spools": [{"harness": "codex", "path": '/a "b"', "pending": 3, "dead": 1, "oldest_pending_seconds": None}],
    "jobs": {"ready": 2, "dead": 1, "oldest_ready_seconds": 4.0},
    "platform": {"kind": "mem0", "ok": False},
    "extraction": {"open": 7, "oldest_seconds": 3.0},
    "telemetry": {"enabled": True, "endpoint": "http://h", "spooled": 4, "parked": 2, "dropped": 1},
    "counters": {"handoffs_taken": 9, "odd": "text"},
    "problems": [{"code": "key-refused"}, {"code": "dead-letters"}, {"code": "dead-letters"}],
}


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_status_is_told_in_numbers() -> None:
    """What Prometheus' own parser reads back is what the status said."""
    found = samples(metrics_text(STATUS))
    spool = (("harness", "codex"), ("path", '/a "b"'))
    assert found["memsyncd_spool_pending", spool] == 3
    assert ("memsyncd_spool_oldest_pending_seconds", spool) not in found
    assert found["memsyncd_jobs", (("state", "ready"),)] == 2
    assert found["memsyncd_platform_ok", (("kind", "mem0"),)] == 0
    assert found["memsyncd_extractions_open", ()] == 7
    assert found["memsyncd_events_total", (("name", "handoffs_taken"),)] == 9
    assert found["memsyncd_problems", (("code", "dead-letters"),)] == 2
    assert found["memsyncd_state", (("state", "degraded"),)] == 1
    assert found["memsyncd_state", (("state", "ok"),)] == 0
    assert found["memsyncd_info", (("run_id", "r1"), ("version", "0.1.0"))] == 1


def test_telemetry_is_told_of_while_it_is_on() -> None:
    """Off, there is nothing to measure."""
    found = samples(metrics_text(STATUS))
    assert found["memsyncd_telemetry_spooled", ()] == 4
    assert found["memsyncd_telemetry_parked", ()] == 2
    assert found["memsyncd_telemetry_dropped_total", ()] == 1
    assert "memsyncd_telemetry" not in metrics_text({**STATUS, "telemetry": {"enabled": False, "spooled": 0}})


def test_a_status_that_lacks_things_is_no_error() -> None:
    """Keys are added and missing between versions."""
    assert "memsyncd_state" in metrics_text({})


def test_the_library_is_loaded_by_the_first_scrape_only() -> None:
    """Its memory is paid by those who scrape."""
    code = "import sys, daemon.status.metrics, daemon.status_socket.routes; assert 'prometheus_client' not in sys.modules; daemon.status.metrics.metrics_text({}); assert 'prometheus_client' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
