"""How a service stands, in one value for every manager."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceState:
    """`active` is `running`, `starting`, `failed`, `stopped` or `not installed`. `pid` and `restarts` are 0 where
    nobody knows. `why` says what ended it, `remedy` what to type, both empty where nothing is wrong. `linger` tells
    whether it goes on after the last logout, None where that does not apply."""

    manager: str
    active: str
    pid: int = 0
    version: str = ""
    restarts: int = 0
    enabled: bool = False
    sentence: str = ""
    why: str = ""
    remedy: str = ""
    linger: bool | None = None
    files: tuple[str, ...] = ()
