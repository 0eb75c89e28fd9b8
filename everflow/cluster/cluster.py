"""`tf.train.ClusterSpec`: the jobs of a cluster, and the address of each of their tasks."""

from __future__ import annotations

from typing import Any

from everflow.protos import cluster_pb2


class ClusterSpec:
    """A cluster as sets of tasks, called jobs, that talk to each other.

    Args:
        cluster: Addresses by job: lists, or dictionaries by task number; a ClusterDef, or another ClusterSpec.

    Example:
        >>> cluster = tf.train.ClusterSpec({"ps": ["host0:2222"], "worker": ["host1:2222", "host2:2222"]})
        >>> cluster.task_address("worker", 1), cluster.num_tasks("ps")
        ('host2:2222', 1)
    """

    def __init__(self, cluster: Any) -> None:
        self._jobs: dict[str, dict[int, str]] = _jobs_of(cluster)
        self._cluster_def = cluster_pb2.ClusterDef()
        for name in sorted(self._jobs):
            job = self._cluster_def.job.add(name=name)
            for index, address in sorted(self._jobs[name].items()):
                job.tasks[index] = address

    def addresses(self) -> dict[str, str]:
        """The address of every task, by its name as devices have it: "/job:worker/replica:0/task:1"."""
        return {
            f"/job:{job}/replica:0/task:{index}": address
            for job, tasks in self._jobs.items()
            for index, address in tasks.items()
        }

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        inside = ", ".join(f"{name!r}: {tasks!r}" for name, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{inside}}})"

    __str__ = __repr__

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """Job name → list of addresses, or a dictionary where task indices are missing."""
        result = {}
        for name in self.jobs:
            tasks = self._jobs[name]
            dense = sorted(tasks) == list(range(len(tasks)))
            result[name] = [tasks[i] for i in sorted(tasks)] if dense else dict(tasks)
        return result

    def as_cluster_def(self) -> cluster_pb2.ClusterDef:
        """The cluster as a ClusterDef proto."""
        return self._cluster_def

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks of a job are known."""
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, in order."""
        return sorted(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task."""
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}; it has {sorted(tasks)}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by index, None where one is not known."""
        tasks = self._tasks(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []

    def _tasks(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}; there are {sorted(self._jobs)}")
        return self._jobs[job_name]


def _jobs_of(cluster: Any) -> dict[str, dict[int, str]]:
    if isinstance(cluster, ClusterSpec):
        return {name: dict(tasks) for name, tasks in cluster._jobs.items()}
    if isinstance(cluster, cluster_pb2.ClusterDef):
        return {job.name: dict(job.tasks) for job in cluster.job}
    if not isinstance(cluster, dict):
        raise TypeError(
            f"A cluster is given as a dictionary from job names to lists of addresses, as a ClusterDef or a ClusterSpec, not as {cluster!r}"
        )
    return {_text(name, "job name"): _tasks_of(name, tasks) for name, tasks in cluster.items()}


def _tasks_of(job_name: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, dict) or not all(isinstance(i, int) for i in tasks):
        raise TypeError(
            f"Job {job_name!r} needs its tasks as a list of addresses, or as a dictionary from numbers to addresses."
        )
    return {index: _text(address, f"address of task {index} of job {job_name!r}") for index, address in tasks.items()}


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"The {what} must be text, not {value!r}")
    return value
