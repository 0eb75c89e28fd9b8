"""tf.distribute.cluster_resolver: where a program learns which tasks its cluster has, and which of them it is."""

from __future__ import annotations

import json
import os
import re

from everflow.cluster.cluster import ClusterSpec
from everflow.framework.graph import Graph
from everflow.framework.lazy_names import lazy_names
from everflow.platform.signatures import takes
from everflow.protos import config_pb2
from everflow.runtime.session import Session

__getattr__, __dir__ = lazy_names(__name__, __file__)  # `tf.distribute` adds those that ask schedulers


def format_master_url(master, rpc_layer=None):
    """An address as a session target: "grpc://host:port"."""
    if rpc_layer and master and "://" not in master:
        return f"{rpc_layer}://{master}"
    return master or ""


class ClusterResolver:
    """What a resolver offers; subclasses say where they get it from.

    Example:
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["host:1"]}))
        >>> isinstance(resolver, tf.distribute.cluster_resolver.ClusterResolver)
        True
    """

    task_type = None
    task_id = None
    rpc_layer = None

    def cluster_spec(self):
        """The cluster, as a ClusterSpec."""
        raise NotImplementedError("cluster_spec is not implemented")

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target for a session on a task, by default on this one."""
        raise NotImplementedError("master is not implemented")

    environment = property(lambda self: "", doc='Where the program runs: "" or "google".')

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many accelerators a task has, by kind; those of the target, asked over a session."""
        target = self.master(task_type, task_id)
        with Session(target, graph=Graph(), config=config_proto) as session:
            found = [re.search(r"/job:([^/]+)/.*/task:(\d+)/device:([A-Z]+):", d.name) for d in session.list_devices()]
        counts: dict[str, int] = {}
        for match in found:
            job, task, kind = match.groups()
            if kind not in ("CPU", "XLA_CPU") and task_type in (None, job) and task_id in (None, int(task)):
                counts[kind] = counts.get(kind, 0) + 1
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
    environment = _setting("environment", lambda config: config.get("environment", ""), settable=False)

    def cluster_spec(self):
        return ClusterSpec(self._config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        cluster = self.cluster_spec()
        if not cluster.as_dict() or (len(cluster.jobs) == 1 and cluster.num_tasks(cluster.jobs[0]) == 1):
            return ""  # a cluster of one is this process
        task_type = task_type if task_type is not None else self.task_type
        task_id = task_id if task_id is not None else self.task_id
        return format_master_url(cluster.task_address(task_type, task_id), rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return super().num_accelerators(task_type, task_id, config_proto or config_pb2.ConfigProto())


class UnionResolver(ClusterResolver):
    """Several clusters as one: jobs of the same name are put one after the other.

    Args:
        *args: The resolvers.
        **kwargs: `rpc_layer`, `task_type` and `task_id`.

    Example:
        >>> a = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["host:1"]}))
        >>> tf.distribute.cluster_resolver.UnionResolver(a, a).cluster_spec().num_tasks("worker")
        1
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
        self.rpc_layer = kwargs.get("rpc_layer")
        self.task_type = kwargs.get("task_type")
        self.task_id = kwargs.get("task_id")

    def cluster_spec(self):
        joined: dict = {}
        specs = [r.cluster_spec() for r in self._resolvers]
        for spec in specs:
            for job, tasks in spec.as_dict().items():
                held = joined.setdefault(job, [] if isinstance(tasks, list) else {})
                if isinstance(tasks, list) and isinstance(held, list):
                    held += [t for t in tasks if t not in held]
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
            return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    environment = property(lambda self: self._resolvers[0].environment)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


class TPUClusterResolver(ClusterResolver):
    """The address of a TPU's host: `grpc://host:port`, or an empty string for this process, where a program can do without.
    TPUs by name are found by asking Google Cloud, which Everflow doesn't do.

    Args:
        tpu: The address, or a list of them.
        zone: The zone in Google Cloud.
        project: The project in Google Cloud.
        job_name: The job of the TPU's hosts.
        coordinator_name: The job of this process.
        coordinator_address: The address of this process.
        credentials: What Google Cloud is asked with.
        service: What Google Cloud is asked by.
        discovery_url: Where that is found.

    Example:
        >>> tf.distribute.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470").master()
        'grpc://10.0.0.1:8470'
    """

    @takes(
        """tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
        credentials="default", service=None, discovery_url=None""",
    )
    def __init__(self, tpu, job_name, coordinator_name, coordinator_address, **of_the_cloud):
        if isinstance(tpu, list):
            if len(tpu) != 1:
                raise NotImplementedError(f"One session can use one TPU, not {len(tpu)}: {tpu}")
            tpu = tpu[0]
        tpu = os.environ.get("TPU_NAME") if tpu is None else tpu
        if tpu is None:
            raise ValueError("No TPU Name was given: pass it as `tpu`")
        self._tpu = tpu.decode() if isinstance(tpu, bytes) else tpu
        self._is_address = self._tpu.startswith("grpc://")
        known = self._is_address or self._tpu in ("", "local") or "://" in self._tpu or self._tpu.startswith("/bns")
        if not known:
            raise NotImplementedError(
                f"Everflow can't look up the address of the TPU {self._tpu!r}; give it as grpc://host:port."
            )
        self._job_name = job_name
        self._coordinator = (coordinator_name, coordinator_address) if coordinator_address else None
        self.task_type, self.task_id = job_name, 0
        self.rpc_layer = "grpc" if self._is_address else None

    environment = property(lambda self: "" if self._is_address else "google")

    def cluster_spec(self):
        """The TPU's host as a cluster of one task; None where there is no address."""
        if not self._is_address:
            return None
        jobs = {self._job_name: [self._tpu.removeprefix("grpc://")]}
        if self._coordinator:
            name, address = self._coordinator
            jobs[name or "coordinator"] = [address]
        return ClusterSpec(jobs)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return self._tpu

    def get_master(self):
        return self.master()

    def get_job_name(self):
        """None: the job's name matters where there is a cluster of Google's own."""
        return None

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        counted = super().num_accelerators(task_type, task_id, config_proto)
        return {"TPU": counted.get("TPU", 0)}
