"""Broken files, rows and messages, and what reading them comes to: values, or types of errors, element by element.

python tests/kernels/io/broken_inputs.py FILE    with the TensorFlow 1.x of this interpreter, into a file
"""

import base64
import json
import os
import struct
import sys
import tempfile
import zlib

import numpy as np

# Eight by twelve pixels.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19i"
    "Z2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj"
    "Y2NjY2NjY2P/wAARCAAIAAwDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF"
    "BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW"
    "V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi"
    "4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC"
    "AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVm"
    "Z2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq"
    "8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDA0q0zt4rrLax/cjiiislRhU1kc+YUIKWx/9k="
)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + crc32c(length) + data + crc32c(data)


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) & 0xFFFFFFFF)

    rows = b"".join(b"\0" + bytes(bytearray((7 * y + 3 * x) % 256 for x in range(18))) for y in range(5))
    header = struct.pack(">IIBBBBB", 6, 5, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def gif():
    palette = bytes(bytearray([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]))
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 2, 2, 0) + b"\x02\x03\x44\x02\x05\x00"
    return b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0x91, 0, 0) + palette + image + b";"


def bmp():
    pixels = bytes(bytearray(range(24)))
    head = struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54)
    return b"BM" + head + struct.pack("<IiiHHIIiiII", 40, 2, 3, 1, 24, 0, 24, 0, 0, 0, 0) + pixels


def changed(data, at, by=0x55):
    return data[:at] + bytes(bytearray([ord(data[at : at + 1]) ^ by])) + data[at + 1 :]


def shown(value):
    """A result in a few words."""
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    array = np.asarray(value)
    if array.dtype == object:
        return repr(array.tolist())
    if array.size > 20:
        checksum = zlib.crc32(np.ascontiguousarray(array).tobytes()) & 0xFFFFFFFF
        return f"{array.dtype} {list(array.shape)} {checksum}"
    return f"{array.dtype} {array.tolist()}"


def outcome(tf, call, *arguments):
    try:
        return shown(call(*arguments))
    except tf.errors.OpError as error:
        return type(error).__name__


