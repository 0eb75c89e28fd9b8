"""`tensorflow.python.distribute.distribute_coordinator`: runs a function for every worker of a cluster, each with a context
that tells it what it is. One client may run them all in threads of its own, or each process runs its own task.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.server import Server
from everflow.distribute.cluster_resolver import TFConfigClusterResolver
from everflow.distribute.collective import server_at
from everflow.framework.graph import Graph
from everflow.framework.scopes import executing_eagerly
from everflow.legacy.inner.distribute import worker_contexts
from everflow.legacy.inner.distribute.multi_worker import is_chief, normalize_cluster_spec
from everflow.protos.config_pb2 import ConfigProto
from everflow.train.coordinator import Coordinator
from everflow.train.monitored_session import ChiefSessionCreator, WorkerSessionCreator


class _TaskType:
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
    CLIENT = "client"


class CoordinatorMode:
    """Who runs the workers: one client all of them, or every process its own."""

    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


class _Barrier:
    """Where so many threads wait for each other, again and again."""

    def __init__(self, num_participants: int) -> None:
        self._barrier = threading.Barrier(num_participants)

    def wait(self) -> None:
        """Wait until all are here."""
        self._barrier.wait()


def _get_num_workers(cluster_spec: Any) -> int:
    if not cluster_spec:
        return 0
    return sum(len(cluster_spec.as_dict().get(job, [])) for job in (_TaskType.CHIEF, _TaskType.WORKER))


class _WorkerContext:
    """What a worker is: its task, its strategy, and where its sessions go."""

    def __init__(
        self,
        strategy: Any,
        cluster_spec: Any,
        task_type: str | None,
        task_id: int | None,
        session_config: ConfigProto | None = None,
        rpc_layer: str | None = "grpc",
        worker_barrier: _Barrier | None = None,
    ) -> None:
        self._strategy, self._session_config = strategy, session_config
        self._cluster_spec, self._task_type, self._task_id = cluster_spec, task_type, task_id
        self._worker_barrier, self._rpc_layer = worker_barrier, rpc_layer
        self._master_target = self._get_master_target()
        self._num_workers = _get_num_workers(cluster_spec)
        self._is_chief_node = self._is_chief()

    def __enter__(self) -> _WorkerContext:
        if worker_contexts.get_current_worker_context() is not None:
            raise ValueError("This thread runs a worker already; contexts of workers don't nest")
        worker_contexts._worker_context.current = self
        return self

    def __exit__(self, *raised: Any) -> None:
        worker_contexts._worker_context.current = None

    def _get_master_target(self) -> str:
        if not self._cluster_spec or self._task_type == _TaskType.EVALUATOR:
            return ""
        jobs = self._cluster_spec.as_dict()
        job, number = self._task_type, self._task_id or 0
        if not job:  # a client that runs everything: in the chief's place
            job = _TaskType.CHIEF if _TaskType.CHIEF in jobs else _TaskType.WORKER
        address = self._cluster_spec.task_address(job, number)
        return f"{self._rpc_layer}://{address}" if self._rpc_layer else address

    def _is_chief(self) -> bool:
        if not self._cluster_spec or self._task_type in (_TaskType.CHIEF, _TaskType.EVALUATOR, None):
            return True
        return is_chief(self._cluster_spec, self._task_type, self._task_id)

    def wait_for_other_workers(self) -> None:
        """Wait until all workers are here; those in processes of their own don't."""
        if self._worker_barrier is not None:
            self._worker_barrier.wait()

    def session_creator(
        self,
        scaffold: Any = None,
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        max_wait_secs: int = 7200,
    ) -> Any:
        """What makes this worker's sessions: one that initializes variables, or one that waits until they are."""
        if config:
            wanted = copy.deepcopy(config)
            wanted.MergeFrom(self._session_config or ConfigProto())
        else:
            wanted = self._session_config
        if not self._strategy or self._strategy.extended.experimental_should_init:
            return ChiefSessionCreator(
                scaffold,
                master=self.master_target,
                config=wanted,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path,
            )
        return WorkerSessionCreator(scaffold, master=self.master_target, config=wanted, max_wait_secs=max_wait_secs)

    session_config = property(lambda self: copy.deepcopy(self._session_config))
    has_barrier = property(lambda self: self._worker_barrier is not None)
    distributed_mode = property(lambda self: bool(self._cluster_spec) and self._task_type != _TaskType.EVALUATOR)
    cluster_spec = property(lambda self: copy.deepcopy(self._cluster_spec))
    task_type = property(lambda self: self._task_type)
    task_id = property(lambda self: self._task_id)
    master_target = property(lambda self: self._master_target)
    is_chief = property(lambda self: self._is_chief_node)
    num_workers = property(lambda self: self._num_workers)
    experimental_should_init = property(lambda self: self._strategy.extended.experimental_should_init)
    should_checkpoint = property(lambda self: self._strategy.extended.should_checkpoint)
    should_save_summary = property(lambda self: self._strategy.extended.should_save_summary)


