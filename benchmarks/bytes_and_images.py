"""Kernels on strings, records and images, microseconds a run; in turns with another TensorFlow if you have one.

python benchmarks/bytes_and_images.py                              all of them
python benchmarks/bytes_and_images.py split lower --sizes 10       some, on arrays of ten strings
python benchmarks/bytes_and_images.py --against old/bin/python     beside the TensorFlow 1.x of that interpreter

Inputs are held by variables and results are not fetched: what is measured is the kernels and the cost of a run.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

RANDOM = np.random.RandomState(0)
STRINGS, ALONE = {}, {}  # by name: kernels on so many strings, and those with a size of their own


def case(build):
    """Note a function of (tf, size) that draws what is measured and returns it."""
    STRINGS[build.__name__] = build
    return build


def alone(build):
    """Note a function of (tf) that draws what is measured and returns it."""
    ALONE[build.__name__] = build
    return build


def words(count):
    letters = np.array([chr(c) for c in range(97, 123)])
    return ["".join(RANDOM.choice(letters, RANDOM.randint(3, 13))).title().encode() for _ in range(count)]


VOCABULARY = words(1000)


def chosen(count):
    return [VOCABULARY[i] for i in RANDOM.randint(0, 1000, count)]


def sentences(count):
    return [b" ".join(chosen(6)) for _ in range(count)]


def held(tf, values, dtype=None):
    array = np.array(values, object) if isinstance(values[0], bytes) else np.asarray(values)
    return tf.Variable(array, dtype=dtype or (tf.string if array.dtype == object else None), trainable=False)


@case
def lower(tf, n):
    return tf.strings.lower(held(tf, chosen(n)))


@case
def lower_utf8(tf, n):
    return tf.strings.lower(held(tf, chosen(n)), encoding="utf-8")


@case
def strip(tf, n):
    return tf.strings.strip(held(tf, [b" " + s + b"\n" for s in chosen(n)]))


@case
def length(tf, n):
    return tf.strings.length(held(tf, chosen(n)))


@case
def length_utf8(tf, n):
    return tf.strings.length(held(tf, chosen(n)), unit="UTF8_CHAR")


@case
def substr(tf, n):
    return tf.strings.substr(held(tf, chosen(n)), 1, 3)


@case
def substr_utf8(tf, n):
    return tf.strings.substr(held(tf, chosen(n)), 1, 2, unit="UTF8_CHAR")


@case
def join(tf, n):
    return tf.strings.join([held(tf, chosen(n)), held(tf, chosen(n))], separator="-")


@case
def reduce_join(tf, n):
    return tf.strings.reduce_join(tf.reshape(held(tf, chosen(n)), [-1, 5]), 1, separator=" ")


@case
def split(tf, n):
    return tf.string_split(held(tf, sentences(n)))


@case
def split_v2(tf, n):
    return tf.strings.split(held(tf, sentences(n)))


@case
def split_at_separator(tf, n):
    return tf.strings.split(held(tf, [s.replace(b" ", b", ") for s in sentences(n)]), sep=", ")


@case
def ngrams(tf, n):
    data = held(tf, chosen(n))
    splits = tf.constant(np.arange(0, n + 1, 5))
    return tf.raw_ops.StringNGrams(
        data=data,
        data_splits=splits,
        separator=" ",
        ngram_widths=[2],
        left_pad="",
        right_pad="",
        pad_width=0,
        preserve_short_sequences=False,
    )


@case
def to_float(tf, n):
    return tf.strings.to_number(held(tf, [b"%.4f" % x for x in RANDOM.randn(n) * 100]))


@case
def to_int64(tf, n):
    return tf.strings.to_number(held(tf, [b"%d" % x for x in RANDOM.randint(-100000, 100000, n)]), tf.int64)


@case
def from_int(tf, n):
    return tf.as_string(held(tf, RANDOM.randint(-100000, 100000, n)))


@case
def from_float(tf, n):
    return tf.as_string(held(tf, RANDOM.randn(n).astype(np.float32) * 100))


@case
def from_float_precision_2(tf, n):
    return tf.as_string(held(tf, RANDOM.randn(n) * 100), precision=2)


@case
def hash_bucket(tf, n):
    return tf.string_to_hash_bucket(held(tf, chosen(n)), 1000)


@case
def hash_bucket_fast(tf, n):
    return tf.strings.to_hash_bucket_fast(held(tf, [b"%d" % i for i in RANDOM.randint(0, 1 << 60, n)]), 1000)


@case
def hash_bucket_strong(tf, n):
    return tf.strings.to_hash_bucket_strong(held(tf, chosen(n)), 1000, [1, 2])


@case
def encode_base64(tf, n):
    return tf.io.encode_base64(held(tf, sentences(n)))


@case
def decode_base64(tf, n):
    import base64

    return tf.io.decode_base64(held(tf, [base64.urlsafe_b64encode(s) for s in sentences(n)]))


@case
def regex_replace(tf, n):
    return tf.strings.regex_replace(held(tf, sentences(n)), "[aeiou]+", "_")


@case
def regex_replace_group(tf, n):
    return tf.strings.regex_replace(held(tf, sentences(n)), r"(\w+) (\w+)", r"\2 \1")


@case
def regex_full_match(tf, n):
    return tf.strings.regex_full_match(held(tf, chosen(n)), "[A-Z][a-m]*.*")


@case
def unicode_decode(tf, n):
    return tf.strings.unicode_decode(held(tf, sentences(n)), "UTF-8").flat_values


@case
def unicode_decode_wide(tf, n):
    return tf.strings.unicode_decode(held(tf, [s.replace(b"a", b"\xc3\xa4") for s in chosen(n)]), "UTF-8").flat_values


@case
def unicode_split(tf, n):
    return tf.strings.unicode_split(held(tf, chosen(n)), "UTF-8").flat_values


@case
def unicode_encode(tf, n):
    decoded = tf.strings.unicode_decode(held(tf, chosen(n)), "UTF-8")
    return tf.strings.unicode_encode(decoded, "UTF-8")


@case
def unicode_transcode(tf, n):
    return tf.strings.unicode_transcode(held(tf, sentences(n)), "UTF-8", "UTF-16-BE")


@case
def unicode_transcode_same(tf, n):
    return tf.strings.unicode_transcode(held(tf, sentences(n)), "UTF-8", "UTF-8")


@case
def unicode_script(tf, n):
    return tf.strings.unicode_script(held(tf, RANDOM.randint(32, 5000, n).astype(np.int32)))


@case
def decode_raw(tf, n):
    return tf.io.decode_raw(held(tf, [RANDOM.bytes(32) for _ in range(n)]), tf.float32)


@case
def decode_csv(tf, n):
    lines = [b"%d,%.3f,%s,%.2f" % (i, x, w, x) for i, x, w in zip(range(n), RANDOM.randn(n), chosen(n))]
    return tf.io.decode_csv(held(tf, lines), [[0], [0.0], [""], [0.0]])


@case
def decode_csv_quoted(tf, n):
    lines = [b'%d,"%s, %s",%.2f' % (i, w, w, x) for i, x, w in zip(range(n), RANDOM.randn(n), chosen(n))]
    return tf.io.decode_csv(held(tf, lines), [[0], [""], [0.0]])


@case
def lookup_of_strings(tf, n):
    table = tf.contrib.lookup.index_table_from_tensor(VOCABULARY[:900], num_oov_buckets=10)
    return table.lookup(held(tf, chosen(n)))


@case
def lookup_to_strings(tf, n):
    table = tf.contrib.lookup.index_to_string_table_from_tensor(VOCABULARY)
    return table.lookup(held(tf, RANDOM.randint(0, 1001, n)))


def example(tf, i):
    def feature(kind, values):
        lists = {
            "int64_list": tf.train.Int64List,
            "float_list": tf.train.FloatList,
            "bytes_list": tf.train.BytesList,
        }
        return tf.train.Feature(**{kind: lists[kind](value=values)})

    features = {
        "dense": feature("float_list", RANDOM.rand(16)),
        "id": feature("int64_list", [i]),
        "label": feature("int64_list", [i % 10]),
        "name": feature("bytes_list", chosen(1)),
        "tokens": feature("int64_list", RANDOM.randint(0, 10000, RANDOM.randint(1, 20))),
        "tags": feature("bytes_list", chosen(RANDOM.randint(0, 4))),
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def wanted(tf):
    return {
        "dense": tf.FixedLenFeature([16], tf.float32),
        "id": tf.FixedLenFeature([], tf.int64),
        "label": tf.FixedLenFeature([], tf.int64, default_value=0),
        "name": tf.FixedLenFeature([], tf.string),
        "tokens": tf.VarLenFeature(tf.int64),
        "tags": tf.VarLenFeature(tf.string),
    }


def sequence(tf, i):
    steps = RANDOM.randint(5, 20)
    token = [tf.train.Feature(int64_list=tf.train.Int64List(value=[t])) for t in RANDOM.randint(0, 1000, steps)]
    frame = [tf.train.Feature(float_list=tf.train.FloatList(value=RANDOM.rand(8))) for _ in range(steps)]
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}),
        feature_lists=tf.train.FeatureLists(
            feature_list={"token": tf.train.FeatureList(feature=token), "frame": tf.train.FeatureList(feature=frame)}
        ),
    ).SerializeToString()


def sequence_features(tf):
    return (
        {"label": tf.FixedLenFeature([], tf.int64)},
        {"token": tf.FixedLenSequenceFeature([], tf.int64), "frame": tf.FixedLenSequenceFeature([8], tf.float32)},
    )


@alone
def parse_example_1000(tf):
    return tf.io.parse_example(held(tf, [example(tf, i) for i in range(1000)]), wanted(tf))


@alone
def parse_example_32(tf):
    return tf.io.parse_example(held(tf, [example(tf, i) for i in range(32)]), wanted(tf))


@alone
def parse_single_example(tf):
    return tf.io.parse_single_example(held(tf, [example(tf, 1)])[0], wanted(tf))


@alone
def parse_sequence_example_100(tf):
    return tf.io.parse_sequence_example(held(tf, [sequence(tf, i) for i in range(100)]), *sequence_features(tf))


@alone
def parse_single_sequence_example(tf):
    return tf.io.parse_single_sequence_example(held(tf, [sequence(tf, 1)])[0], *sequence_features(tf))


def photograph(height=240, width=320):
    y, x = np.mgrid[0:height, 0:width]
    plain = np.stack([128 + 100 * np.sin(x / 31.0), 128 + 100 * np.cos(y / 17.0), (x + y) % 256], -1)
    return np.clip(plain + RANDOM.randn(height, width, 3) * 10, 0, 255).astype(np.uint8)


def encoded(tf, kind):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(getattr(tf.image, "encode_" + kind)(photograph()))


@alone
def decode_jpeg(tf):
    return tf.image.decode_jpeg(held(tf, [encoded(tf, "jpeg")])[0])


@alone
def decode_jpeg_half(tf):
    return tf.image.decode_jpeg(held(tf, [encoded(tf, "jpeg")])[0], ratio=2)


@alone
def decode_and_crop_jpeg(tf):
    return tf.image.decode_and_crop_jpeg(held(tf, [encoded(tf, "jpeg")])[0], [40, 60, 100, 100])


@alone
def decode_png(tf):
    return tf.image.decode_png(held(tf, [encoded(tf, "png")])[0])


def resized(method, values):
    def build(tf):
        image = held(tf, [values(photograph())])
        return getattr(tf.image, "resize_" + method)(image, [224, 224])

    return build


for _method in ("bilinear", "nearest_neighbor", "bicubic", "area"):
    ALONE["resize_" + _method] = resized(_method, lambda image: image)
    ALONE["resize_" + _method + "_float"] = resized(_method, lambda image: image.astype(np.float32))


@alone
def crop_and_resize(tf):
    boxes = held(tf, RANDOM.rand(8, 4).astype(np.float32))
    image = held(tf, [photograph().astype(np.float32)])
    return tf.image.crop_and_resize(image, boxes, np.zeros(8, np.int32), [100, 100])


def changed(name, *arguments):
    def build(tf):
        return getattr(tf.image, name)(held(tf, photograph()), *arguments)

    return build


for _name, *_arguments in (
    ["flip_left_right"],
    ["central_crop", 0.5],
    ["adjust_brightness", 0.2],
    ["adjust_contrast", 1.5],
    ["adjust_hue", 0.1],
    ["adjust_saturation", 1.5],
    ["per_image_standardization"],
    ["rgb_to_grayscale"],
    ["resize_image_with_crop_or_pad", 200, 400],
):
    ALONE[_name] = changed(_name, *_arguments)


def built(tf, name, size):
    """A call that runs a case once."""
    with tf.Graph().as_default():
        drawn = STRINGS[name](tf, size) if name in STRINGS else ALONE[name](tf)
        sess = tf.Session()
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        # A group of them would not do: an op whose result nobody takes is left out of it.
        return sess.make_callable([tensor.op for tensor in tf.nest.flatten(drawn, expand_composites=True)])


def seconds(call, while_):
    """The shortest time of one call."""
    best, end = float("inf"), time.perf_counter() + while_
    while time.perf_counter() < end or best == float("inf"):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def serve():
    """Answer lines [name, size, seconds] with the time of a run, until there are none."""
    try:
        import tensorflow as tf
    except ImportError:
        import everflow as tf
    kept = None
    for line in sys.stdin:
        name, size, while_ = json.loads(line)
        if kept is None or kept[0] != (name, size):
            RANDOM.seed(0)
            kept = (name, size), built(tf, name, size)
            seconds(kept[1], 0.4)  # code that is made in the background is there by then
        print("time", seconds(kept[1], while_), flush=True)


class Worker:
    """A process that measures, under some interpreter."""

    def __init__(self, python):
        command = [python, "-W", "ignore", __file__, "--serve"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True
        )

    def ask(self, *question):
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("time "):
                return float(line[5:])
        return float("nan")

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def measure(workers, name, size, turns=4, while_=0.1):
    times = [[] for _ in workers]
    for _ in range(turns):
        for worker, found in zip(workers, times):
            found.append(worker.ask(name, size, while_))
    return [min(found) for found in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100000])
    parser.add_argument("--against")
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    pythons = [sys.executable] + ([arguments.against] if arguments.against else [])
    names = arguments.names or [*STRINGS, *ALONE]
    ratios = []
    workers = [Worker(python) for python in pythons]
    for name in names:
        for size in arguments.sizes if name in STRINGS else [1]:
            times = measure(workers, name, size)
            line = f"{name:32} {size:7}" + "".join(f" {1e6 * t:12.1f} us" for t in times)
            if len(times) > 1:
                ratios.append(times[1] / times[0])
                line += f" {ratios[-1]:8.2f}x"
            print(line, flush=True)
    for worker in workers:
        worker.close()
    if ratios:
        print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}x, least {min(ratios):.2f}x")
    return None


if __name__ == "__main__":
    main()
