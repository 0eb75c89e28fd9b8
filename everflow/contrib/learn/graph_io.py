"""Examples read from files through queues, as input functions of tf.contrib.learn did before tf.data."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops.io.examples import parse_example
from everflow.ops.io.readers import TFRecordReader
from everflow.ops.queues.queues import FIFOQueue
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.train.input import batch_join, shuffle_batch_join, string_input_producer
from everflow.train.queue_runner import QueueRunner, add_queue_runner

_READING = """file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000, num_threads=1,
    read_batch_size=1, parse_fn=None, name=None, seed=None"""


def _file_names(file_pattern, randomize_input):
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = [name for pattern in patterns for name in file_io.get_matching_files(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    # Where they aren't shuffled, files come in a fixed order.
    return names if randomize_input else sorted(names)


@takes(_READING)
def read_keyed_batch_examples(file_pattern, batch_size, reader, **given):
    """(keys, serialized examples) of files, a batch at a time."""
    capacity = given["queue_capacity"]
    for what, number in (
        ("batch_size", batch_size),
        ("num_threads", given["num_threads"]),
        ("read_batch_size", given["read_batch_size"]),
    ):
        if not number or number <= 0:
            raise ValueError(f"Invalid {what} {number}.")
    if capacity <= batch_size:
        raise ValueError(f"Invalid queue_capacity {capacity}: it must be more than batch_size {batch_size}.")
    if given["num_epochs"] is not None and given["num_epochs"] <= 0:
        raise ValueError(f"Invalid num_epochs {given['num_epochs']}.")
    names = _file_names(file_pattern, given["randomize_input"])
    with name_scope(given["name"], "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as queue_scope:
            files = string_input_producer(
                convert_to_tensor(names, name="input"),
                shuffle=given["randomize_input"],
                num_epochs=given["num_epochs"],
                name=queue_scope,
            )
        examples = [
            _read(reader, files, given["read_batch_size"], given["parse_fn"]) for _ in range(given["num_threads"])
        ]
        enqueued_many = given["read_batch_size"] > 1 and given["parse_fn"] is None
        options = {"capacity": capacity, "enqueue_many": enqueued_many, "name": scope}
        options["allow_smaller_final_batch"] = given["num_epochs"] is not None
        if given["randomize_input"]:
            least = batch_size if batch_size * 10 > capacity else batch_size * 10
            queued = shuffle_batch_join(examples, batch_size, min_after_dequeue=least, seed=given["seed"], **options)
        else:
            queued = batch_join(examples, batch_size, **options)
        if given["parse_fn"] is None or not isinstance(queued, dict):
            return tuple(queued)
        keys = queued.pop("key_key")
        return keys, queued


def _read(reader, files, count, parse_fn):
    """One thread's reading: (key, example), or many of them; a dict where they are parsed at once."""
    with name_scope("read"):
        made = reader()
        if parse_fn is None:
            return made.read_up_to(files, count) if count > 1 else made.read(files)
        key, example = made.read(files)
        parsed = parse_fn(example)
        return {"key_key": key, **parsed} if isinstance(parsed, dict) else (key, parsed)


@takes(_READING)
def read_batch_examples(**given):
    """Serialized examples of files, a batch at a time."""
    return read_keyed_batch_examples(**given)[1]


@takes(_READING)
def read_keyed_batch_examples_shared_queue(**given):
    """As `read_keyed_batch_examples`: in one process all readers share the queue of file names."""
    return read_keyed_batch_examples(**given)


_FEATURES = """file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
    reader_num_threads=1, feature_queue_capacity=100, num_enqueue_threads=2, parse_fn=None, name=None,
    read_batch_size=None"""


@takes(_FEATURES)
def read_keyed_batch_features(file_pattern, batch_size, features, reader, **given):
    """(keys, features by name) of files, parsed a batch at a time."""
    with name_scope(given["name"], "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input=given["randomize_input"],
            num_epochs=given["num_epochs"],
            queue_capacity=given["queue_capacity"],
            num_threads=given["reader_num_threads"],
            read_batch_size=given["read_batch_size"] or batch_size,
            parse_fn=given["parse_fn"],
            name=scope,
        )
        if given["parse_fn"]:
            return keys, examples
        parsed = parse_example(examples, features)
        return queue_parsed_features(
            parsed,
            keys=keys,
            feature_queue_capacity=given["feature_queue_capacity"],
            num_enqueue_threads=given["num_enqueue_threads"],
            name=scope,
        )


@takes(_FEATURES.replace("num_enqueue_threads=2", "num_queue_runners=2").replace(",\n    read_batch_size=None", ""))
def read_keyed_batch_features_shared_queue(**given):
    """As `read_keyed_batch_features`, with one queue of file names."""
    return read_keyed_batch_features(num_enqueue_threads=given.pop("num_queue_runners"), **given)


@takes(
    """file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
    feature_queue_capacity=100, reader_num_threads=1, num_enqueue_threads=2, parse_fn=None, name=None,
    read_batch_size=None"""
)
def read_batch_features(**given):
    """Features by name of files, parsed a batch at a time."""
    return read_keyed_batch_features(**given)[1]


def read_batch_record_features(
    file_pattern,
    batch_size,
    features,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    reader_num_threads=1,
    name="dequeue_record_examples",
):
    """Features by name of TFRecord files, parsed a batch at a time."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        TFRecordReader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def queue_parsed_features(parsed_features, keys=None, feature_queue_capacity=100, num_enqueue_threads=2, name=None):
    """(keys, features by name) through a queue, so that batches are parsed ahead of their use."""
    names = sorted(parsed_features)
    parts, sizes = [], []
    for key in names:
        tensors = _dense_parts(parsed_features[key])
        parts += tensors
        sizes.append(len(tensors))
    if keys is not None:
        parts.append(keys)
    with name_scope(name, "queue_parsed_features", parts):
        queue = FIFOQueue(feature_queue_capacity, [part.dtype for part in parts])
        enqueue = [queue.enqueue(parts) for _ in range(num_enqueue_threads)]
        add_queue_runner(QueueRunner(queue, enqueue))
        found = queue.dequeue()
        found = found if isinstance(found, list) else [found]
    for tensor, part in zip(found, parts):
        tensor.set_shape(part.shape)
    result, position = {}, 0
    for key, size in zip(names, sizes):
        taken = found[position : position + size]
        result[key] = taken[0] if size == 1 else type(parsed_features[key])(*taken)
        position += size
    return (found[-1] if keys is not None else None), result


def _dense_parts(feature):
    """The tensors of a feature: one, or the three of a sparse one."""
    if hasattr(feature, "dense_shape"):
        return [feature.indices, feature.values, feature.dense_shape]
    return [feature]
