"""`tensorflow.python.distribute.multi_worker_util`: what a task is in its cluster, by the cluster's description."""

from __future__ import annotations

from typing import Any

from everflow.legacy.inner.distribute.worker_contexts import get_current_worker_context
from everflow.protos.cluster_pb2 import ClusterDef
from everflow.train import ClusterSpec

_TASK_TYPES = ("chief", "worker", "evaluator", "ps")


def normalize_cluster_spec(cluster_spec: Any) -> ClusterSpec:
    """A ClusterSpec, made of a dictionary or a ClusterDef where it isn't one."""
    if isinstance(cluster_spec, (dict, ClusterDef)):
        return ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, ClusterSpec):
        raise ValueError(
            f"A cluster is described by a dictionary, a tf.train.ClusterSpec or a ClusterDef, not by {cluster_spec!r}"
        )
    return cluster_spec


def _validate_cluster_spec(cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
    if None in (cluster_spec, task_type, task_id):
        raise ValueError("A task is named by `cluster_spec`, `task_type` and `task_id`; one of them is None")
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in _TASK_TYPES:
        raise ValueError(f"There are no tasks of type {task_type!r}; there are {', '.join(_TASK_TYPES)}")
    if task_type not in jobs:
        raise ValueError(f"The cluster has no tasks of type {task_type!r}; it has {', '.join(jobs)}")
    for single in ("chief", "evaluator"):
        if len(jobs.get(single, ())) > 1:
            raise ValueError(f"A cluster has one {single!r} at most; this one has {len(jobs[single])}")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"The cluster has {len(jobs[task_type])} tasks of type {task_type!r}; there is no {task_id}")


def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Whether a task is the one that writes checkpoints; by default the task that runs now."""
    if has_worker_context() and cluster_spec is None:
        return get_current_worker_context().is_chief
    _validate_cluster_spec(cluster_spec, task_type, task_id)
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    return task_type in ("chief", "evaluator") or "chief" not in jobs and (task_type, task_id) == ("worker", 0)


def collective_leader(cluster_spec: Any, task_type: str, task_id: int) -> str:
    """The task that hands out keys of collective operations; "" for one that takes no part in them."""
    cluster_spec = normalize_cluster_spec(cluster_spec)
    jobs = cluster_spec.as_dict()
    if not jobs:
        return ""
    _validate_cluster_spec(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return f"/job:{'chief' if 'chief' in jobs else 'worker'}/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str) -> int:
    """How many tasks train together with one of this type."""
    _validate_cluster_spec(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Chiefs, workers and evaluators are counted, not tasks of type {task_type!r}")
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    counted = ("evaluator",) if task_type == "evaluator" else ("chief", "worker")
    return sum(len(jobs.get(job, ())) for job in counted)


def id_in_cluster(cluster_spec: Any, task_type: str, task_id: int) -> int:
    """A task's number among those that train together; the chief's is 0."""
    _validate_cluster_spec(cluster_spec, task_type, task_id)
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type == "worker":
        return task_id + len(jobs.get("chief", ()))
    if task_type in ("chief", "evaluator"):
        return task_id if task_type == "evaluator" else 0
    raise ValueError(f"Chiefs, workers and evaluators have a number, not tasks of type {task_type!r}")


# --- the task that runs now -----------------------------------------------------------------------


def has_worker_context() -> bool:
    """Whether a distribute coordinator runs this thread."""
    return get_current_worker_context() is not None


def should_save_checkpoint() -> bool:
    """Whether this task writes checkpoints."""
    return get_current_worker_context().should_checkpoint


def should_load_checkpoint() -> bool:
    """Whether this task restores checkpoints."""
    return get_current_worker_context().experimental_should_init


def wait_for_other_workers() -> None:
    """Wait until all workers are here."""
    get_current_worker_context().wait_for_other_workers()
