"""Connecting an eager program to the tasks of a cluster: from then on `tf.device` can name their devices."""

from __future__ import annotations

import atexit

from everflow.cluster.cluster import ClusterSpec
from everflow.cluster.eager_client import Connection
from everflow.cluster.server import Server
from everflow.eager.places import PLACES
from everflow.protos import tensorflow_server_pb2
from everflow.runtime.process_options import PROCESS


def experimental_connect_to_cluster(cluster_spec_or_resolver, job_name="localhost", task_index=0, protocol=None):
    """Let eager operations run on the tasks of a cluster: those in `with tf.device("/job:worker/task:0"):` run there, and
    what they give stays there until it is looked at or used elsewhere.

    Args:
        cluster_spec_or_resolver: A `tf.train.ClusterSpec`, or a resolver with one.
        job_name: The job of this process. Where the cluster has an address for it, a server is started there.
        task_index: The number of this process in its job.
        protocol: `grpc`.

    Returns:
        None.

    Raises:
        ValueError: If the first argument is neither.

    Example:
        >>> worker = tf.train.Server.create_local_server()
        >>> cluster = tf.train.ClusterSpec({"worker": [worker.target.removeprefix("grpc://")]})
        >>> tf.enable_eager_execution()
        >>> tf.config.experimental_connect_to_cluster(cluster)
        >>> with tf.device("/job:worker/task:0"):
        ...     x = tf.constant([1.0, 2.0]) * 2
        >>> x.device, x.numpy()
        ('/job:worker/replica:0/task:0/device:CPU:0', array([2., 4.], dtype=float32))
    """
    spec = cluster_spec_or_resolver
    if not isinstance(spec, ClusterSpec):
        if not hasattr(spec, "cluster_spec"):
            raise ValueError(f"Pass a `ClusterSpec` or a resolver, which has a `cluster_spec()`, not {spec!r}")
        spec = spec.cluster_spec()
    server_def = tensorflow_server_pb2.ServerDef(
        cluster=spec.as_cluster_def(), job_name=job_name, task_index=task_index, protocol=protocol or "grpc"
    )
    set_server_def(server_def)


def experimental_connect_to_host(remote_host=None, job_name="worker"):
    """Let eager operations run on another machine, as `experimental_connect_to_cluster` does for a job of these hosts.

    Args:
        remote_host: The address of a server, or a list of them, such as "host1:2222".
        job_name: What their job is called here.

    Returns:
        None.

    Raises:
        ValueError: If no address is given.

    Example:
        >>> worker = tf.train.Server.create_local_server()
        >>> tf.enable_eager_execution()
        >>> tf.config.experimental_connect_to_host(worker.target.removeprefix("grpc://"))
        >>> tf.config.experimental_list_devices()[-1]
        '/job:worker/replica:0/task:0/device:CPU:0'
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    hosts = list(remote_host) if isinstance(remote_host, (list, tuple)) else [remote_host]
    spec = ClusterSpec({job_name: [host.removeprefix("grpc://") for host in hosts]})
    experimental_connect_to_cluster(spec)


def set_server_def(server_def):
    """Connect eager execution to the cluster of a ServerDef, as the task that it names. What the program has on tasks of
    an earlier cluster is gone.

    Args:
        server_def: The ServerDef.

    Returns:
        None.

    Example:
        >>> worker = tf.train.Server.create_local_server()
        >>> cluster = tf.train.ClusterSpec({"worker": [worker.target.removeprefix("grpc://")]})
        >>> tf.enable_eager_execution()
        >>> tf.contrib.eager.set_server_def(tf.train.ServerDef(cluster=cluster.as_cluster_def(), job_name="me", protocol="grpc"))
        >>> tf.constant(1).device
        '/job:me/replica:0/task:0/device:CPU:0'
    """
    if not isinstance(server_def, tensorflow_server_pb2.ServerDef):
        raise TypeError(f"A ServerDef is expected, not {server_def!r}")
    here = f"/job:{server_def.job_name}/replica:0/task:{server_def.task_index}"
    addresses = ClusterSpec(server_def.cluster).addresses()
    disconnect()
    if addresses.pop(here, None) is not None:
        _serve(server_def)
    connection = Connection(addresses, here, server_def.cluster)
    PLACES.connection, PROCESS.task, PROCESS.others = connection, here, connection.devices


# The server that makes this process a task others can reach, if there is one.
_servers: dict[bytes, Server] = {}


def _serve(server_def: tensorflow_server_pb2.ServerDef) -> None:
    key = server_def.SerializeToString(deterministic=True)
    if key not in _servers:
        _servers[key] = Server(server_def)


def disconnect() -> None:
    """Run everything here again."""
    connection, PLACES.connection = PLACES.connection, None
    PROCESS.task, PROCESS.others = type(PROCESS).task, []
    if connection is not None:
        connection.close()


atexit.register(disconnect)
