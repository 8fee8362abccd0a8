"""The same shards on a cluster of Ray: this process reads and writes, its workers translate."""

from typing import Any

from headway.bulk.attempts import BlockOutput, BlockPart
from headway.bulk.translating import BulkSettings, translated_part
from headway.core.errors import ConfigError
from headway.operations.processes import TaskAnswer, WorkerLostError

_RETRIES = 3
"""Of a task whose worker or machine is lost, by Ray, before its lines are given out anew."""
_AHEAD = 2
"""Tasks for each processor, one at work and one that waits there."""


class RayRunner:
    """Tasks of Ray; a `TaskRunner`. Text travels with them: only the run is read by the workers."""

    def __init__(self, settings: BulkSettings, n_workers: int | None) -> None:
        """Joins the cluster of $RAY_ADDRESS, else this machine's, else begins one here.

        Raises ConfigError where Ray is not installed, or the cluster does not answer.
        """
        try:
            import ray  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise ConfigError(
                '--on ray needs a package that is not here. Install it: pip install "headway[ray]"'
            ) from None
        self._is_joined = ray.is_initialized()
        try:
            if not self._is_joined:
                ray.init(include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:  # Ray raises that itself where one does not start in time
            raise ConfigError(
                f"--on ray needs a cluster that answers; this one does not ({error}). Begin it, "
                "name another by RAY_ADDRESS, or set RAY_ADDRESS=local for a new one here."
            ) from None
        self._ray: Any = ray
        n_workers = n_workers or int(ray.cluster_resources().get("CPU", 1))
        self.n_at_once = _AHEAD * n_workers
        self._work = ray.remote(num_cpus=1, max_retries=_RETRIES)(on_worker)
        self._settings = settings
        self._busy: dict[Any, BlockPart] = {}

    @property
    def n_busy(self) -> int:
        """See `TaskRunner`, as for the others."""
        return len(self._busy)

    def give(self, task: BlockPart) -> None:
        self._busy[self._work.remote(self._settings, task)] = task

    def take(self) -> TaskAnswer:
        [done], _ = self._ray.wait(list(self._busy), num_returns=1)
        task = self._busy.pop(done)
        try:
            return TaskAnswer(task, self._ray.get(done), None)
        except self._ray.exceptions.RayTaskError as error:
            return TaskAnswer(task, None, error.cause)
        except self._ray.exceptions.RayError as error:
            return TaskAnswer(task, None, WorkerLostError(type(error).__name__))

    def close(self) -> None:
        """Leave what is still at work; the cluster stays, but for one that was begun here."""
        for one in self._busy:
            self._ray.cancel(one, force=True)
        if not self._is_joined:
            self._ray.shutdown()


def on_worker(settings: BulkSettings, part: BlockPart) -> BlockOutput:
    """What a worker of Ray does; the run is opened once a process."""
    return translated_part(settings.open(), settings.how, part)
