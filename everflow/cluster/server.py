"""`tf.train.Server`: makes this process a task of a cluster."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from everflow.cluster.cluster import ClusterSpec
from everflow.framework import errors
from everflow.protos import cluster_pb2, config_pb2, tensorflow_server_pb2

if TYPE_CHECKING:
    from everflow.cluster import lanes

T = TypeVar("T")

# Once started, a server serves until its process ends, also when nobody holds the object any more: others may have its
# target.
_started: set[Server] = set()


class Server:
    """A task of a cluster: it holds variables and queues, and runs what sessions of any task send.

    Args:
        server_or_cluster_def: A cluster: a ServerDef, a ClusterDef, a ClusterSpec or a dictionary.
        job_name: The job of this task.
        task_index: The number of this task.
        protocol: `grpc`.
        config: A `tf.ConfigProto` with settings.
        start: Whether it serves at once.

    Example:
        >>> server = tf.train.Server({"local": ["localhost:0"]}, job_name="local", task_index=0)
        >>> with tf.Session(server.target) as session:
        ...     print(session.run(tf.constant(2) * 3))
        6
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: config_pb2.ConfigProto | None = None,
        start: bool = True,
    ) -> None:
        self._server_def = _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        self._task = f"/job:{self._server_def.job_name}/replica:0/task:{self._server_def.task_index}"
        self._lock = threading.Lock()
        self._is_started = False
        self._make()
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: config_pb2.ConfigProto | None = None, start: bool = True) -> Server:
        """A cluster of one task, this process, on a port that is free.

        Args:
            config: A `tf.ConfigProto` with settings.
            start: Whether it serves at once.

        Returns:
            A `tf.train.Server`.

        Example:
            >>> server = tf.train.Server.create_local_server()
            >>> with tf.Session(server.target) as session:
            ...     print(session.run(tf.constant(2) * 3))
            6
        """
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def _make(self) -> None:
        from everflow.cluster import wire  # loads grpc
        from everflow.cluster.master import Master  # loads grpc
        from everflow.cluster.worker import Worker  # loads torch

        jobs = ClusterSpec(self._server_def.cluster)
        addresses = jobs.addresses()
        mine = addresses.pop(self._task)
        config = self._server_def.default_session_config
        self._peers = {task: wire.Peer(address, task) for task, address in addresses.items()}
        host, _, port = mine.rpartition(":")
        # Without a leader that somebody chose, the first task of the job is it.
        first = f"/job:{self._server_def.job_name}/replica:0/task:{min(jobs.task_indices(self._server_def.job_name))}"
        leader = config.experimental.collective_group_leader or first
        self._worker = Worker(self._task, config, self._peers.__getitem__, leader, host or "localhost")
        self._master = Master(self._worker, self._peers, config)
        self._server = wire.make_server(
            {wire.MASTER: self._master, wire.WORKER: self._worker, wire.EAGER: self._worker.eager},
            lambda: b"" if self._lanes is None else self._lanes.place,
        )
        if not port.isdigit():
            raise errors.InvalidArgumentError(None, None, f'Could not parse port for local server from "{mine}"')
        try:
            self._port = wire.listen(self._server, host, int(port))
        except RuntimeError as e:
            raise errors.UnknownError(None, None, f"Could not start gRPC server: {e}") from None
        if not self._port:
            raise errors.UnknownError(None, None, f"Could not start gRPC server: port {port} is taken")
        self._address = f"{host or 'localhost'}:{self._port}"
        self._host = host
        self._lanes: lanes.LaneServer | None = None

    def start(self) -> None:
        """Begin to serve; does nothing where it does already."""
        from everflow.cluster import lanes, wire  # loads grpc

        with self._lock:
            if not self._is_started:
                self._is_started = True
                self._server.start()
                self._lanes = lanes.LaneServer(
                    self._host, self._port, self._worker.answer, self._worker.give_values, wire.Threads().submit
                )
                _started.add(self)
                wire.MASTERS_HERE[self.target] = self._master

    def join(self) -> None:
        """Wait until the server ends, which it does with its process."""
        self._server.wait_for_termination()

    def _stop(self) -> None:
        """End at once, as if the process had: what is under way fails."""
        from everflow.cluster import wire  # loads grpc

        _started.discard(self)
        wire.MASTERS_HERE.pop(self.target, None)
        if self._lanes is not None:
            self._lanes.close()
        self._server.stop(0).wait()
        self._worker.groups.close()
        for peer in self._peers.values():
            peer.close()

    @property
    def server_def(self) -> tensorflow_server_pb2.ServerDef:
        """The ServerDef that this server follows."""
        return self._server_def

    @property
    def target(self) -> str:
        """What a `tf.Session` takes to reach this server."""
        return f"grpc://{self._address}"


def _make_server_def(
    server_or_cluster_def: Any,
    job_name: str | None,
    task_index: int | None,
    protocol: str | None,
    config: config_pb2.ConfigProto | None,
) -> tensorflow_server_pb2.ServerDef:
    """A complete ServerDef; what is given beside one overrides it, and what a cluster of one leaves open is plain."""
    if isinstance(server_or_cluster_def, tensorflow_server_pb2.ServerDef):
        made = tensorflow_server_pb2.ServerDef()
        made.CopyFrom(server_or_cluster_def)
        given = {"job_name": job_name, "task_index": task_index, "protocol": protocol}
        for name, value in given.items():
            if value is not None:
                setattr(made, name, value)
        missing = [name for name in ("job_name", "protocol") if not getattr(made, name)]
        if missing:
            raise ValueError(f"server_def.{missing[0]} must be set")
    else:
        if not isinstance(server_or_cluster_def, (dict, cluster_pb2.ClusterDef, ClusterSpec)):
            raise TypeError(
                f"`server_or_cluster_def` is a ServerDef, a ClusterDef, a ClusterSpec or a dict of jobs, "
                f"not {server_or_cluster_def!r}"
            )
        cluster = ClusterSpec(server_or_cluster_def)
        job_name = _only(cluster.jobs, "job_name", "jobs") if job_name is None else job_name
        if task_index is None:
            indices = cluster.task_indices(job_name)
            task_index = _only(indices, "task_index", f"tasks in job {job_name!r}")
        made = tensorflow_server_pb2.ServerDef(
            cluster=cluster.as_cluster_def(), job_name=job_name, task_index=task_index, protocol=protocol or "grpc"
        )
    if config is not None:
        if not isinstance(config, config_pb2.ConfigProto):
            raise TypeError(f"config must be a ConfigProto, not {type(config)}")
        made.default_session_config.MergeFrom(config)
    _check(made)
    return made


def _only(choices: list[T], argument: str, what: str) -> T:
    if len(choices) != 1:
        raise ValueError(f"Must specify an explicit `{argument}`: the cluster has {len(choices)} {what}")
    return choices[0]


def _check(server_def: tensorflow_server_pb2.ServerDef) -> None:
    if server_def.protocol != "grpc":
        text = f"No server factory registered for the given ServerDef: protocol {server_def.protocol!r} (there is only 'grpc')"
        raise errors.NotFoundError(None, None, text)
    job = next((j for j in server_def.cluster.job if j.name == server_def.job_name), None)
    if job is None:
        raise errors.InternalError(None, None, f'Job "{server_def.job_name}" was not defined in cluster')
    if server_def.task_index not in job.tasks:
        text = f"Task {server_def.task_index} was not defined in job {server_def.job_name!r}"
        raise errors.InvalidArgumentError(None, None, text)
