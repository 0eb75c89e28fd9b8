"""tf.distribute.cluster_resolver: where a program learns which tasks its cluster has, and which of them it is."""

from __future__ import annotations

import abc
import json
import os
import re

from everflow.cluster.cluster import ClusterSpec
from everflow.framework.devices import DeviceSpec
from everflow.framework.graph import Graph
from everflow.framework.lazy_names import lazy_names
from everflow.platform.signatures import takes
from everflow.protos import config_pb2
from everflow.runtime.session import Session

__getattr__, __dir__ = lazy_names(__name__, __file__)  # `tf.distribute` adds those that ask schedulers


def format_master_url(master, rpc_layer=None):
    """An address as a session target: "grpc://host:port"."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


def get_accelerator_devices(master, config_proto):
    """The devices of a target, asked over a session."""
    with Session(master, graph=Graph(), config=config_proto) as session:
        return session.list_devices()


# What is counted as an accelerator, by the kind in a device's name.
DEVICE_TYPE_REGEX = re.compile(r".*device:([^:]+).*")
_NO_ACCELERATORS = ("CPU", "XLA_CPU", "XLA_GPU")


class ClusterResolver(abc.ABC):
    """What a resolver offers; subclasses say where they get it from.

    Example:
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["host:1"]}))
        >>> isinstance(resolver, tf.distribute.cluster_resolver.ClusterResolver)
        True
    """

    task_type = None
    task_id = None
    rpc_layer = None

    @abc.abstractmethod
    def cluster_spec(self):
        """The cluster, as a ClusterSpec."""

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target for a session on a task, by default on this one."""

    environment = property(lambda self: "", doc='Where the program runs: "" or "google".')

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many accelerators a task has, by kind; those of the target, asked over a session."""
        counts: dict[str, int] = {}
        for found in get_accelerator_devices(self.master(task_type, task_id), config_proto):
            place, match = DeviceSpec.from_string(found.name), DEVICE_TYPE_REGEX.match(found.name)
            if match is None or match.group(1) in _NO_ACCELERATORS:
                continue
            if task_type in (None, place.job) and task_id in (None, place.task):
                counts[match.group(1)] = counts.get(match.group(1), 0) + 1
        return counts


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows.

    Args:
        cluster_spec: The `tf.train.ClusterSpec`.
        master: The address of the master.
        task_type: The job of this task.
        task_id: The number of this task.
        environment: Where it runs; empty for a machine of one's own.
        num_accelerators: How many accelerators each task has, by type.
        rpc_layer: `grpc`.

    Example:
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["host:1"]}))
        >>> resolver.cluster_spec().as_dict()
        {'worker': ['host:1']}
    """

    @takes(
        """cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
        rpc_layer=None""",
    )
    def __init__(self, cluster_spec, master, environment, num_accelerators, **task):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._num_accelerators = environment, num_accelerators
        self.__dict__.update(task)

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        else:
            address = self._master
        return format_master_url(address, rpc_layer or self.rpc_layer)

    environment = property(lambda self: self._environment)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {} if self._num_accelerators is None else self._num_accelerators


def _setting(name, find, kind=None, settable=True):
    """A property of a resolver: what it was given, else what TF_CONFIG says."""

    def get(self):
        if self._given[name] is not None:
            return self._given[name]
        found = find(self._config())
        return found if found is None or kind is None else kind(found)

    def set_(self, value):
        self._given[name] = value

    return property(get, set_ if settable else None)


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG describes.

    Args:
        task_type: The job of this task.
        task_id: The number of this task.
        rpc_layer: `grpc`.
        environment: Where it runs; empty for a machine of one's own.

    Example:
        >>> import json, os
        >>> os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["host:1"]}, "task": {"type": "worker", "index": 0}})
        >>> tf.distribute.cluster_resolver.TFConfigClusterResolver().task_type
        'worker'
        >>> del os.environ["TF_CONFIG"]
    """

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._given = {"task_type": task_type, "task_id": task_id, "rpc_layer": rpc_layer, "environment": environment}

    @staticmethod
    def _config() -> dict:
        return json.loads(os.environ.get("TF_CONFIG", "{}"))

    task_type = _setting("task_type", lambda config: config.get("task", {}).get("type"), str)
    task_id = _setting("task_id", lambda config: config.get("task", {}).get("index"), int)
    rpc_layer = _setting("rpc_layer", lambda config: config.get("rpc_layer"))
    environment = _setting("environment", lambda config: None, settable=False)

    def cluster_spec(self):
        return ClusterSpec(self._config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        config = self._config()
        if "session_master" in config:
            return config["session_master"]
        cluster = self.cluster_spec()
        if not cluster.as_dict() or (len(cluster.jobs) == 1 and cluster.num_tasks(cluster.jobs[0]) == 1):
            return ""  # a cluster of one is this process
        task_type = task_type if task_type is not None else self.task_type
        task_id = task_id if task_id is not None else self.task_id
        return format_master_url(cluster.task_address(task_type, task_id), rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return super().num_accelerators(task_type, task_id, config_proto or config_pb2.ConfigProto())


def _of_the_first(name):
    """A property of a union: what was said of it, else what the first resolver says."""

    def get(self):
        return getattr(self._resolvers[0], name) if self._said[name] is None else self._said[name]

    return property(get, lambda self, value: self._said.update({name: value}))


class UnionResolver(ClusterResolver):
    """Several clusters as one: jobs of the same name are put one after the other.

    Args:
        *args: The resolvers.
        **kwargs: `rpc_layer`, `task_type` and `task_id`.

    Example:
        >>> a = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["host:1"]}))
        >>> tf.distribute.cluster_resolver.UnionResolver(a, a).cluster_spec().num_tasks("worker")
        2
    """

    def __init__(self, *args, **kwargs):
        unknown = set(kwargs) - {"rpc_layer", "task_type", "task_id"}
        if unknown:
            raise ValueError(f"Unexpected kwargs provided {sorted(unknown)}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(f"A union takes cluster resolvers only, not {resolver!r}")
        self._resolvers = args
        self._said = {name: kwargs.get(name) for name in ("rpc_layer", "task_type", "task_id")}

    rpc_layer, task_type, task_id = (_of_the_first(name) for name in ("rpc_layer", "task_type", "task_id"))

    def cluster_spec(self):
        joined: dict = {}
        specs = [r.cluster_spec() for r in self._resolvers]
        for spec in specs:
            for job, tasks in spec.as_dict().items():
                held = joined.setdefault(job, [] if isinstance(tasks, list) else {})
                if isinstance(tasks, list) and isinstance(held, list):
                    held += tasks
                    continue
                held = joined[job] = dict(enumerate(held)) if isinstance(held, list) else held
                named = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
                if set(held) & set(named):
                    raise KeyError(
                        f"Duplicate keys detected when merging two ClusterSpecs: {sorted(set(held) & set(named))}"
                    )
                held.update(named)
        return ClusterSpec(joined)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return format_master_url(address, rpc_layer or self._said["rpc_layer"])
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    environment = property(lambda self: self._resolvers[0].environment)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


UnionClusterResolver = UnionResolver  # its name inside TensorFlow
