"""The model at a start: set up, its jobs stand; not set up, none of an earlier run is left.

What is needed only with a model is loaded only then.
"""

from typing import TYPE_CHECKING, Any

from daemon.settings import Settings
from jobs.queue.contract import JobQueue
from memsyncd.platforms.local.platform import LocalPlatform
from memsyncd.platforms.platform import Platform, PlatformError

if TYPE_CHECKING:
    from daemon.extracting.running import ModelExtraction

KIND = "extract"
"""The kind of its jobs (jobs.left_to_model)."""


def model_of(settings: Settings, platform: Platform, **needed: Any) -> "ModelExtraction | None":
    """Return what asks the model; None where none is set up, or another platform makes the memories itself."""
    if not settings.extractor.url or not isinstance(platform, LocalPlatform):
        return None
    from daemon.extracting.running import ModelExtraction  # noqa: PLC0415  (only where the user named one)

    return ModelExtraction(settings, platform=platform, **needed)


def at_start(queue: JobQueue, model: "ModelExtraction | None") -> None:
    """Have the jobs of the present model and of no other. Raises OSError where the embedded platform cannot be read."""
    if model is None:
        if queue.jobs(kind=KIND, limit=1):
            from jobs.left_to_model import stand  # noqa: PLC0415  (as above)

            stand(queue, None)
        return
    try:
        model.start()
    except PlatformError as error:
        raise OSError(error.message) from error
