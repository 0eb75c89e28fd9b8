"""Records that compiled loops parse come out as those that protobuf parses: values, and errors for broken ones."""

import random

import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.shapes import TensorShape
from everflow.kernels.io import compiled_examples, examples
from everflow.protos import example_pb2, feature_pb2

INT, FLOAT, STRING = dtypes.int64, dtypes.float32, dtypes.string


@pytest.fixture(scope="module")
def code():
    library = compiled_examples._RECORDS
    before = library.code
    library.make()
    yield library.code
    library.code = before


def strings(values):
    array = np.empty(np.shape(values), object)
    array[...] = values
    return array


def feature(kind, values):
    made = feature_pb2.Feature()
    if kind is not None:
        getattr(made, kind).SetInParent()
        getattr(made, kind).value.extend(values)
    return made


def random_feature(rng, kinds=("int64_list", "float_list", "bytes_list", None), most=4):
    kind = rng.choice(kinds)
    count = rng.randrange(most + 1)
    values = {
        "int64_list": lambda: rng.choice([0, 1, -1, 127, 128, 300, -(2**63), 2**63 - 1, rng.getrandbits(40)]),
        "float_list": lambda: rng.choice([0.0, -1.5, 3.25e30, float("inf")]),
        "bytes_list": lambda: rng.randbytes(rng.choice([0, 1, 5, 200])),
        None: None,
    }[kind]
    return feature(kind, [values() for _ in range(count)] if values else [])


KEYS = ["a", "b", "a longer name of a feature", "d", "other"]


def random_example(rng, exact):
    """An Example; where `exact`, its features are of the kinds and sizes that are asked for."""
    made = example_pb2.Example()
    kinds = {"a": "int64_list", "b": "float_list", "a longer name of a feature": "bytes_list", "d": "int64_list"}
    for key in rng.sample(KEYS, rng.randrange(len(KEYS) + 1)):
        if exact and key in kinds:
            most = {"a": 2}.get(key, 6)
            found = random_feature(rng, (kinds[key],), most)
            if key == "a":
                found = feature("int64_list", [rng.getrandbits(20), -3])
        else:
            found = random_feature(rng)
        made.features.feature[key].CopyFrom(found)
    return made.SerializeToString()


