"""Lists of strings as a tensor's content has them."""

import pytest

import everflow as tf
from everflow.formats import varints


@pytest.mark.parametrize("lengths", [[], [0], [1, 127, 128, 300], [70000]])
def test_strings_come_back(lengths):
    strings = [b"x" * n for n in lengths]
    packed = varints.encode_strings(strings)
    assert varints.decode_strings(packed, len(strings)) == strings
    for damaged in (packed + b"x", packed[:-1] if packed else b"y"):
        with pytest.raises(tf.errors.DataLossError):
            varints.decode_strings(damaged, len(strings))