# --- one worker -----------------------------------------------------------------------------------


def _run_single_worker(
    worker_fn: Callable,
    strategy: Any,
    cluster_spec: Any,
    task_type: str | None,
    task_id: int | None,
    session_config: ConfigProto | None,
    rpc_layer: str | None = "",
    worker_barrier: _Barrier | None = None,
    coord: Coordinator | None = None,
) -> Any:
    session_config = copy.deepcopy(session_config)
    strategy = copy.deepcopy(strategy)
    if cluster_spec and strategy:
        strategy.configure(session_config, cluster_spec, task_type, task_id)
    context = _WorkerContext(
        strategy,
        cluster_spec,
        task_type,
        task_id,
        session_config=session_config,
        rpc_layer=rpc_layer,
        worker_barrier=worker_barrier,
    )
    with context:
        if coord is None:
            return worker_fn(strategy)
        with coord.stop_on_exception():
            return worker_fn(strategy)
    return None


def _split_cluster_for_evaluator(cluster_spec: Any, task_type: str | None) -> Any:
    """The cluster without its evaluator, or the evaluator alone."""
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type == _TaskType.EVALUATOR:
        return normalize_cluster_spec({_TaskType.EVALUATOR: jobs[_TaskType.EVALUATOR]})
    return normalize_cluster_spec({job: tasks for job, tasks in jobs.items() if job != _TaskType.EVALUATOR})


# --- one client for all ---------------------------------------------------------------------------


def _in_thread(coord: Coordinator, function: Callable, *args: Any) -> threading.Thread:
    """A thread that works as this one does: eagerly, or in a graph of its own."""
    graph = None if executing_eagerly() else Graph()

    def run() -> None:
        with coord.stop_on_exception():
            if graph is None:
                function(*args)
            else:
                with graph.as_default():
                    function(*args)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def _evaluator(
    coord: Coordinator, cluster_spec: Any, eval_fn: Callable | None, strategy: Any, config: Any
) -> list[threading.Thread]:
    if _TaskType.EVALUATOR not in cluster_spec.as_dict() or eval_fn is None:
        return []
    alone = _split_cluster_for_evaluator(cluster_spec, _TaskType.EVALUATOR)
    return [_in_thread(coord, _run_single_worker, eval_fn, strategy, alone, _TaskType.EVALUATOR, 0, config)]


def _run_between_graph_client(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: ConfigProto | None,
    rpc_layer: str | None,
) -> Any:
    coord = Coordinator()
    train = _split_cluster_for_evaluator(cluster_spec, None)
    barrier = _Barrier(_get_num_workers(train))
    results: list[Any] = []

    def run(job: str, number: int) -> None:
        made = _run_single_worker(
            worker_fn, strategy, train, job, number, session_config, rpc_layer, worker_barrier=barrier, coord=coord
        )
        results.append(made)

    threads = [
        _in_thread(coord, run, job, number)
        for job in (_TaskType.CHIEF, _TaskType.WORKER)
        for number in range(len(train.as_dict().get(job, ())))
    ]
    coord.join(threads + _evaluator(coord, cluster_spec, eval_fn, eval_strategy, session_config))
    return results


def _run_in_graph_client(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: ConfigProto | None,
    rpc_layer: str | None,
) -> Any:
    coord = Coordinator()
    helpers = _evaluator(coord, cluster_spec, eval_fn, eval_strategy, session_config)
    train = _split_cluster_for_evaluator(cluster_spec, None)
    result = _run_single_worker(worker_fn, strategy, train, None, None, session_config, rpc_layer, coord=coord)
    coord.join(helpers)
    return result


# --- servers --------------------------------------------------------------------------------------


def _configure_session_config_for_std_servers(
    strategy: Any,
    eval_strategy: Any,
    session_config: ConfigProto | None,
    cluster_spec: Any,
    task_type: str,
    task_id: int,
) -> None:
    chosen = eval_strategy if task_type == _TaskType.EVALUATOR else strategy
    if chosen:
        copy.deepcopy(chosen).configure(
            session_config=session_config, cluster_spec=cluster_spec, task_type=task_type, task_id=task_id
        )


