"""Threads of pipelines end with the process, in the midst of whatever they do."""

import subprocess
import sys

import pytest
import torch

from everflow.kernels.data.threads import with_threads

SCRIPT = """
import time
import numpy as np
import everflow as tf
from everflow.kernels.data import ahead, parallel
ahead.WORTH = parallel.WORTH = -1.0
def slow(x):
    time.sleep(0.002)
    return x
pixels = tf.constant(np.zeros([64, 64, 3], np.uint8))
def read(x):
    image = tf.image.decode_jpeg(tf.image.encode_jpeg(pixels))
    return tf.py_func(slow, [x], tf.int64) + tf.cast(image[0, 0, 0], tf.int64)
dataset = tf.data.Dataset.range(10**6).map(read, num_parallel_calls=2).filter(lambda x: x < {limit}).prefetch(2)
following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
session = tf.Session()
print([int(session.run(following)) for _ in range(5)])
"""


@pytest.mark.parametrize("limit", [10**6, 5])
def test_a_process_ends_while_they_work(limit):
    """With the second limit they look for a sixth element for ever."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(limit=limit)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[0, 1, 2, 3, 4]"), done.stderr


def test_kernels_have_the_same_number_of_threads_wherever_they_run():
    before = torch.get_num_threads()
    assert with_threads(3, torch.get_num_threads) == 3 and torch.get_num_threads() == before
    with pytest.raises(ZeroDivisionError):
        with_threads(3, lambda: 1 / 0)
    assert torch.get_num_threads() == before
