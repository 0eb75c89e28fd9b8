"""Random pipelines, as they are optimised and plain: the same elements in the same order, errors where they belong.

    python -m tests.kernels.data.random_pipelines --seeds 0 2000            prints the seeds whose pipelines differ
    python tests/kernels/data/random_pipelines.py --tensorflow FILE         what the TensorFlow of an interpreter shows
    python -m tests.kernels.data.random_pipelines --against FILE            and whether Everflow shows the same

A pipeline is drawn from a seed, move by move. Errors are told by their types.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import sys
import tempfile
import zlib
from unittest import mock

import numpy as np

ELEMENTS = 40
# Where TensorFlow is asked, too, random numbers are not drawn by several calls at a time: there, threads take them as
# they come.
_one_by_one = False


class Drawn:
    """A pipeline, and of which kind its elements are: "int", "float" or "text" for each component, with its shape."""

    def __init__(self, tf, seed, folder):
        self.tf, self.random, self.folder = tf, random.Random(seed), folder
        self.may_differ = False  # whether elements may have different shapes: then nothing stacks them
        self.dataset = self._source()
        for _ in range(self.random.randint(1, 6)):
            move = self.random.choice(MOVES)
            move(self)
        if self.random.random() < 0.7:
            batch(self)
        if self.random.random() < 0.3:
            prefetch(self)

    def _source(self):
        tf, r = self.tf, self.random
        kind = r.choice(["range", "rows", "rows", "words", "lines", "records", "generator", "tensors", "pictures"])
        if kind == "range":
            self.parts = [("int", [])]
            return tf.data.Dataset.range(r.randint(-3, 3), r.randint(0, 30), r.choice([1, 1, 2, 3]))
        if kind == "rows":
            size, chance = r.randint(1, 25), np.random.RandomState(r.randint(0, 99))
            self.parts = [("float", [3]), ("int", [])]
            rows = (chance.randint(-9, 9, (size, 3)).astype(np.float32), chance.randint(-2, 6, size).astype(np.int64))
            return tf.data.Dataset.from_tensor_slices(rows)
        if kind == "words":
            self.parts = [("text", [])]
            return tf.data.Dataset.from_tensor_slices(["3", "14", "x", "15", "9", "2", "6.5"][: r.randint(1, 7)])
        if kind == "pictures":
            return self._pictures()
        if kind == "tensors":
            self.parts = [("float", [2]), ("text", [])]
            return tf.data.Dataset.from_tensors(([1.5, -2.0], "17")).repeat(r.randint(1, 4))
        if kind == "generator":
            self.parts = [("int", []), ("float", [2])]
            count = r.randint(0, 20)

            def rows():
                for i in range(count):
                    yield i, [i / 2.0, -float(i)]

            return tf.data.Dataset.from_generator(rows, (tf.int64, tf.float32), ([], [2]))
        self.parts = [("text", [])]
        names = [os.path.join(self.folder, kind) + str(i) for i in range(r.randint(1, 2))]
        return (tf.data.TextLineDataset if kind == "lines" else tf.data.TFRecordDataset)(names)

    def _pictures(self):
        """Decoded pictures, of one size or different ones, cut to a part, resized or flipped."""
        tf, r, chance = self.tf, self.random, np.random.RandomState(self.random.randint(0, 99))
        sizes = [(4, 5)] if r.random() < 0.5 else [(4, 5), (3, 6), (5, 3)]
        files = [png(chance.randint(0, 256, r.choice(sizes)).astype(np.uint8)) for _ in range(r.randint(1, 40))]
        way = r.choice(["crop", "resize", "nearest", "flip", "sum"])
        if way in ("resize", "nearest") and r.random() < 0.3:  # where nothing is drawn before it fails
            files[r.randrange(len(files))] = b"nonsense"
        random_part = lambda image: tf.random_crop(image, [2, 3, 1], seed=7)  # noqa: E731
        ways = {
            "crop": random_part,
            "resize": lambda image: tf.image.resize_images(image, [2, 3]),
            "nearest": lambda image: tf.image.resize_images(image, [2, 3], tf.image.ResizeMethod.NEAREST_NEIGHBOR),
            "flip": lambda image: tf.image.random_flip_left_right(random_part(image), seed=8),
            "sum": lambda image: random_part(image) + tf.reduce_max(image),
        }

        def read(data):
            return tf.reshape(tf.cast(ways[way](tf.image.decode_png(data, channels=1)), tf.float32), [6])

        self.parts = [("float", [6])]
        calls = r.choice([None, 2, 2, -1])
        if _one_by_one and way not in ("resize", "nearest"):
            calls = None
        return tf.data.Dataset.from_tensor_slices(files).map(read, num_parallel_calls=calls)

    def mapped(self, function, parts):
        """Call a function of the first component; the others stay. Perhaps for several elements at a time."""
        calls = self.random.choice([None, None, None, 1, 2, -1])
        self.dataset = self.dataset.map(lambda *e: (function(e[0]),) + e[1:], num_parallel_calls=calls)
        self.parts = [parts] + self.parts[1:]


def png(pixels):
    """A grey picture as a file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


