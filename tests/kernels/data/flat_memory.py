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


def _queued_lines(folder):
    names = tf.train.string_input_producer([f"{folder}/lines"] * 3)
    _, lines = tf.TextLineReader().read_up_to(names, 100)
    number, word = tf.decode_csv(lines, [[0], [""]])
    return tf.train.batch([number, word], BATCH, capacity=1000, enqueue_many=True)


def _queued_slices(folder):
    row = tf.train.slice_input_producer([ROWS])[0]
    return tf.train.batch([row[: tf.cast(row[0], tf.int32) % 4 + 1]], BATCH, capacity=1000, dynamic_pad=True)


def _by_priority(folder):
    queue = tf.PriorityQueue(2000, [tf.float32], [[]])
    put = queue.enqueue_many([tf.random_uniform([BATCH], maxval=100, dtype=tf.int64), tf.ones([BATCH])])
    with tf.control_dependencies([put]):
        return queue.dequeue_many(BATCH)


def _parsed(folder):
    features = {"x": tf.FixedLenFeature([2], tf.float32), "words": tf.VarLenFeature(tf.string)}
    records = tf.data.TFRecordDataset(f"{folder}/examples").repeat().batch(BATCH)
    parsed = records.map(lambda data: tf.parse_example(data, features), num_parallel_calls=2).prefetch(1)
    return tf.compat.v1.data.make_one_shot_iterator(parsed).get_next()["words"].values


def _in_buckets(folder):
    words = tf.data.TextLineDataset(f"{folder}/lines").repeat().map(lambda line: tf.string_split([line], ",w").values)
    grouped = words.apply(tf.data.experimental.bucket_by_sequence_length(tf.size, [2], [BATCH, BATCH]))
    return tf.compat.v1.data.make_one_shot_iterator(grouped).get_next()


def _in_windows(folder):
    windows = D.range(1 << 40).window(5, shift=5).flat_map(lambda window: window.batch(5))
    return _following(windows.apply(tf.data.experimental.unbatch()))


def _called(folder):
    numbers = D.range(1 << 40).map(lambda x: tf.py_func(lambda n: np.full(3, n), [x], tf.int64), num_parallel_calls=2)
    return _following(numbers)


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
    "zipped": lambda folder: _following(D.zip((D.range(1 << 40), D.from_tensors(b"x").repeat())).enumerate()),
    "chosen": lambda folder: _following(
        tf.data.experimental.sample_from_datasets([D.range(1 << 40), D.range(1 << 40)], [0.3, 0.7], seed=1)
    ),
    "scanned": lambda folder: _following(
        D.range(1 << 40).apply(tf.data.experimental.scan(np.int64(0), lambda kept, x: (kept + x, kept)))
    ),
    "padded": lambda folder: tf.compat.v1.data.make_one_shot_iterator(
        D.range(1 << 40).map(lambda x: tf.fill([x % 5], x)).padded_batch(BATCH, [None])
    ).get_next(),
    "read in threads": lambda folder: _following(
        D.range(1 << 40).apply(
            tf.data.experimental.parallel_interleave(
                lambda _: tf.data.TFRecordDataset(f"{folder}/packed", "GZIP"), 2, sloppy=True
            )
        )
    ),
    "blocks of a file": lambda folder: _following(
        tf.data.FixedLengthRecordDataset(f"{folder}/lines", 5).repeat().map(lambda data: tf.decode_raw(data, tf.uint8))
    ),
    "examples": _parsed,
    "buckets": _in_buckets,
    "windows": _in_windows,
    "py_func": _called,
    "queue": _queued,
    "queue of lines": _queued_lines,
    "queue of slices": _queued_slices,
    "queue by priority": _by_priority,
}


def make_files(folder: str) -> None:
    with open(f"{folder}/lines", "w") as file:
        file.writelines(f"{i},word{i % 7}\n" for i in range(1000))
    with tf.python_io.TFRecordWriter(f"{folder}/records") as writer:
        for i in range(1000):
            writer.write(b"x" * (i % 50))
    with tf.python_io.TFRecordWriter(f"{folder}/packed", tf.python_io.TFRecordCompressionType.GZIP) as writer:
        for i in range(1000):
            writer.write(b"x" * (i % 50))
    with tf.python_io.TFRecordWriter(f"{folder}/examples") as writer:
        for i in range(1000):
            lists = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"word%d" % i] * (i % 3))),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=lists)).SerializeToString())


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
    parser.add_argument("--only", nargs="+", choices=SOURCES, default=list(SOURCES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for name in options.only:
            before, after = taken(name, folder, options.elements)
            print(f"{name:17} {before:8.1f} MB then {after:8.1f} MB: {after - before:+.1f}", flush=True)


if __name__ == "__main__":
    main()
