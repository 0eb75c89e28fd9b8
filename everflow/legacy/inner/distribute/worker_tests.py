"""tensorflow.python.distribute.multi_worker_test_base: clusters inside a process, and tests whose workers are threads."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import everflow as tf
from everflow.legacy.inner.distribute import coordinator
from everflow.legacy.inner.eager import context
from everflow.protos.config_pb2 import ConfigProto
from everflow.test import TestCase, mock
from everflow.test.environment import unused_port

# Servers and ports stay for the whole process, as others may be connected to them.
_started: list = []
ASSIGNED_PORTS: set[int] = set()
lock = threading.Lock()


def pick_unused_port() -> int:
    """A port that nobody listens at and that this function hasn't given before."""
    with lock:
        while (port := unused_port()) in ASSIGNED_PORTS:
            pass
        ASSIGNED_PORTS.add(port)
    return port


def create_cluster_spec(has_chief=False, num_workers=1, num_ps=0, has_eval=False, test_obj=None):
    """{job: addresses on this machine} of a cluster that nobody has started."""
    counts = {"worker": num_workers, "ps": num_ps, "chief": int(has_chief), "evaluator": int(has_eval)}
    return {job: [f"localhost:{pick_unused_port()}" for _ in range(n)] for job, n in counts.items() if n}


def _create_cluster(
    num_workers,
    num_ps,
    has_chief=False,
    has_eval=False,
    protocol="grpc",
    worker_config=None,
    ps_config=None,
    eval_config=None,
):
    """The addresses of a cluster whose servers run in this process."""
    spec = create_cluster_spec(has_chief, num_workers, num_ps, has_eval)
    configs = {"worker": worker_config, "chief": worker_config, "ps": ps_config, "evaluator": eval_config}
    for job, addresses in spec.items():
        # An evaluator is a cluster of its own.
        jobs = {job: addresses} if job == "evaluator" else {j: a for j, a in spec.items() if j != "evaluator"}
        for i in range(len(addresses)):
            cluster = tf.train.ClusterSpec(jobs)
            _started.append(
                tf.train.Server(cluster, job_name=job, task_index=i, protocol=protocol, config=configs[job], start=True)
            )
    return spec


def create_in_process_cluster(num_workers, num_ps, has_chief=False, has_eval=False, rpc_layer="grpc"):
    """The addresses of a cluster whose servers run in this process and see no GPU."""
    config = ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.01
    config.experimental.collective_group_leader = (
        ("/job:chief" if has_chief else "/job:worker") + "/replica:0/task:0" if num_workers or has_chief else ""
    )
    configs = {"worker_config": config, "ps_config": ConfigProto(device_count={"GPU": 0}), "eval_config": ConfigProto()}
    return _create_cluster(num_workers, num_ps, has_chief, has_eval, rpc_layer, **configs)


@contextlib.contextmanager
def skip_if_grpc_server_cant_be_started(test_obj):
    """Skip a test where no server can listen."""
    try:
        yield
    except tf.errors.UnknownError as e:
        if "Could not start gRPC server" not in e.message:
            raise
        test_obj.skipTest("This machine lets no server listen")


class MultiWorkerTestBase(TestCase):
    """Tests on a cluster of two workers in this process, whose sessions are those of the first one."""

    @classmethod
    def setUpClass(cls, num_workers=2, num_ps=1):
        super().setUpClass()
        cls._cluster_spec = create_in_process_cluster(num_workers=num_workers, num_ps=num_ps)
        cls._default_target = f"grpc://{cls._cluster_spec['worker'][0]}"

    def setUp(self):
        super().setUp()
        self._result = 0
        self._lock = threading.Lock()

    def _create_config(self, config):
        """A session's configuration in which the optimizer of graphs keeps its hands off."""
        config = ConfigProto() if config is None else ConfigProto.FromString(config.SerializeToString())
        config.allow_soft_placement = True
        config.graph_options.optimizer_options.opt_level = -1
        config.graph_options.rewrite_options.constant_folding = 2
        return config

    @contextlib.contextmanager
    def session(self, graph=None, config=None, target=None):
        """A session on the cluster, or on `target`."""
        config = self._create_config(config)
        with tf.Session(graph=graph, config=config, target=target or self._default_target) as made:
            yield made

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, target=None):
        """One session of each thread, for as long as it asks for the same graph, configuration and target."""
        config = self._create_config(config)
        target = target or self._default_target
        held = getattr(self._thread_local, "session", None) if hasattr(self, "_thread_local") else None
        if not hasattr(self, "_thread_local"):
            self._thread_local = threading.local()
        wanted = (graph, config.SerializeToString(), target)
        if held is None or held[0] != wanted:
            held = wanted, tf.Session(graph=graph, config=config, target=target)
            self._thread_local.session = held
        with held[1].graph.as_default(), held[1].as_default():
            yield held[1]

    def _run_client(self, client_fn, task_type, task_id, num_gpus, eager_mode, *args, **kwargs):
        """Call a client in a graph of its own, or eagerly, and count those that say they are right."""
        if eager_mode:
            with context.eager_mode():
                client_fn(task_type, task_id, num_gpus, *args, **kwargs)
            return
        with tf.Graph().as_default():
            client_fn(task_type, task_id, num_gpus, *args, **kwargs)

    def _run_between_graph_clients(self, client_fn, cluster_spec, num_gpus, *args, **kwargs):
        """Call a client for every task of chief and workers, each on a thread of its own."""
        eagerly = tf.executing_eagerly()
        threads = []
        coord = tf.train.Coordinator()

        def run(*arguments):
            with coord.stop_on_exception():
                self._run_client(*arguments, *args, **kwargs)

        for task_type in ("chief", "worker"):
            for task_id in range(len(cluster_spec.get(task_type, []))):
                arguments = client_fn, task_type, task_id, num_gpus, eagerly
                threads.append(threading.Thread(target=run, args=arguments))
                threads[-1].start()
        coord.join(threads)


