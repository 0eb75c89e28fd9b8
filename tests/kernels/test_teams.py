"""A thread that works alone has no team, and others keep theirs."""

import concurrent.futures
import os
import subprocess
import sys

import pytest
import torch

from everflow.kernels.teams import _set_threads, work_alone

needs_openmp = pytest.mark.skipif(_set_threads() is None, reason="OpenMP's runtime has no names in this process")


@needs_openmp
def test_only_this_thread():
    before = torch.get_num_threads()
    with concurrent.futures.ThreadPoolExecutor(1, initializer=work_alone) as pool:
        assert pool.submit(torch.get_num_threads).result() == 1
        made = pool.submit(lambda: torch.arange(100000.0).mul_(2)).result()
        assert pool.submit(torch.get_num_threads).result() == 1
    assert torch.equal(made, 2 * torch.arange(100000.0))
    assert torch.get_num_threads() == before


NOT_PYTHONS = """
import os
import threading
import torch
import everflow as tf


def threads():
    return len(os.listdir("/proc/self/task")) - threading.active_count()


torch.set_num_threads(2)
torch.ones(1000, 1000).mul_(2)
before = threads()
with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as sess:
    sess.run(tf.random_normal([2000, 1000]))
    print(threads() - before)
"""


@needs_openmp
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads by their files")
def test_random_numbers_make_no_further_team():
    environment = {**os.environ, "EVERFLOW_NATIVE": "off"}
    command = [sys.executable, "-c", NOT_PYTHONS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) == 0
