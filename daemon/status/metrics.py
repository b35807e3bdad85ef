"""The status as Prometheus text."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_STATES = ("starting", "ok", "degraded", "paused", "stopping")
_SPOOL_GAUGES = {
    "pending": "Handoffs that wait in a spool",
    "running": "Handoffs of a spool that are worked on",
    "dead": "Handoffs of a spool that were given up",
    "corrupt": "Files of a spool that are no handoffs",
    "oldest_pending_seconds": "Of the handoff that waits longest in a spool",
}
_JOB_STATES = ("ready", "waiting", "claimed", "done", "dead", "cancelled")


def metrics_text(status: Mapping[str, Any]) -> str:
    """Return what `/metrics` answers for a `/status` document; what that lacks is left out.

    prometheus_client is loaded by the first scrape: a megabyte that a daemon nobody scrapes never pays.
    """
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  (by the first scrape)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(status))
    return generate_latest(registry).decode()


class _Collector:
    def __init__(self, status: Mapping[str, Any]) -> None:
        self._status = status

    def collect(self) -> "Iterator[Metric]":
        status = self._status
        yield from _process(status)
        yield from _spools(status.get("spools") or ())
        yield from _jobs(status.get("jobs") or {})
        yield from _platform(status)
        yield from _telemetry(status.get("telemetry") or {})
        yield from _sizes(status.get("sizes") or {})
        yield from _counters(status.get("counters") or {})


def _process(status: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily  # noqa: PLC0415

    info = InfoMetricFamily("memsyncd", "The running daemon")
    info.add_metric([], {"version": str(status.get("version", "")), "run_id": str(status.get("run_id", ""))})
    yield info
    yield _gauge("memsyncd_uptime_seconds", "Since the daemon started", status.get("uptime_seconds"))
    state = GaugeMetricFamily("memsyncd_state", "1 for the state the daemon is in", labels=["state"])
    for name in _STATES:
        state.add_metric([name], float(status.get("state") == name))
    yield state
    problems = GaugeMetricFamily("memsyncd_problems", "Problems that need attention", labels=["code"])
    codes = [str(problem.get("code", "")) for problem in status.get("problems") or ()]
    for code in sorted(set(codes)):
        problems.add_metric([code], codes.count(code))
    yield problems


def _spools(spools: Any) -> "Iterator[Metric]":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    for name, text in _SPOOL_GAUGES.items():
        family = GaugeMetricFamily(f"memsyncd_spool_{name}", text, labels=["harness", "path"])
        for spool in spools:
            if _is_number(spool.get(name)):
                family.add_metric([str(spool.get("harness", "")), str(spool.get("path", ""))], spool[name])
        yield family


def _jobs(jobs: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    family = GaugeMetricFamily("memsyncd_jobs", "Jobs in each state", labels=["state"])
    for state in _JOB_STATES:
        if _is_number(jobs.get(state)):
            family.add_metric([state], jobs[state])
    yield family
    yield _gauge("memsyncd_oldest_ready_seconds", "Of the job that waits longest", jobs.get("oldest_ready_seconds"))


def _platform(status: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    platform = status.get("platform") or {}
    family = GaugeMetricFamily("memsyncd_platform_ok", "1 while the platform answers", labels=["kind"])
    if platform.get("ok") is not None:
        family.add_metric([str(platform.get("kind", ""))], float(bool(platform["ok"])))
    yield family
    extraction = status.get("extraction") or {}
    yield _gauge("memsyncd_extractions_open", "Extractions without a verdict", extraction.get("open"))
    yield _gauge("memsyncd_oldest_extraction_seconds", "Of the oldest of them", extraction.get("oldest_seconds"))


def _telemetry(telemetry: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

    if not telemetry.get("enabled"):
        return
    yield _gauge("memsyncd_telemetry_spooled", "Telemetry events that wait to be sent", telemetry.get("spooled"))
    yield _gauge("memsyncd_telemetry_parked", "Telemetry files put off after a failure", telemetry.get("parked"))
    dropped = CounterMetricFamily("memsyncd_telemetry_dropped", "Telemetry events that found no room")
    if _is_number(telemetry.get("dropped")):
        dropped.add_metric([], telemetry["dropped"])
    yield dropped


def _sizes(sizes: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    family = GaugeMetricFamily("memsyncd_disk_bytes", "On the disk, by what they are for", labels=["what"])
    for what, number in sizes.items():
        if _is_number(number):
            family.add_metric([str(what)], number)
    yield family


def _counters(counters: Mapping[str, Any]) -> "Iterator[Metric]":
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

    family = CounterMetricFamily("memsyncd_events", "The daemon's counters since its start", labels=["name"])
    for name, value in sorted(counters.items()):
        if _is_number(value):
            family.add_metric([name], value)
    yield family


def _gauge(name: str, text: str, value: Any) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    return GaugeMetricFamily(name, text, value=value if _is_number(value) else None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