# --- moves -----------------------------------------------------------------------------------


def arithmetic(d):
    kind, shape = d.parts[0]
    if d.may_differ:
        return None
    if kind == "text":
        return words(d)
    n = d.random.randint(1, 4)
    choice = d.random.choice(["scale", "add", "square", "compare", "select"])
    tf = d.tf
    functions = {
        "scale": lambda x: x * n,
        "add": lambda x: n - x,
        "square": lambda x: tf.square(x) + x,
        "compare": lambda x: tf.cast(x > n, x.dtype),
        "select": lambda x: tf.where(x > 0, x, -x) if shape == [] else tf.maximum(x, 0),
    }
    d.mapped(functions[choice], (kind, shape))


def words(d):
    kind, shape = d.parts[0]
    tf = d.tf
    if d.may_differ:
        return None
    if kind != "text":
        return d.mapped(tf.as_string, ("text", shape))
    choice = d.random.choice(["number", "join", "replace", "substr", "hash", "length"])
    functions = {
        "number": (lambda x: tf.string_to_number(x), "float"),
        "join": (lambda x: tf.string_join([x, "1"]), "text"),
        "replace": (lambda x: tf.strings.regex_replace(x, "[a-z]", "7"), "text"),
        "substr": (lambda x: tf.substr(x, 0, 1), "text"),
        "hash": (lambda x: tf.string_to_hash_bucket_fast(x, 10), "int"),
        "length": (lambda x: tf.cast(tf.strings.length(x), tf.int64), "int"),
    }
    function, becomes = functions[choice]
    d.mapped(function, (becomes, shape))


def shaping(d):
    kind, shape = d.parts[0]
    tf = d.tf
    if shape is None or kind == "text":
        return None
    choice = d.random.choice(["expand", "stack", "flatten", "concat"])
    if choice == "expand":
        return d.mapped(lambda x: tf.expand_dims(x, 0), (kind, [1] + shape))
    if choice == "stack":
        return d.mapped(lambda x: tf.stack([x, x + 1]), (kind, [2] + shape))
    if choice == "flatten":
        return d.mapped(lambda x: tf.reshape(x, [-1]), (kind, None if None in shape else [int(np.prod(shape))]))
    if shape and shape[0] is not None:
        return d.mapped(lambda x: tf.concat([x, x], 0), (kind, [2 * shape[0]] + shape[1:]))


def casting(d):
    kind, shape = d.parts[0]
    if kind != "text" and not d.may_differ:
        other = "float" if kind == "int" else "int"
        d.mapped(lambda x: d.tf.cast(x, {"int": d.tf.int64, "float": d.tf.float32}[other]), (other, shape))


