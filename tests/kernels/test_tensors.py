"""Between numpy and torch: every type there and back, memory shared where it can be."""

import ml_dtypes
import numpy as np
import pytest
import torch

from everflow.framework import dtypes
from everflow.kernels import tensors

PLAIN = "float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128".split()


@pytest.mark.parametrize("name", PLAIN)
def test_plain_types_share_their_memory(name):
    array = np.arange(6).reshape(2, 3).astype(name)
    tensor = tensors.from_numpy(array)
    assert tensor.dtype is tensors.torch_dtype(name) and tensor.data_ptr() == array.ctypes.data
    back = tensors.to_numpy(tensor)
    assert back.dtype == array.dtype and back.ctypes.data == array.ctypes.data


def test_bfloat16():
    array = np.array([1.5, -2.0, 3e38], ml_dtypes.bfloat16)
    tensor = tensors.from_numpy(array)
    assert tensor.dtype is torch.bfloat16 and tensor.tolist() == array.astype(np.float32).tolist()
    assert tensors.to_numpy(tensor).dtype == array.dtype
    np.testing.assert_array_equal(tensors.to_numpy(tensor), array)


@pytest.mark.parametrize("dtype", [dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32])
def test_quantized_types_are_their_integers(dtype):
    structured = np.array([(1,), (2,)], dtype.as_numpy_dtype)
    tensor = tensors.from_numpy(structured)
    assert tensor.dtype is tensors.torch_dtype(dtype) and tensor.tolist() == [1, 2]
    assert tensors.to_numpy(tensor, dtype).dtype == structured.dtype
    assert tensors.to_numpy(tensor).dtype.names is None


def test_words_stay_as_they_are():
    words = np.array([b"a", b"b"], object)
    assert tensors.from_numpy(words) is words and tensors.to_numpy(words) is words


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6)[::-1],
        np.arange(6).astype(">i4"),
        np.broadcast_to(np.float32(3), (2, 2)),
        np.frombuffer(b"\x01\x02\x03", np.uint8),
    ],
)
def test_what_torch_can_not_hold_is_copied(array):
    before = array.copy()
    tensor = tensors.from_numpy(array)
    assert tensor.tolist() == array.tolist()
    tensor.fill_(0)
    np.testing.assert_array_equal(array, before)


def test_lazy_conjugates_are_resolved():
    z = torch.tensor([1 + 2j])
    assert tensors.to_numpy(z.conj()).tolist() == [1 - 2j]
    assert tensors.to_numpy(z.conj().imag).tolist() == [-2.0]


def test_references_have_the_type_of_what_they_refer_to():
    assert tensors.torch_dtype(dtypes.float32_ref) is torch.float32
    with pytest.raises(KeyError):
        tensors.torch_dtype(dtypes.string)
