"""Seeded numbers and what is made of them, bit for bit those of TensorFlow 1.15.5 (`draws.py` has the programs,
`draws.json` its bits).
"""

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

import everflow as tf
from tests.exchange import draws

GOLDEN = json.loads(pathlib.Path(draws.GOLDEN).read_text())
PROGRAMS = draws.programs()
# Beginnings of names: why bits differ there. These agree to about six digits, in double precision to twelve.
NOT_TO_THE_BIT = {
    "initializer orthogonal": "Householder reflections are summed in another order than by Eigen",
    "initializer convolutional_": "made of orthogonal matrices",
    "gamma with beta": "TensorFlow multiplies by the reciprocal of a constant divisor",
    "random_contrast": "the mean of an image is summed in another order",
    "random_saturation": "the conversion of colours rounds elsewhere",
    "log_uniform candidates True": "expected counts by log1p and expm1 of single precision",
    "fixed_unigram candidates": "expected counts by log1p and expm1 of single precision",
    "distributions": "logarithms of single precision as Eigen's vectors compute them",
    "gumbel": "logarithms of single precision as Eigen's vectors compute them",
}


def _values(dtype, raw):
    return np.frombuffer(bytes.fromhex(raw), ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def _check(name, ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[:2] == other[:2]
        if not name.startswith(tuple(NOT_TO_THE_BIT)):
            assert mine[3] == other[3], (_values(mine[0], mine[3]), _values(other[0], other[3]))
            assert mine[2] == other[2]
        else:
            tolerance = 1e-12 if mine[0] == "float64" else 2e-6
            np.testing.assert_allclose(
                _values(mine[0], mine[3]), _values(other[0], other[3]), rtol=tolerance, atol=tolerance
            )


def test_every_program_is_recorded():
    assert set(PROGRAMS) == set(GOLDEN)
    assert all(any(name.startswith(start) for name in PROGRAMS) for start in NOT_TO_THE_BIT)


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_those_recorded(name):
    _check(name, [draws.summary(array) for array in draws.drawn(tf, PROGRAMS[name], tf.ConfigProto())], GOLDEN[name])


@pytest.mark.oracle
def test_tensorflow_gives_what_is_recorded(oracle, tmp_path):
    folder = str(pathlib.Path(draws.GOLDEN).parent)
    oracle(
        f"import sys; sys.path.insert(0, {folder!r})\n"
        "import json, draws, tensorflow\n"
        "json.dump(draws.recorded(tensorflow), open('found.json', 'w'))\n"
    )
    assert json.loads((tmp_path / "found.json").read_text()) == GOLDEN