def failing(d):
    """Fails for some elements."""
    kind, shape = d.parts[0]
    n = d.random.randint(1, 9)
    if kind == "int":
        d.mapped(lambda x: 12 // (x - n), ("int", shape))
    elif kind == "float":
        d.mapped(lambda x: d.tf.check_numerics(x / (x - n), "too large"), ("float", shape))


def drawing(d):
    """Draws random numbers, one element after the other."""
    kind, shape = d.parts[0]
    if kind == "float" and shape is not None and None not in shape:
        seed = d.random.randint(1, 99)
        d.dataset = d.dataset.map(lambda *e: (e[0] + d.tf.random_uniform(shape, seed=seed),) + e[1:])


def keeping(d):
    kind, shape = d.parts[0]
    if d.may_differ:
        return
    tf, n = d.tf, d.random.randint(0, 3)
    if kind == "text":
        d.dataset = d.dataset.filter(lambda *e: tf.reduce_all(tf.strings.length(e[0]) > n - 1))
    else:
        d.dataset = d.dataset.filter(lambda *e: tf.reduce_any(e[0] > n))


def shuffle(d):
    again = d.random.choice([None, True, False])
    d.dataset = d.dataset.shuffle(d.random.choice([1, 3, 10, 50]), d.random.randint(1, 99), again)


def repeat(d):
    d.dataset = d.dataset.repeat(d.random.choice([1, 2, 3, None]))


def take(d):
    d.dataset = d.dataset.take(d.random.choice([-1, 0, 5, 12]))


def skip(d):
    d.dataset = d.dataset.skip(d.random.choice([0, 1, 7]))


def shard(d):
    shards = d.random.randint(1, 3)
    d.dataset = d.dataset.shard(shards, d.random.randrange(shards))


def batch(d):
    if d.may_differ:
        return
    d.dataset = d.dataset.batch(d.random.choice([1, 2, 5, 16]), drop_remainder=d.random.random() < 0.3)
    d.parts = [(kind, None if shape is None else [None] + shape) for kind, shape in d.parts]


def unbatch(d):
    if all(shape and shape[0] is None for _, shape in d.parts):
        d.dataset = d.dataset.apply(d.tf.data.experimental.unbatch())
        d.parts = [(kind, shape[1:]) for kind, shape in d.parts]


def cache(d):
    d.dataset = d.dataset.cache()


def prefetch(d):
    d.dataset = d.dataset.prefetch(d.random.choice([0, 1, 3, -1]))


def zipped(d):
    if d.may_differ:
        return
    more = d.tf.data.Dataset.range(d.random.randint(1, 30))
    if d.random.random() < 0.5:
        more = more.shuffle(5, seed=d.random.randint(1, 99))
    pairs = d.tf.data.Dataset.zip((d.dataset, more))
    inner = len(d.parts)
    d.dataset = pairs.map(lambda *e: tuple(e[0]) + (e[1],) if inner > 1 or isinstance(e[0], tuple) else (e[0], e[1]))
    d.parts = d.parts + [("int", [])]


def concatenated(d):
    d.dataset = d.dataset.concatenate(d.dataset.take(d.random.randint(0, 4)))


def enumerated(d):
    d.dataset = d.dataset.apply(d.tf.data.experimental.enumerate_dataset(3)).map(
        lambda i, e: (i,) + (tuple(e) if isinstance(e, tuple) else (e,))
    )
    d.parts = [("int", [])] + d.parts


def flat(d):
    copies = d.random.randint(1, 3)
    if any(shape is None for _, shape in d.parts):
        return
    tensors = d.tf.data.Dataset.from_tensors
    if d.random.random() < 0.5:
        d.dataset = d.dataset.flat_map(lambda *e: tensors(e if len(e) > 1 else e[0]).repeat(copies))
    else:
        d.dataset = d.dataset.interleave(lambda *e: tensors(e if len(e) > 1 else e[0]).repeat(copies), 2, 1)


def bucketed(d):
    """Lists of pieces of text, those of similar length together."""
    kind, shape = d.parts[0]
    tf, calls = d.tf, d.random.choice([None, 2])
    if len(d.parts) > 1 or shape != []:
        return
    text = d.dataset if kind == "text" else d.dataset.map(tf.as_string)
    lists = text.map(lambda x: tf.string_split([x], d.random.choice(["", "1"])).values, num_parallel_calls=calls)
    if d.random.random() < 0.5:
        lists = lists.map(lambda x: tf.string_to_hash_bucket_fast(x, 10) + 1)
    sizes = [d.random.randint(1, 3) for _ in range(3)]
    d.dataset = lists.apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.size(x), [2, 3], sizes))
    d.parts, d.may_differ = [("text", None)], True


