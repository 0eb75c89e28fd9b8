"""Batches a second of nine input pipelines as people write them; beside another TensorFlow and torch's DataLoader.

python benchmarks/input.py                              all of them
python benchmarks/input.py csv words                    some
python benchmarks/input.py --against old/bin/python     in turns with the TensorFlow 1.x of that interpreter, as ratios
python benchmarks/input.py --loader                     beside torch.utils.data.DataLoader doing the same work
python benchmarks/input.py lenet --against PYTHON       a training step with its input
python -m benchmarks.input --against PYTHON --loader --page     all, into docs/performance.md and its picture
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RECORDS, IMAGES, LINES = 8192, 256, 8192
PIPELINES = {}


def pipeline(build):
    """Note a function that draws a pipeline into the default graph, from the files of a folder, and returns a batch."""
    PIPELINES[build.__name__] = build
    return build


# --- what is read ----------------------------------------------------------------------------


def make_files(folder: str) -> None:
    """The files that pipelines read: examples, photographs, lines of numbers and of words."""
    random = np.random.RandomState(0)

    def feature(kind, values):
        return tf.train.Feature(**{kind: getattr(tf.train, {"int64_list": "Int64List", "float_list": "FloatList", "bytes_list": "BytesList"}[kind])(value=values)})  # fmt: skip

    with tf.python_io.TFRecordWriter(f"{folder}/examples") as writer:
        for i in range(RECORDS):
            features = {
                "dense": feature("float_list", random.rand(16)),
                "label": feature("int64_list", [i % 10]),
                "ids": feature("int64_list", random.randint(0, 1000, 8)),
                "words": feature("bytes_list", [b"w%d" % n for n in random.randint(0, 100, random.randint(1, 6))]),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        picture = tf.placeholder(tf.uint8, [None, None, 3])
        encoded = tf.image.encode_jpeg(picture)
        with tf.python_io.TFRecordWriter(f"{folder}/images") as writer:
            for i in range(IMAGES):
                coarse = random.randint(0, 256, (15, 20, 3))
                pixels = np.kron(coarse, np.ones((10, 10, 1))) + random.randint(-8, 8, (150, 200, 3))
                data = session.run(encoded, {picture: np.clip(pixels, 0, 255).astype(np.uint8)})
                features = {"image": feature("bytes_list", [data]), "label": feature("int64_list", [i % 10])}
                writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    with tf.python_io.TFRecordWriter(f"{folder}/digits") as writer:
        for i in range(RECORDS):
            features = {
                "image": feature("bytes_list", [random.randint(0, 256, 784).astype(np.uint8).tobytes()]),
                "label": feature("int64_list", [i % 10]),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    with open(f"{folder}/numbers.csv", "w") as file:
        for i in range(LINES):
            file.write(",".join([*(f"{v:.4f}" for v in random.rand(8)), str(i % 3), f"name{i % 50}"]) + "\n")
    with open(f"{folder}/words.txt", "w") as file:
        for _ in range(LINES):
            file.write(" ".join(f"w{n}" for n in random.zipf(1.5, random.randint(4, 40)) % 2000) + "\n")


def image_features(serialized):
    found = tf.parse_single_example(
        serialized, {"image": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)}
    )
    return found["image"], found["label"]


def example_features():
    return {
        "dense": tf.FixedLenFeature([16], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64),
        "ids": tf.FixedLenFeature([8], tf.int64),
        "words": tf.VarLenFeature(tf.string),
    }


def following(dataset):
    return tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()


# --- the pipelines ---------------------------------------------------------------------------


@pipeline
def examples(folder):
    """records → batch → parse_example, batch 256"""
    dataset = tf.data.TFRecordDataset(f"{folder}/examples").repeat().batch(256)
    return following(dataset.map(lambda s: tf.parse_example(s, example_features())))


@pipeline
def queues(folder):
    """string_input_producer, reader, decode_jpeg, shuffle_batch with 2 threads"""
    names = tf.train.string_input_producer([f"{folder}/images"])
    _, serialized = tf.TFRecordReader().read(names)
    data, label = image_features(serialized)
    image = tf.cast(tf.reshape(tf.image.decode_jpeg(data, channels=3), [150, 200, 3]), tf.float32) / 255.0
    return tf.train.shuffle_batch([image, label], 32, capacity=200, min_after_dequeue=64, num_threads=2)


@pipeline
def resized(folder):
    """records → decode_jpeg → resize_images → batch 32, two at a time"""

    def read(serialized):
        data, label = image_features(serialized)
        return tf.image.resize_images(tf.image.decode_jpeg(data, channels=3), [96, 96]), label

    dataset = tf.data.TFRecordDataset(f"{folder}/images").repeat()
    return following(dataset.map(read, num_parallel_calls=2).batch(32).prefetch(2))


@pipeline
def augmented(folder):
    """records → decode_jpeg → random crop, flip, brightness, standardise → batch 32, two at a time"""

    def read(serialized):
        data, label = image_features(serialized)
        image = tf.random_crop(tf.image.decode_jpeg(data, channels=3), [128, 128, 3])
        image = tf.image.random_flip_left_right(tf.cast(image, tf.float32))
        return tf.image.per_image_standardization(tf.image.random_brightness(image, 60.0)), label

    dataset = tf.data.TFRecordDataset(f"{folder}/images").repeat()
    return following(dataset.map(read, num_parallel_calls=2).batch(32).prefetch(2))


@pipeline
def words(folder):
    """lines → string_split → table → bucket_by_sequence_length → padded batch 64"""
    table = tf.contrib.lookup.index_table_from_tensor([f"w{n}" for n in range(2000)], num_oov_buckets=1)
    dataset = tf.data.TextLineDataset(f"{folder}/words.txt").repeat()
    dataset = dataset.map(lambda line: table.lookup(tf.string_split([line]).values))
    bucket = tf.data.experimental.bucket_by_sequence_length(lambda ids: tf.size(ids), [10, 20, 30], [64] * 4)
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset.apply(bucket))
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


@pipeline
def csv(folder):
    """lines → decode_csv → shuffle → batch 128"""

    def read(line):
        *numbers, label, name = tf.decode_csv(line, [[0.0]] * 8 + [[0], [""]])
        return tf.stack(numbers), label, name

    return following(tf.data.TextLineDataset(f"{folder}/numbers.csv").repeat().map(read).shuffle(1000).batch(128))


@pipeline
def single_examples(folder):
    """records → parse_single_example one by one → batch 256"""
    features = {k: v for k, v in example_features().items() if k != "words"}
    dataset = tf.data.TFRecordDataset(f"{folder}/examples").repeat()
    return following(dataset.map(lambda s: tf.parse_single_example(s, features)).batch(256))


@pipeline
def arrays(folder):
    """arrays → shuffle → light map → batch 128"""
    random = np.random.RandomState(0)
    images, labels = random.randint(0, 256, (4096, 28, 28)).astype(np.uint8), random.randint(0, 10, 4096)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(4096).repeat()
    return following(dataset.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, tf.one_hot(y, 10))).batch(128))


@pipeline
def generator(folder):
    """a Python generator → map → batch 64"""

    def rows():
        row = np.arange(32, dtype=np.float32)
        while True:
            yield row, 1

    dataset = tf.data.Dataset.from_generator(rows, (tf.float32, tf.int64), ([32], []))
    return following(dataset.map(lambda x, y: (x * 2.0 + 1.0, y)).batch(64))


@pipeline
def lenet(folder):
    """a training step: records of digits → parse, decode_raw → shuffle → batch 128 → LeNet with Adam"""

    def read(serialized):
        data, label = image_features(serialized)
        return tf.reshape(tf.cast(tf.decode_raw(data, tf.uint8), tf.float32) / 255.0, [28, 28, 1]), label

    dataset = tf.data.TFRecordDataset(f"{folder}/digits").map(read, num_parallel_calls=2).shuffle(2000).repeat()
    h, labels = following(dataset.batch(128, drop_remainder=True).prefetch(2))
    for channels in (20, 50):
        h = tf.layers.max_pooling2d(tf.layers.conv2d(h, channels, 5, padding="same", activation=tf.nn.relu), 2, 2)
    logits = tf.layers.dense(tf.layers.dense(tf.layers.flatten(h), 500, tf.nn.relu), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return [tf.train.AdamOptimizer(1e-3).minimize(loss), loss]


# --- measuring -------------------------------------------------------------------------------


def batches_a_second(next_batch, seconds: float) -> list[tuple[float, float]]:
    """How many batches come in a second, and how many in a second of processor time, in each of four stretches, after
    some to warm up."""
    end = time.perf_counter() + seconds / 4
    for _ in range(3):
        next_batch()
    while time.perf_counter() < end:
        next_batch()
    found = []
    for _ in range(4):
        start, used, count = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() < start + seconds / 4:
            next_batch()
            count += 1
        found.append((count / (time.perf_counter() - start), count / (time.process_time() - used)))
    return found


def typical(stretches: list) -> tuple[float, float]:
    """The medians: on a machine that others use, the best stretch is the one that was left alone, and the processor
    takes longer for the same where it is taken away often."""
    wall, processor = np.median(stretches, axis=0)
    return float(wall), float(processor)


@contextlib.contextmanager
def drawn(name: str, folder: str):
    """A function that runs a pipeline for its next batch."""
    with tf.Graph().as_default():
        batch = PIPELINES[name](folder)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for initializers in tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS):
                session.run(initializers)
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            fetches = tf.contrib.framework.nest.flatten(batch)
            yield session.make_callable(fetches)
            coordinator.request_stop()
            session.close()
            coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)


def here(name: str, folder: str, seconds: float) -> list:
    with drawn(name, folder) as next_batch:
        return batches_a_second(next_batch, seconds)


def elsewhere(python: str, name: str, folder: str, seconds: float) -> list:
    """The same under another interpreter."""
    command = [python, __file__, name, "--tensorflow", folder, "--seconds", str(seconds)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])[name]


def with_loader(name: str, folder: str, seconds: float) -> list:
    """The same work by torch's DataLoader, where it is written down in input_loaders.py."""
    sys.path.insert(0, str(Path(__file__).parent))
    from input_loaders import LOADERS

    batches = iter(LOADERS[name](folder))
    return batches_a_second(lambda: next(batches), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="pipeline", help=", ".join(PIPELINES))
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter that has TensorFlow 1.x")
    parser.add_argument("--loader", action="store_true", help="beside torch's DataLoader")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each pipeline and turn")
    parser.add_argument("--turns", type=int, default=2, help="how often each pipeline is run; medians count")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md and its picture")
    parser.add_argument("--tensorflow", metavar="FOLDER", help="use this interpreter's TensorFlow, and print JSON")
    options = parser.parse_args()
    global tf
    if options.tensorflow:
        import tensorflow as tf

        print(json.dumps({name: here(name, options.tensorflow, options.seconds) for name in options.names}))
        return
    import everflow as tf

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for name in options.names or PIPELINES:
            found[name] = measured(name, folder, options)
    if options.against:
        ratios = {name: [a / b for a, b in zip(ours, theirs)] for name, (ours, theirs, _) in found.items()}
        wall, processor = np.exp(np.mean(np.log(list(ratios.values())), axis=0))
        print(f"{'geometric mean':16} {wall:.2f}x TensorFlow, processor {processor:.2f}x")
        if options.page:
            write_down(found, ratios)