class MockOsEnv(Mapping):
    """`os.environ` with values that each thread sets for itself."""

    def __init__(self, *args):
        self._shared = dict(*args)
        self._own = threading.local()

    @property
    def _dict(self) -> dict:
        if not hasattr(self._own, "dict"):
            self._own.dict = dict(self._shared)
        return self._own.dict

    def get(self, key, default=None):
        return self._dict.get(key, default)

    def __getitem__(self, key):
        return self._dict[key]

    def __setitem__(self, key, val):
        self._dict[key] = val

    def __delitem__(self, key):
        del self._dict[key]

    def __iter__(self):
        return iter(self._dict)

    def __len__(self):
        return len(self._dict)

    def copy(self):
        return dict(self._dict)


class IndependentWorkerTestBase(TestCase):
    """Tests whose tasks are threads, each with a TF_CONFIG and a server of its own."""

    def _make_mock_run_std_server(self):
        """What starts the server of a task; of every address once, as several runs of a test may ask."""
        servers: dict[Any, Any] = {}

        def run(*args, **kwargs):
            task = json.loads(os.environ["TF_CONFIG"])["task"]
            key = task["type"], task["index"]
            if key not in servers:
                servers[key] = self._start_server(*args, **kwargs)
            else:
                self._barrier.wait()
                return servers[key]
            self._barrier.wait()
            return servers[key]

        return run

    def setUp(self):
        super().setUp()
        self._start_server = coordinator._run_std_server
        # What all have to be through before one goes on: made when it is known how many there are.
        self._barrier = coordinator._Barrier(1)
        self._patches = [
            mock.patch.object(os, "environ", MockOsEnv(os.environ)),
            mock.patch.object(coordinator, "_run_std_server", self._make_mock_run_std_server()),
        ]
        for patch in self._patches:
            patch.start()
        self._coord = tf.train.Coordinator()

    def tearDown(self):
        for patch in reversed(self._patches):
            patch.stop()
        super().tearDown()

    def _task_thread(self, task_fn, tf_config, executing_eagerly, *args, **kwargs):
        os.environ["TF_CONFIG"] = json.dumps(tf_config)
        place = context.eager_mode() if executing_eagerly else tf.Graph().as_default()
        with self._coord.stop_on_exception(), place:
            task_fn(*args, **kwargs)

    def _run_task_in_thread(self, task_fn, cluster_spec, task_type, task_id, *args, **kwargs):
        """A thread that calls the function as a task of a cluster, or as a program without one if there is no type."""
        tf_config = {"cluster": cluster_spec}
        if task_type:
            tf_config["task"] = {"type": task_type, "index": task_id}
        else:
            tf_config = {}
        made = threading.Thread(
            target=self._task_thread, args=(task_fn, tf_config, tf.executing_eagerly(), *args), kwargs=kwargs
        )
        made.start()
        return made

    def run_multiple_tasks_in_threads(self, task_fn, cluster_spec, *args, **kwargs):
        """{job: threads} in which every task of a cluster calls the function."""
        self._barrier = coordinator._Barrier(sum(len(addresses) for addresses in cluster_spec.values()))
        return {
            job: [self._run_task_in_thread(task_fn, cluster_spec, job, i, *args, **kwargs) for i in range(len(held))]
            for job, held in cluster_spec.items()
        }

    def join_independent_workers(self, worker_threads):
        """Wait for the threads; an error of one is raised."""
        self._coord.join(worker_threads)


class MultiWorkerMultiProcessTest(TestCase):
    """Tests whose tasks are processes."""

    def _run_task_in_process(self, cmd_args, cluster_spec, task_type, task_id):
        config = {"cluster": cluster_spec, "task": {"type": task_type, "index": task_id}}
        environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
        return subprocess.Popen(cmd_args, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_multiple_tasks_in_processes(self, cmd_args, cluster_spec):
        """{job: processes} that run a command, each as a task of the cluster."""
        return {
            job: [self._run_task_in_process(cmd_args, cluster_spec, job, i) for i in range(len(held))]
            for job, held in cluster_spec.items()
        }

    def join_independent_workers(self, worker_processes):
        """Wait for the processes; each has to end well."""
        for process in nest_processes(worker_processes):
            process.wait()
            self.assertEqual(0, process.returncode)

    def stream_stderr(self, processes, print_only_first=False):
        """Show what processes write to their error streams, each line with the number of its process."""

        def show(stream, number):
            for line in stream:
                if number == 0 or not print_only_first:
                    print(f"[{number}] {line.decode(errors='replace')}", end="", file=sys.stderr)

        threads = [
            threading.Thread(target=show, args=(process.stderr, i))
            for i, process in enumerate(nest_processes(processes))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def nest_processes(processes) -> list:
    """The processes of a list, or of lists by job."""
    return [p for held in processes.values() for p in held] if isinstance(processes, dict) else list(processes)


def _tf_config() -> dict:
    return json.loads(os.environ["TF_CONFIG"])


def get_tf_config_task():
    """This task, as TF_CONFIG has it."""
    return _tf_config()["task"]


def get_tf_config_cluster_spec():
    """The cluster, as TF_CONFIG has it."""
    return _tf_config()["cluster"]


def get_task_type():
    """The job of this task."""
    return get_tf_config_task()["type"]


def get_task_index():
    """Which task of its job this is."""
    return get_tf_config_task()["index"]


def is_chief():
    """Whether this task leads the cluster."""
    return "chief" not in get_tf_config_cluster_spec() and get_task_type() == "worker" and get_task_index() == 0