def broken(rng, data):
    """Some bytes changed, cut off, put in or put twice."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        if not data:
            return bytes(data)
        at = rng.randrange(len(data))
        what = rng.randrange(5)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            del data[at:]
        elif what == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 12))
        elif what == 3:
            data += data[at:]
        else:
            data[at] ^= 1 << rng.randrange(8)
    return bytes(data)


def outcome(call):
    """What a kernel gives, as plain lists, or the error that it raises."""
    try:
        results = call()
    except InvalidArgumentError as error:
        return str(error)
    return [[(v.dtype, tuple(v.shape), repr(v.tolist())) for v in part] for part in results]


def both(code, call):
    """The outcomes without compiled code and with it, and whether it had been used."""
    library = compiled_examples._RECORDS
    library.code = None
    plain = outcome(call)
    library.code = code
    return plain, outcome(call)


def parse(batch):
    return examples.parse_example(
        strings(batch),
        strings([]),
        [strings(b"a longer name of a feature"), strings(b"d")],
        [strings(b"a"), strings(b"b")],
        [torch.tensor([7, 8]), torch.tensor(0.5)],
        sparse_types=[STRING, INT],
        Tdense=[INT, FLOAT],
        dense_shapes=[TensorShape([2]), TensorShape([None])],
    )


@pytest.mark.parametrize("seed", range(60))
def test_batches_of_examples(code, seed):
    rng = random.Random(seed)
    batch = [random_example(rng, exact=seed % 3 > 0) for _ in range(rng.randrange(1, 40))]
    plain, compiled = both(code, lambda: parse(batch))
    assert plain == compiled


def test_usual_batches_are_parsed_by_compiled_code(code, monkeypatch):
    rng = random.Random(0)
    batch = [random_example(rng, exact=True) for _ in range(100)]
    monkeypatch.setattr(examples, "lazy_features", None)
    compiled_examples._RECORDS.code = code
    assert parse(batch)[3][0].shape == (100, 2)


@pytest.mark.parametrize("seed", range(300))
def test_broken_examples(code, seed):
    rng = random.Random(seed)
    batch = [random_example(rng, exact=True) for _ in range(3)]
    at = rng.randrange(3)
    batch[at] = broken(rng, batch[at])
    plain, compiled = both(code, lambda: parse(batch))
    assert plain == compiled


def test_numbers_that_are_not_packed(code):
    entry = b"\x0a\x01a\x12\x07\x1a\x05\x08\x05\x08\xac\x02"
    other = b"\x0a\x01b\x12\x0c\x12\x0a\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40"
    features = b"\x0a" + bytes([len(entry)]) + entry + b"\x0a" + bytes([len(other)]) + other
    batch = [b"\x0a" + bytes([len(features)]) + features]
    plain, compiled = both(code, lambda: parse(batch))
    assert plain == compiled
    assert parse(batch)[3][0].tolist() == [[5, 300]] and parse(batch)[3][1].tolist() == [[1.0, 2.0]]


def test_a_missing_feature_without_a_default_is_an_error(code):
    def call():
        return examples.parse_example(
            strings([b"", b""]),
            strings([]),
            [],
            [strings(b"a")],
            [torch.zeros(0, dtype=torch.int64)],
            sparse_types=[],
            Tdense=[INT],
            dense_shapes=[TensorShape([2])],
        )

    plain, compiled = both(code, call)
    assert plain == compiled and "required" in plain


def test_text_defaults_and_padding(code):
    batch = [
        example_pb2.Example(features={"feature": {"a": feature("bytes_list", values)}}).SerializeToString()
        for values in ([b"x"], [b"x", b"yy", b"z"], [])
    ] + [b""]

    def call():
        return examples.parse_example(
            strings(batch),
            strings([]),
            [],
            [strings(b"a"), strings(b"c")],
            [strings(b"-"), strings([b"one", b"two"])],
            sparse_types=[],
            Tdense=[STRING, STRING],
            dense_shapes=[TensorShape([None]), TensorShape([2])],
        )

    plain, compiled = both(code, call)
    assert plain == compiled
    assert call()[3][0].tolist()[2] == [b"-", b"-", b"-"]


def random_sequence(rng, exact):
    made = example_pb2.SequenceExample()
    if exact or rng.randrange(2):
        made.context.feature["a"].CopyFrom(feature("int64_list", [1, 2]))
    for key in rng.sample(KEYS, rng.randrange(len(KEYS) + 1)):
        if key != "a":
            kind = {"b": "float_list", "d": "int64_list"}.get(key, "bytes_list")
            made.context.feature[key].CopyFrom(random_feature(rng, (kind,)) if exact else random_feature(rng))
    for key, kind, counts in (
        ("tokens", "int64_list", [1]),
        ("words", "bytes_list", [0, 1, 3]),
        ("xy", "float_list", [2]),
    ):
        if exact or rng.randrange(3):
            steps = made.feature_lists.feature_list[key].feature
            for _ in range(rng.randrange(4)):
                count = rng.choice(counts) if exact else rng.randrange(3)
                steps.append(feature(kind, [b"s" if kind == "bytes_list" else 1] * count))
    return made.SerializeToString()


def parse_sequences(batch):
    return examples.parse_sequence_example(
        strings(batch),
        strings([b"n%d" % i for i in range(len(batch))]),
        [torch.tensor([7, 8])],
        feature_list_dense_missing_assumed_empty=["xy"],
        context_sparse_keys=["d"],
        context_dense_keys=["a"],
        feature_list_sparse_keys=["words"],
        feature_list_dense_keys=["tokens", "xy"],
        context_sparse_types=[INT],
        Tcontext_dense=[INT],
        feature_list_dense_types=[INT, FLOAT],
        context_dense_shapes=[TensorShape([2])],
        feature_list_sparse_types=[STRING],
        feature_list_dense_shapes=[TensorShape([]), TensorShape([2])],
    )


def parse_sequence(data):
    return examples.parse_single_sequence_example(
        strings(data),
        strings([b"xy"]),
        [strings(b"d")],
        [strings(b"a")],
        [strings(b"words")],
        [strings(b"tokens"), strings(b"xy")],
        [torch.tensor([7, 8])],
        strings(b"name"),
        context_sparse_types=[INT],
        Tcontext_dense=[INT],
        feature_list_dense_types=[INT, FLOAT],
        context_dense_shapes=[TensorShape([2])],
        feature_list_sparse_types=[STRING],
        feature_list_dense_shapes=[TensorShape([]), TensorShape([2])],
    )


@pytest.mark.parametrize("seed", range(100))
def test_sequences(code, seed):
    rng = random.Random(seed)
    batch = [random_sequence(rng, exact=seed % 3 > 0) for _ in range(rng.randrange(1, 40))]
    plain, compiled = both(code, lambda: parse_sequences(batch))
    assert plain == compiled
    plain, compiled = both(code, lambda: parse_sequence(batch[0]))
    assert plain == compiled


@pytest.mark.parametrize("seed", range(200))
def test_broken_sequences(code, seed):
    rng = random.Random(seed)
    batch = [random_sequence(rng, exact=True) for _ in range(3)]
    batch[1] = broken(rng, batch[1])
    plain, compiled = both(code, lambda: parse_sequences(batch))
    assert plain == compiled
    plain, compiled = both(code, lambda: parse_sequence(batch[1]))
    assert plain == compiled


def test_usual_sequences_are_parsed_by_compiled_code(code, monkeypatch):
    rng = random.Random(0)
    batch = [random_sequence(rng, exact=True) for _ in range(50)]
    monkeypatch.setattr(examples, "lazy_features", None)
    compiled_examples._RECORDS.code = code
    assert parse_sequences(batch)[3][0].shape == (50, 2)
    assert parse_sequence(batch[0])[3][0].tolist() == [1, 2]
