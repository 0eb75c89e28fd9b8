"""Features of records are parsed when they are asked for: what is broken elsewhere does no harm."""

import pytest

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.io import lazy_features
from everflow.protos import example_pb2

BROKEN_INSIDE = b"\n\x11\n\x0f\n\x05other\x12\x06\x8b\x04\n\x02\x7f\x00"


def test_features_by_name():
    example = example_pb2.Example()
    example.features.feature["a"].int64_list.value.extend([1, 2])
    example.features.feature["b"].SetInParent()
    found = lazy_features.of_example(example.SerializeToString())
    assert sorted(found) == ["a", "b"] and len(found) == 2 and "c" not in found
    assert list(found["a"].int64_list.value) == [1, 2]


def test_what_is_broken_is_told_when_it_is_asked_for():
    found = lazy_features.of_example(BROKEN_INSIDE)
    assert list(found) == ["other"]
    with pytest.raises(InvalidArgumentError, match="Could not parse example input"):
        found["other"]


def test_sequences():
    record = example_pb2.SequenceExample()
    record.context.feature["a"].float_list.value.append(0.5)
    record.feature_lists.feature_list["steps"].feature.add().bytes_list.value.append(b"x")
    context, lists = lazy_features.of_sequence(record.SerializeToString())
    assert list(context["a"].float_list.value) == [0.5]
    assert [list(f.bytes_list.value) for f in lists["steps"].feature] == [[b"x"]]


@pytest.mark.parametrize("data", [b"\n\x05ab", b"\n\xff"])
def test_bytes_that_are_no_record(data):
    with pytest.raises(InvalidArgumentError):
        lazy_features.of_example(data)
    with pytest.raises(InvalidArgumentError):
        lazy_features.of_sequence(data)


def test_fields_that_nobody_asked_for_are_passed_over():
    for data in (b"junk", b"\x08\x01", b"\x12\x02ab", b"\x12\x09ab", b"\x0d1234"):
        assert len(lazy_features.of_example(data)) == 0
    for data in (b"no message", b"\0", b"\x08", b"\x0d12", b"\x0f", b"\xff\xff"):
        with pytest.raises(InvalidArgumentError):
            lazy_features.of_example(data)


def test_lengths_beyond_the_end_are_those_to_the_end():
    entry = b"\x0a\x01a\x12\x06\x1a\x04\x0a\x02\x03\x04"
    for lengths in ((13, 11), (14, 11), (13, 12), (100, 11)):
        found = lazy_features.of_example(b"\x0a%c\x0a%c" % lengths + entry)
        assert list(found["a"].int64_list.value) == [3, 4]
    for lengths in ((12, 11), (13, 10)):
        with pytest.raises(InvalidArgumentError):
            lazy_features.of_example(b"\x0a%c\x0a%c" % lengths + entry)