def without_errors(d):
    d.dataset = d.dataset.apply(d.tf.data.experimental.ignore_errors())


MOVES = [
    arithmetic, arithmetic, arithmetic, words, shaping, shaping, casting, failing, drawing, keeping, keeping, shuffle, shuffle, repeat, take,
    skip, shard, batch, batch, unbatch, cache, prefetch, zipped, concatenated, enumerated, flat, bucketed, bucketed,
    without_errors,
]  # fmt: skip


# --- running ---------------------------------------------------------------------------------


def make_files(tf, folder):
    for i in range(2):
        with open(os.path.join(folder, f"lines{i}"), "w") as file:
            file.write("".join(f"{(i + 1) * k * 37 % 11}\n" for k in range(9 + i)))
        with tf.python_io.TFRecordWriter(os.path.join(folder, f"records{i}")) as writer:
            for k in range(8 + i):
                writer.write(b"%d" % (k * 5 % 7 + i) if k % 4 else b"ab")


def shown(tf, seed, folder):
    """What a pipeline gives: its elements as text, types of errors, and the end."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        dataset = Drawn(tf, seed, folder).dataset
        following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        following = following if isinstance(following, tuple) else (following,)
        found = []
        # Some look for an element for ever, such as a filter that keeps nothing of what is repeated.
        with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=10000)) as session:
            while len(found) < ELEMENTS:
                try:
                    found.append([_text(v) for v in session.run(following)])
                except tf.errors.OutOfRangeError:
                    return found + ["end"]
                except tf.errors.DeadlineExceededError:
                    return found + ["for ever"]
                except tf.errors.OpError as e:
                    found.append(type(e).__name__)
        return found


def plain(tf, seed, folder):
    """What it gives one element at a time."""
    from everflow.kernels.data.datasets import Iteration

    with mock.patch.object(Iteration, "takes_blocks", False):
        return shown(tf, seed, folder)


def _text(value):
    value = np.asarray(value)
    numbers = [v.decode() if isinstance(v, bytes) else repr(v) for v in value.ravel().tolist()]
    return f"{'text' if value.dtype == object else value.dtype.name} {list(value.shape)} {' '.join(numbers)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 300])
    parser.add_argument("--tensorflow", metavar="FILE", help="write what this interpreter's TensorFlow shows")
    parser.add_argument("--against", metavar="FILE", help="compare with what was written")
    options = parser.parse_args()
    global _one_by_one
    _one_by_one = bool(options.tensorflow or options.against)
    if options.tensorflow:
        import tensorflow as tf
    else:
        import everflow as tf
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        make_files(tf, folder)
        if options.tensorflow:
            with open(options.tensorflow, "w") as file:
                json.dump({str(s): shown(tf, s, folder) for s in range(*options.seeds)}, file)
            return 0
        if options.against:
            with open(options.against) as file:
                wanted = json.load(file)
            pairs = ((int(s), v) for s, v in wanted.items())
        else:
            pairs = ((s, plain(tf, s, folder)) for s in range(*options.seeds))
        for seed, expected in pairs:
            got = shown(tf, seed, folder)
            if got != expected:
                differing += 1
                first = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
                print(
                    f"seed {seed}, element {first}: {got[first : first + 1]} instead of {expected[first : first + 1]}"
                )
    print(f"{differing} differ")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
