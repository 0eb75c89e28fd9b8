"""How much memory pipelines take as they go on, over each kind of source: as much as at the beginning.

python -m tests.kernels.data.flat_memory --elements 1000000     megabytes after a tenth of them, and after all
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile

import numpy as np

import everflow as tf
from tests.kernels.data.random_pipelines import png

BATCH = 250


def _following(dataset):
    return tf.compat.v1.data.make_one_shot_iterator(dataset.batch(BATCH)).get_next()


def _generated():
    number = 0
    while True:
        yield number, [float(number)] * 4
        number += 1


def _decoded(data):
    return tf.random_crop(tf.image.decode_png(data, channels=1), [2, 3, 1], seed=7)


def _queued(folder):
    names = tf.train.string_input_producer([f"{folder}/records"])
    _, record = tf.TFRecordReader().read(names)
    return tf.train.shuffle_batch([tf.strings.length(record)], BATCH, 2000, 500, num_threads=2)


D = tf.data.Dataset
ROWS = np.arange(4000.0).reshape(1000, 4)
PICTURES = [png(np.full((4, 5), i, np.uint8)) for i in range(50)]
SOURCES = {
    "range": lambda folder: _following(D.range(1 << 40)),
    "arrays": lambda folder: _following(D.from_tensor_slices(ROWS).shuffle(500).repeat().map(lambda x: x * 2)),
    "generator": lambda folder: _following(D.from_generator(_generated, (tf.int64, tf.float32), ([], [4]))),
    "lines": lambda folder: _following(tf.data.TextLineDataset(f"{folder}/lines").repeat().map(tf.strings.length)),
    "records": lambda folder: _following(tf.data.TFRecordDataset(f"{folder}/records").repeat().shuffle(500)),
    "csv": lambda folder: _following(
        tf.data.experimental.CsvDataset(f"{folder}/lines", [tf.int64, tf.string]).repeat().prefetch(2)
    ),
    "pictures": lambda folder: _following(D.from_tensor_slices(PICTURES).repeat().map(_decoded, num_parallel_calls=2)),
    "parts": lambda folder: _following(D.range(1 << 40).interleave(lambda x: D.range(x, x + 3), 4)),
    "cache": lambda folder: _following(D.from_tensor_slices(ROWS).cache().repeat().filter(lambda x: x[0] > 8)),
    "queue": _queued,
}


def make_files(folder: str) -> None:
    with open(f"{folder}/lines", "w") as file:
        file.writelines(f"{i},word{i % 7}\n" for i in range(1000))
    with tf.python_io.TFRecordWriter(f"{folder}/records") as writer:
        for i in range(1000):
            writer.write(b"x" * (i % 50))


def megabytes() -> float:
    """What the process holds in memory now."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def taken(name: str, folder: str, elements: int) -> tuple[float, float]:
    """Megabytes after a tenth of so many elements of a source, and after all of them."""
    with tf.Graph().as_default(), tf.Session() as sess:
        following = SOURCES[name](folder)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        run, batches = sess.make_callable(following), elements // BATCH
        for _ in range(batches // 10):
            run()
        before = megabytes()
        for _ in range(batches - batches // 10):
            run()
        after = megabytes()
        coordinator.request_stop()
        sess.close()
        coordinator.join(threads, ignore_live_threads=True)
        return before, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for name in SOURCES:
            before, after = taken(name, folder, options.elements)
            print(f"{name:10} {before:8.1f} MB then {after:8.1f} MB: {after - before:+.1f}", flush=True)


if __name__ == "__main__":
    main()
