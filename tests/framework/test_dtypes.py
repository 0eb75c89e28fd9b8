"""Types of tensors: what stands for one, and what is known of each."""

import copy
import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.framework import dtypes

ALL = [t for t in dtypes._INTERN.values() if not t._is_ref_dtype]


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (float, tf.float32),
        (bool, tf.bool),
        (object, tf.string),
        (np.float16, tf.float16),
        (np.dtype(">i4"), tf.int32),
        ("float", tf.float32),
        ("half", tf.float16),
        ("double", tf.float64),
        (1, tf.float32),
        (np.str_, tf.string),
        (np.bytes_, tf.string),
        (np.dtype("S3"), tf.string),
        (np.object_, tf.string),
        ("half_ref", tf.float16._as_ref),
        (101, tf.float32._as_ref),
        (tf.int32, tf.int32),
    ],
)
def test_what_stands_for_a_type(given, dtype):
    assert tf.as_dtype(given) is dtype


@pytest.mark.parametrize(
    "given", [int, str, complex, 0, 99, "S3", "no", None, [], np.dtype([("a", int)]), np.timedelta64]
)
def test_what_stands_for_none(given):
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.as_dtype(given)


@pytest.mark.parametrize("dtype", ALL, ids=lambda t: t.name)
def test_every_type_is_found_by_its_names_and_is_one_object(dtype):
    for form in (dtype.name, dtype.as_datatype_enum, dtype._as_ref.base_dtype):
        assert tf.as_dtype(form) is dtype
    assert dtypes.BY_ENUM_NAME[dtype.enum_name] is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype and copy.deepcopy(dtype) is dtype
    assert eval(repr(dtype), {"tf": tf}) is dtype
    if dtype not in (tf.resource, tf.variant):
        assert tf.as_dtype(dtype.as_numpy_dtype) is dtype


@pytest.mark.parametrize(
    ("property_name", "names"),
    [
        ("is_floating", "float16 float32 float64 bfloat16"),
        ("is_integer", "int8 int16 int32 int64 uint8 uint16 uint32 uint64"),
        ("is_unsigned", "uint8 uint16 uint32 uint64"),
        ("is_complex", "complex64 complex128"),
        ("is_quantized", "qint8 quint8 qint16 quint16 qint32"),
        ("is_bool", "bool"),
    ],
)
def test_each_type_is_of_one_kind(property_name, names):
    assert {t.name for t in ALL if getattr(t, property_name)} == set(names.split())
    assert {t.name for t in ALL if getattr(t._as_ref, property_name)} == set(names.split())


def test_sizes():
    sizes = {
        "float16": 2,
        "bfloat16": 2,
        "int64": 8,
        "bool": 1,
        "qint8": 1,
        "quint16": 2,
        "complex64": 8,
        "resource": 1,
    }
    assert {name: tf.as_dtype(name).size for name in sizes} == sizes
    assert tf.string.size == np.dtype(object).itemsize


def test_limits():
    assert (tf.int8.min, tf.int8.max) == (-128, 127)
    assert tf.uint64.max == 2**64 - 1 and tf.float16.max == np.float16(65500)
    assert float(tf.bfloat16.max) == -float(tf.bfloat16.min) == float.fromhex("0x1.FEp127")
    assert tf.int8.limits == (0, 127) and tf.float32.limits == (0, 1)
    for dtype in (tf.bool, tf.string, tf.complex64, tf.qint8, tf.resource):
        with pytest.raises(TypeError, match="Cannot find"):
            dtype.max  # noqa: B018
        with pytest.raises(KeyError):
            dtype.limits  # noqa: B018


def test_parts_of_complex_numbers():
    assert (tf.complex64.real_dtype, tf.complex128.real_dtype, tf.int8.real_dtype) == (tf.float32, tf.float64, tf.int8)


def test_a_reference_stands_for_its_base_and_not_the_other_way():
    ref = tf.float32._as_ref
    assert tf.float32.is_compatible_with(ref) and not ref.is_compatible_with(tf.float32)
    assert ref != tf.float32 and ref.base_dtype is tf.float32 and ref.name == "float32_ref"


def test_comparison_takes_whatever_stands_for_a_type():
    assert tf.float32 == "float32" and tf.float32 == np.float32 and tf.float32 == 1
    assert tf.float32 != "zzz" and tf.float32 != None and tf.float32 != object()  # noqa: E711
    assert {tf.float32: 1}[tf.as_dtype("float32")] == 1
