"""What is kept and found about coding-agent sessions, and what other programs import.

Importing this package costs nothing: a hook starts through it, so it loads none of its parts.
"""

from memsyncd.version import __version__

__all__ = ["__version__"]