def _run_std_server(
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: ConfigProto | None = None,
    rpc_layer: str | None = None,
    environment: str | None = None,
) -> Server:
    """The server of a task, started."""
    if environment == "google":
        raise NotImplementedError("Servers in Google's own environment are not to be had here")

    def made() -> Server:
        config, protocol = session_config, rpc_layer
        server = Server(
            cluster_spec, job_name=task_type, task_index=task_id, config=config, protocol=protocol, start=False
        )
        server.start()
        return server

    if task_type is None or task_id is None:
        return made()
    # The strategy of the task has sessions there, too.
    return server_at(ClusterSpec(cluster_spec).task_address(task_type, task_id), made)


def run_standard_tensorflow_server(session_config: ConfigProto | None = None) -> Any:
    """The server of the task that the environment variable TF_CONFIG names, started."""
    resolver = TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    if not cluster.as_dict():
        raise ValueError("TF_CONFIG must hold a `cluster` for a server to be part of")
    if not resolver.task_type:
        raise ValueError("TF_CONFIG must say with `task` what kind of task of the cluster this is")
    if resolver.task_id is None:
        raise ValueError("TF_CONFIG must say with `task` which task of the cluster this is")
    config = session_config or ConfigProto()
    config.device_filters.append(f"/job:{resolver.task_type}/task:{resolver.task_id}")
    server = _run_std_server(
        cluster_spec=cluster,
        task_type=resolver.task_type,
        task_id=resolver.task_id,
        session_config=config,
        rpc_layer=resolver.rpc_layer or "grpc",
        environment=resolver.environment,
    )
    server.start()
    return server


# --- all of it ------------------------------------------------------------------------------------


def run_distribute_coordinator(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None = None,
    eval_strategy: Any = None,
    mode: str = CoordinatorMode.STANDALONE_CLIENT,
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: ConfigProto | None = None,
    rpc_layer: str | None = "grpc",
) -> Any:
    """Run `worker_fn(strategy)` for every worker of a cluster (by default that of TF_CONFIG), and `eval_fn` for its evaluator."""
    if not cluster_spec:
        resolver = TFConfigClusterResolver()
        cluster_spec = resolver.cluster_spec().as_dict()
        task_type, task_id = task_type or resolver.task_type, resolver.task_id if task_id is None else task_id
        rpc_layer = resolver.rpc_layer or rpc_layer
    cluster = normalize_cluster_spec(cluster_spec) if cluster_spec else None
    session_config = session_config or ConfigProto(allow_soft_placement=True)
    if not cluster:
        return _run_single_worker(worker_fn, strategy, None, None, None, session_config, rpc_layer)
    if mode == CoordinatorMode.STANDALONE_CLIENT:
        between = strategy.extended.experimental_between_graph
        run = _run_between_graph_client if between else _run_in_graph_client
        return run(worker_fn, strategy, eval_fn, eval_strategy, cluster, session_config, rpc_layer)
    if mode != CoordinatorMode.INDEPENDENT_WORKER:
        raise ValueError(f"The mode is one of CoordinatorMode, not {mode!r}")
    if not task_type or task_id is None:
        raise ValueError("Where every process runs its own task, say which: `task_type` and `task_id`")
    return _run_own_task(
        worker_fn, strategy, eval_fn, eval_strategy, cluster, task_type, task_id, session_config, rpc_layer
    )


def _run_own_task(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None,
    eval_strategy: Any,
    cluster: Any,
    task_type: str,
    task_id: int,
    session_config: ConfigProto,
    rpc_layer: str | None,
) -> Any:
    """The part of this process: a worker, an evaluator, or a server for others."""
    alone = _split_cluster_for_evaluator(cluster, task_type)
    _configure_session_config_for_std_servers(strategy, eval_strategy, session_config, cluster, task_type, task_id)
    if task_type == _TaskType.EVALUATOR:
        return _run_single_worker(eval_fn, eval_strategy, alone, task_type, task_id, session_config, rpc_layer)
    # Servers of a process know all tasks that train, and are there as long as the process.
    server = _run_std_server(
        cluster_spec=alone, task_type=task_type, task_id=task_id, session_config=session_config, rpc_layer=rpc_layer
    )
    if task_type in (_TaskType.CHIEF, _TaskType.WORKER):
        if strategy.extended.experimental_between_graph:
            return _run_single_worker(worker_fn, strategy, alone, task_type, task_id, session_config, rpc_layer)
        if _WorkerContext(strategy, alone, task_type, task_id).is_chief:
            return _run_single_worker(worker_fn, strategy, alone, None, None, session_config, rpc_layer)
    elif task_type != _TaskType.PS:
        raise ValueError(f"There are no tasks of type {task_type!r}")
    server.join()
    return None
