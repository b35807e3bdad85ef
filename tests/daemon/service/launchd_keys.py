"""A table of launchd.plist(5)'s keys that an agent may use, with their types (services.md section 5)."""

from collections.abc import Mapping
from typing import Any

KEYS: Mapping[str, type | tuple[type, ...]] = {
    "AbandonProcessGroup": bool,
    "EnvironmentVariables": dict,
    "ExitTimeOut": int,
    "HardResourceLimits": dict,
    "KeepAlive": (bool, dict),
    "Label": str,
    "LimitLoadToSessionType": (str, list),
    "LowPriorityBackgroundIO": bool,
    "LowPriorityIO": bool,
    "Nice": int,
    "ProcessType": str,
    "Program": str,
    "ProgramArguments": list,
    "QueueDirectories": list,
    "RunAtLoad": bool,
    "SoftResourceLimits": dict,
    "StandardErrorPath": str,
    "StandardInPath": str,
    "StandardOutPath": str,
    "ThrottleInterval": int,
    "Umask": (int, str),
    "WatchPaths": list,
    "WorkingDirectory": str,
}

KEEP_ALIVE: Mapping[str, type] = {"SuccessfulExit": bool, "Crashed": bool, "PathState": dict, "OtherJobEnabled": dict}
PROCESS_TYPES = {"Background", "Standard", "Adaptive", "Interactive"}
SESSION_TYPES = {"Aqua", "Background", "LoginWindow"}
SHORTEST_THROTTLE = 10
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


def faults(agent: Mapping[str, Any]) -> list[str]:
    """Return what launchd would ignore, refuse, or take for something else. A boolean is no integer here."""
    found = [f"{key}: no key of an agent" for key in agent if key not in KEYS]
    found += [
        f"{key}: {value!r} has the wrong type"
        for key, value in agent.items()
        if not _fits(KEYS.get(key, object), value)
    ]
    found += [f"{key}: required" for key in ("Label", "ProgramArguments") if not agent.get(key)]
    found += [f"{key}: not all words" for key, value in agent.items() if isinstance(value, list) and not _words(value)]
    keep = agent.get("KeepAlive")
    if isinstance(keep, dict):
        found += [
            f"KeepAlive.{key}" for key, value in keep.items() if not _fits(KEEP_ALIVE.get(key, type(None)), value)
        ]
    found += [
        f"EnvironmentVariables.{name}"
        for name, value in _dict(agent, "EnvironmentVariables")
        if not isinstance(value, str)
    ]
    found += [
        f"{name}: readable by all"
        for name, _ in _dict(agent, "EnvironmentVariables")
        if any(s in name for s in _SECRETS)
    ]
    paths = [agent.get(key) for key in ("StandardErrorPath", "StandardOutPath", "WorkingDirectory", "Program")]
    paths += [*agent.get("QueueDirectories", ()), *agent.get("ProgramArguments", ())[:1]]
    found += [f"{path}: not absolute" for path in paths if isinstance(path, str) and not path.startswith("/")]
    if agent.get("ProcessType", "Standard") not in PROCESS_TYPES:
        found.append("ProcessType")
    sessions = agent.get("LimitLoadToSessionType", [])
    if not set([sessions] if isinstance(sessions, str) else sessions) <= SESSION_TYPES:
        found.append("LimitLoadToSessionType")
    if agent.get("ThrottleInterval", SHORTEST_THROTTLE) < SHORTEST_THROTTLE:
        found.append("ThrottleInterval: has no effect below ten")
    if not agent.get("ExitTimeOut", 1):
        found.append("ExitTimeOut: for ever")
    if isinstance(agent.get("Umask"), int):
        found.append("Umask: an integer is decimal")
    return found


def _fits(wanted: Any, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted in (bool, object) or (isinstance(wanted, tuple) and bool in wanted)
    return isinstance(value, wanted)


def _words(value: list[Any]) -> bool:
    return all(isinstance(word, str) and word for word in value)


def _dict(agent: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    value = agent.get(key, {})
    return list(value.items()) if isinstance(value, dict) else []
