"""A search while no daemon runs: on the embedded platform, from its file."""

import os
import pwd
import time
from collections.abc import Mapping

from daemon.gate import Gate, no_search
from daemon.places import Places
from daemon.searching.answer import Answer
from daemon.searching.request import SearchRequest
from daemon.searching.search import query_of
from daemon.settings import Settings
from memsyncd.platforms.local import reading
from memsyncd.platforms.platform import PlatformError
from memsyncd.scope.resolve import ScopeResolver
from memsyncd.scope.user import user_id

FROM_THE_FILE = "The daemon is not running: found in the memory file."


def answer(request: SearchRequest, places: Places, settings: Settings, environ: Mapping[str, str]) -> Answer:
    """Return what the file tells. Only for settings whose platform is the embedded one. Nothing is changed."""
    resolver = ScopeResolver(places.home, environ)
    gate = Gate(settings.exclude, places.data / "paused", resolver.resolve)
    scope = resolver.resolve(request.cwd)
    held = gate.hold(scope)
    if held is not None:
        return Answer(succeeded=False, source="local", why=no_search(held))
    whose = user_id(environ, settings.platform.user_id, account=_account)
    try:
        found = reading.search(places.memory_file, query_of(request, scope, whose), now=time.time())
    except PlatformError as error:
        return Answer(succeeded=False, source="local", why=error.message)
    return Answer(succeeded=True, source="local", memories=found, why=FROM_THE_FILE)


def _account() -> str:
    return pwd.getpwuid(os.getuid()).pw_name
