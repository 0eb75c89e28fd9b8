"""What a test asks of its surroundings: temporary directories, devices, servers, and the loop that runs tests."""

from __future__ import annotations

import functools
import os
import socket
import sys
import tempfile

from everflow.platform import app, flags
from everflow.platform import logging as _logging  # noqa: F401  its logger has to be there before absl's
from everflow.protos import config_pb2
from everflow.runtime import devices
from everflow.test.benchmark import run_benchmarks

# What a test's graph and random numbers start from.
SEED = 87654321


def main(argv=None):
    """Run the tests of the program that calls this, and exit; with `--benchmarks=PATTERN` those benchmarks.

    Args:
        argv: The command line; `sys.argv` if None.

    Returns:
        Nothing; the program ends.

    Raises:
        SystemExit: With 0 where all tests pass.

    Example:
        >>> callable(tf.test.main)
        True
    """
    from absl.testing import absltest

    argv = sys.argv if argv is None else argv
    wanted = [argument.partition("=")[2] or "all" for argument in argv if argument.startswith("--benchmarks")]
    if wanted:
        rest = [argument for argument in argv if not argument.startswith("--benchmarks")]
        return app.run(lambda _: run_benchmarks(wanted[-1]), argv=rest)
    flags.FLAGS(argv, known_only=True)
    return absltest.main(argv=argv)


@functools.cache
def get_temp_dir():
    """A directory for this process's tests, the same at every call.

    Returns:
        A path.

    Example:
        >>> tf.gfile.IsDirectory(tf.test.get_temp_dir())
        True
    """
    return tempfile.mkdtemp()


def test_src_dir_path(relative_path):
    """The path of a file below the program's own directory.

    Args:
        relative_path: The path below it.

    Returns:
        A path.

    Example:
        >>> tf.test.test_src_dir_path("data.csv").endswith("data.csv")
        True
    """
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


test_src_dir_path.__test__ = False  # it is no test, whatever a collector thinks of its name


def _gpu_names() -> list[str]:
    names = devices.device_names(config_pb2.ConfigProto())
    return [name.removeprefix(devices.PREFIX) for name in names if ":GPU:" in name]


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU: any, one of CUDA, or one of at least a compute capability (major, minor).

    Args:
        cuda_only: Whether only GPUs of CUDA count.
        min_cuda_compute_capability: The least capability, a pair; any if None.

    Returns:
        A bool.

    Example:
        >>> type(tf.test.is_gpu_available()).__name__
        'bool'
    """
    if not _gpu_names():
        return False
    if not cuda_only and min_cuda_compute_capability is None:
        return True
    capability = devices.cuda_capability()
    return capability is not None and capability >= tuple(min_cuda_compute_capability or (0, 0))


def gpu_device_name():
    """The name of the first GPU; empty where there is none.

    Returns:
        A string.

    Example:
        >>> type(tf.test.gpu_device_name()).__name__
        'str'
    """
    return next(iter(_gpu_names()), "")


def is_built_with_cuda():
    """Whether kernels can run on NVIDIA's GPUs here.

    Returns:
        A bool.

    Example:
        >>> type(tf.test.is_built_with_cuda()).__name__
        'bool'
    """
    return devices.built_with() == "cuda"


def is_built_with_rocm():
    """Whether kernels can run on AMD's GPUs here.

    Returns:
        A bool.

    Example:
        >>> type(tf.test.is_built_with_rocm()).__name__
        'bool'
    """
    return devices.built_with() == "rocm"


def is_built_with_gpu_support():
    """Whether kernels can run on any GPU here.

    Returns:
        A bool.

    Example:
        >>> type(tf.test.is_built_with_gpu_support()).__name__
        'bool'
    """
    return devices.built_with() != "cpu"


def unused_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """Servers in this process, started: (workers, parameter servers).

    Args:
        num_workers: How many workers.
        num_ps: How many parameter servers.
        protocol: `grpc`.
        worker_config: A `tf.ConfigProto` for workers.
        ps_config: A `tf.ConfigProto` for parameter servers.

    Returns:
        Two lists of `tf.train.Server`.

    Example:
        >>> workers, servers = tf.test.create_local_cluster(num_workers=1, num_ps=1)
        >>> with tf.Session(workers[0].target) as session:
        ...     print(session.run(tf.constant(2) * 3))
        6
    """
    from everflow.train import ClusterSpec, Server  # loads google_crc32c

    addresses = {
        job: [f"localhost:{unused_port()}" for _ in range(count)]
        for job, count in (("worker", num_workers), ("ps", num_ps))
        if count
    }
    cluster = ClusterSpec(addresses)

    def start(job, config):
        return [
            Server(cluster, job_name=job, protocol=protocol, task_index=i, config=config, start=True)
            for i in range(len(addresses.get(job, ())))
        ]

    return start("worker", worker_config), start("ps", ps_config)
