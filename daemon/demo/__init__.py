"""`memsyncd demo`: the whole path, played before one's eyes in a throw-away directory."""

from daemon.demo.play import main

__all__ = ["main"]
