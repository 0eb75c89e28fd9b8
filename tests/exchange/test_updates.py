"""Optimizers change variables and slots as TensorFlow 1.15.5 does, bit for bit where no square root of single precision
is taken.
"""

import json
import pathlib
import sys

import numpy as np
import pytest

import everflow as tf

sys.path.insert(
    0, str(pathlib.Path(__file__).parent)
)  # the files with programs also run by themselves, under another Python
import updates

GOLDEN = json.loads(pathlib.Path(updates.GOLDEN).read_text())
PROGRAMS = updates.programs()
ADAM = "one pass over memory, which rounds less often: eight that round as TensorFlow does take eight times as long"
ROOTS = "Eigen's square root of single precision is not rounded to the nearest"
NOT_TO_THE_BIT = {
    **{f"adam {dtype}": ADAM for dtype in ("float32", "float64")},
    **{f"{name} float32": ROOTS for name in ("adagrad", "rmsprop", "centered rmsprop", "ftrl", "adadelta")},
}


def test_every_program_is_recorded():
    assert set(PROGRAMS) == set(GOLDEN)


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_those_recorded(name):
    found, expected = [updates.summary(array) for array in PROGRAMS[name](tf, None)], GOLDEN[name]
    if name.rsplit(" ", 1)[0] not in NOT_TO_THE_BIT:
        assert found == expected
        return
    for mine, other in zip(found, expected, strict=True):
        assert mine[:2] == other[:2]
        values = [np.frombuffer(bytes.fromhex(one[3]), one[0]) for one in (mine, other)]
        np.testing.assert_allclose(*values, rtol=1e-12 if mine[0] == "float64" else 1e-5)


@pytest.mark.oracle
def test_tensorflow_gives_what_is_recorded(oracle, tmp_path):
    folder = str(pathlib.Path(updates.GOLDEN).parent)
    oracle(
        f"import sys; sys.path.insert(0, {folder!r})\n"
        "import json, updates, tensorflow\n"
        "json.dump(updates.recorded(tensorflow), open('found.json', 'w'))\n"
    )
    assert json.loads((tmp_path / "found.json").read_text()) == GOLDEN