def measured(name: str, folder: str, options) -> tuple:
    """Rates here, under another interpreter and by a DataLoader, in turns; they are printed, too."""
    stretches = [], [], []
    for _ in range(options.turns):
        stretches[0].extend(here(name, folder, options.seconds))
        if options.against:
            stretches[1].extend(elsewhere(options.against, name, folder, options.seconds))
        if options.loader:
            stretches[2].extend(with_loader(name, folder, options.seconds))
    ours, theirs, loaded = (typical(found) if found else None for found in stretches)
    line = f"{name:16} {ours[0]:9.1f}/s"
    if theirs:
        line += f"   TensorFlow {theirs[0]:9.1f}/s {ours[0] / theirs[0]:6.2f}x, processor {ours[1] / theirs[1]:6.2f}x"
        line += f" on {ours[0] / ours[1]:.2f} and {theirs[0] / theirs[1]:.2f} cores"
    if loaded:
        line += f"   DataLoader {loaded[0]:9.1f}/s {ours[0] / loaded[0]:6.2f}x"
    print(line, flush=True)
    return ours, theirs, loaded


def write_down(found: dict, ratios: dict) -> None:
    """What was measured, as a table in docs/performance.md and as a picture beside it."""
    from benchmarks.plot import plot_bars
    from benchmarks.tables import number, table, write_page

    docs = Path(__file__).parent.parent / "docs"
    has_loader = all(loaded for *_, loaded in found.values())
    rows = [
        [
            PIPELINES[name].__doc__,
            *map(number, (ours[0], theirs[0], *ratios[name])),
            f"{ours[0] / ours[1]:.2f} and {theirs[0] / theirs[1]:.2f}",
            *([number(loaded[0]), number(ours[0] / loaded[0])] if has_loader else []),
        ]
        for name, (ours, theirs, loaded) in sorted(found.items(), key=lambda item: -ratios[item[0]][1])
    ]
    head = [
        "pipeline",
        "batches a second",
        "TensorFlow 1.15.5",
        "ratio",
        "ratio by processor time",
        "cores that each got",
        *(["torch's DataLoader", "ratio to it"] if has_loader else []),
    ]
    text = f"{table(head, rows)}\n\n![The same as a picture](input.svg)"
    write_page(docs / "performance.md", text, "<!-- input: from here -->", "<!-- input: to here -->")
    labels = ["batches a second", "batches for the same processor time"]
    bars = {label: [ratios[name][i] for name in ratios] for i, label in enumerate(labels)}
    plot_bars(list(ratios), bars, "times as many as TensorFlow 1.15.5", docs / "input.svg")


if __name__ == "__main__":
    sys.exit(main())