def outcomes(tf, following, most=12):
    """What comes, to the end or so many times."""
    found = []
    with tf.Session() as sess:
        sess.run([tf.local_variables_initializer(), tf.tables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        for _ in range(most):
            found.append(outcome(tf, sess.run, following))
            if found[-1] == "OutOfRangeError":
                break
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5, ignore_live_threads=True)
    return found


def of_dataset(tf, dataset):
    return outcomes(tf, tf.compat.v1.data.make_one_shot_iterator(dataset).get_next())


# --- images


def images():
    found = {}
    for kind, data in (("jpeg", JPEG), ("png", png()), ("gif", gif()), ("bmp", bmp())):
        found[kind] = data
        for part in (1, 4, 12, 30, 40, len(data) // 2, len(data) - 6, len(data) - 2, len(data) - 1):
            found[f"{kind} of {part} bytes"] = data[:part]
        for at in (0, 2, 10, 18, 26, 40, len(data) // 2, len(data) - 8, len(data) - 1):
            found[f"{kind} changed at {at}"] = changed(data, at)
        found[kind + " and more"] = data + b"more"
    found.update({"empty": b"", "text": b"no image at all, but long enough to look like one"})
    return found


def decoded(tf, folder):
    decoders = {
        "decode_jpeg": tf.image.decode_jpeg,
        "try_recover_truncated": lambda data: tf.image.decode_jpeg(data, try_recover_truncated=True),
        "decode_png": tf.image.decode_png,
        "decode_gif": tf.image.decode_gif,
        "decode_bmp": tf.image.decode_bmp,
        "decode_image": tf.image.decode_image,
        "extract_jpeg_shape": tf.image.extract_jpeg_shape,
    }
    found = {}
    for name, decode in decoders.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            data = tf.placeholder(tf.string, [])
            image = decode(data)
            given = {what: content for what, content in images().items() if is_asked(name, what)}
            found[name] = {what: outcome(tf, sess.run, image, {data: content}) for what, content in given.items()}
    return found


def is_asked(decoder, image):
    """TensorFlow's decoder of BMP goes by what it saw first; what is recovered depends on the release of libjpeg."""
    if decoder == "decode_bmp":
        return image.startswith("bmp")
    return decoder != "try_recover_truncated" or image not in ("jpeg of 644 bytes", "jpeg of 649 bytes")


def decoded_in_datasets(tf, folder):
    contents = [JPEG, JPEG[:60], changed(JPEG, 0), JPEG, b"", png(), png()[:40], JPEG, JPEG]
    found = {}
    for calls in (None, 2):
        dataset = tf.data.Dataset.from_tensor_slices(contents)
        dataset = dataset.map(
            lambda data: tf.reduce_sum(tf.cast(tf.image.decode_jpeg(data, channels=3), tf.int32)), calls
        )
        for name, made in {
            "alone": dataset,
            "ignoring errors": dataset.apply(tf.data.experimental.ignore_errors()),
            "in batches": dataset.batch(2),
            "batches ignoring errors": dataset.batch(2).apply(tf.data.experimental.ignore_errors()),
            "ahead": dataset.prefetch(2),
        }.items():
            found[f"{name}, {calls} calls"] = of_dataset(tf, made)
    return found


# --- records

RECORDS = [b"first", b"the second record", b"", b"x" * 40, b"last"]


def record_files():
    whole = b"".join(map(record, RECORDS))
    second = len(record(RECORDS[0]))
    fourth = second + len(record(RECORDS[1])) + len(record(RECORDS[2]))
    return {
        "whole": whole,
        "length changed": changed(whole, second + 1),
        "checksum of length changed": changed(whole, second + 9),
        "data changed": changed(whole, second + 15),
        "checksum of data changed": changed(whole, second + 12 + len(RECORDS[1]) + 1),
        "cut in length": whole[: fourth + 3],
        "cut in checksum of length": whole[: fourth + 10],
        "cut in data": whole[: fourth + 12 + 10],
        "cut before footer": whole[: fourth + 12 + 40],
        "cut in footer": whole[: fourth + 12 + 40 + 2],
        "cut before end": whole[:-1],
        "empty": b"",
        "no records": b"neither length nor checksum, just text",
    }


def gzipped(data):
    pack = zlib.compressobj(6, zlib.DEFLATED, 31)
    return pack.compress(data) + pack.flush()


def compressed_files():
    whole = b"".join(map(record, RECORDS))
    found = {}
    for kind, pack in (("GZIP", gzipped), ("ZLIB", zlib.compress)):
        data = pack(whole)
        found[kind] = {
            "whole": data,
            "broken record in it": pack(changed(whole, len(record(RECORDS[0])) + 15)),
            "cut": data[: len(data) // 2],
            "cut at the end": data[:-3],
            "changed": changed(data, len(data) // 2),
            "changed head": changed(data, 0),
            "not compressed": whole,
            "empty": b"",
        }
    return found


def written(folder, name, data):
    path = os.path.join(folder, name.replace(" ", "_"))
    with open(path, "wb") as file:
        file.write(data)
    return path


def of_reader(tf, paths):
    names = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
    key, value = tf.TFRecordReader().read(names)
    return outcomes(tf, value)


def of_iterator(tf, path):
    found = []
    try:
        for value in tf.python_io.tf_record_iterator(path):
            found.append(shown(value))
    except tf.errors.OpError as error:
        found.append(type(error).__name__)
    return found


def recorded(tf, folder):
    found = {}
    good = written(folder, "good", b"".join(map(record, RECORDS[:2])))
    for name, data in record_files().items():
        path = written(folder, name, data)
        dataset = tf.data.TFRecordDataset([path, good])
        found[name] = {
            "dataset": of_dataset(tf, dataset),
            "map": of_dataset(tf, dataset.map(tf.strings.length)),
            "map of two": of_dataset(tf, dataset.map(tf.strings.length, 2)),
            "batch": of_dataset(tf, dataset.batch(2)),
            "ignoring errors": of_dataset(tf, dataset.apply(tf.data.experimental.ignore_errors())),
            "iterator": of_iterator(tf, path),
        }
        with tf.Graph().as_default():
            found[name]["reader"] = of_reader(tf, [path, good])
    return found


def unpacked(tf, folder):
    found = {}
    for kind, files in compressed_files().items():
        for name, data in files.items():
            path = written(folder, kind + name, data)
            found[f"{kind}, {name}"] = of_dataset(tf, tf.data.TFRecordDataset(path, kind))
    return found


# --- rows of CSV

ROWS = [
    b"1,2.5,a", b"1,2.5", b"1,2.5,a,b", b",,", b"x,2.5,a", b"1,x,a", b'1,2.5,"a', b'1,2.5,"a"b', b'1,2.5,a"b',
    b'1,2.5,"a""b"', b"", b"99999999999,1,a", b"1,1e400,a", b" 1,2,a", b"1 ,2,a", b"0x10,1,a", b"1.5,1,a", b"1,nan,a",
    b"1,2.5,a\n", b"1,2.5,a\r\n", b'"1","2.5","a"', b"1;2.5;a", b"-1,-2,", b"+1,+2,a",
]  # fmt: skip


def rows(tf, folder):
    line = tf.placeholder(tf.string)
    forms = {
        "defaults": tf.decode_csv(line, [[7], [0.5], ["-"]]),
        "required": tf.decode_csv(
            line, [tf.constant([], tf.int32), tf.constant([], tf.float32), tf.constant([], tf.string)]
        ),
        "without quotes": tf.decode_csv(line, [[7], [0.5], ["-"]], use_quote_delim=False),
        "double": tf.decode_csv(
            line, [tf.constant([1], tf.int64), tf.constant([1.0], tf.float64), ["-"]], na_value="nan"
        ),
    }
    found = {}
    with tf.Session() as sess:
        for name, form in forms.items():
            found[name] = {repr(row)[-30:]: outcome(tf, sess.run, form, {line: row}) for row in ROWS}
        together = [ROWS[0], ROWS[9], ROWS[3]]
        for i, bad in enumerate(ROWS):
            given = np.array(together[:1] + [bad] + together[1:], object)
            found[f"row {i} among others"] = outcome(tf, sess.run, forms["defaults"], {line: given})
    read = lambda row: tf.decode_csv(row, [[7], [0.5], ["-"]])  # noqa: E731
    for calls in (None, 2):
        dataset = tf.data.Dataset.from_tensor_slices(ROWS[:9]).map(read, calls)
        found[f"dataset, {calls} calls"] = of_dataset(tf, dataset)
        found[f"batches, {calls} calls"] = of_dataset(tf, dataset.batch(2))
        found[f"ignoring errors, {calls} calls"] = of_dataset(tf, dataset.apply(tf.data.experimental.ignore_errors()))
    return found


# --- messages


def messages(tf):
    def feature(**lists):
        return tf.train.Feature(**lists)

    good = tf.train.Example(
        features=tf.train.Features(
            feature={
                "a": feature(int64_list=tf.train.Int64List(value=[3, 4])),
                "b": feature(float_list=tf.train.FloatList(value=[0.5])),
                "c": feature(bytes_list=tf.train.BytesList(value=[b"text", b"more"])),
            }
        )
    )
    other = tf.train.Example(
        features=tf.train.Features(feature={"a": feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))})
    )
    short = tf.train.Example(
        features=tf.train.Features(feature={"a": feature(int64_list=tf.train.Int64List(value=[3]))})
    )
    blank = tf.train.Example(features=tf.train.Features(feature={"a": feature()}))
    one = tf.train.Example(
        features=tf.train.Features(feature={"a": feature(int64_list=tf.train.Int64List(value=[3, 4]))})
    )
    data = one.SerializeToString()
    return {
        "good": good.SerializeToString(deterministic=True),
        "cut": data[:-3],
        "cut early": data[:3],
        "changed tag": changed(data, 0),
        "changed length": changed(data, 1),
        "changed inside": changed(data, len(data) - 4),
        "no message": b"no message",
        "empty": b"",
        "of another kind": other.SerializeToString(),
        "too few values": short.SerializeToString(),
        "without a kind": blank.SerializeToString(),
        "twice": data + data,
    }


def parsed(tf, folder):
    given = messages(tf)
    features = {"a": tf.FixedLenFeature([2], tf.int64), "c": tf.VarLenFeature(tf.string)}
    with_default = {
        "a": tf.FixedLenFeature([2], tf.int64, [8, 9]),
        "b": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    }
    line, lines = tf.placeholder(tf.string, []), tf.placeholder(tf.string, [None])
    flat = tf.contrib.framework.nest.flatten
    forms = {"required": features, "with a default": with_default}
    found = {}
    with tf.Session() as sess:
        for what, wanted in forms.items():
            single = flat(tf.parse_single_example(line, {k: v for k, v in wanted.items() if k != "b"}))
            batch = flat(tf.parse_example(lines, wanted))
            found["single, " + what] = {
                name: outcome(tf, sess.run, single, {line: data}) for name, data in given.items()
            }
            found["batch, " + what] = {
                name: outcome(tf, sess.run, batch, {lines: [given["good"], data, given["good"]]})
                for name, data in given.items()
            }
    contents = [
        given[k] for k in ("good", "cut", "good", "too few values", "no message", "good", "of another kind", "good")
    ]
    for calls in (None, 2):
        dataset = tf.data.Dataset.from_tensor_slices(contents)
        dataset = dataset.map(lambda data: tf.parse_single_example(data, {"a": features["a"]})["a"], calls)
        found[f"dataset, {calls} calls"] = of_dataset(tf, dataset)
        found[f"batches, {calls} calls"] = of_dataset(tf, dataset.batch(2))
        found[f"ignoring errors, {calls} calls"] = of_dataset(tf, dataset.apply(tf.data.experimental.ignore_errors()))
    return found


GROUPS = {f.__name__: f for f in (decoded, decoded_in_datasets, recorded, unpacked, rows, parsed)}


def run(tf, name):
    """What a group of inputs comes to."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return GROUPS[name](tf, folder)


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump({name: run(tensorflow, name) for name in GROUPS}, file, indent=1, sort_keys=True)
