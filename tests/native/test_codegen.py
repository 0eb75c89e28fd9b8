"""Compiled regions beside numpy."""

import os
import subprocess
import sys

import numpy as np
import pytest

from everflow.native import team, toolchain
from everflow.native.codegen import SHARED_WORK, Writer
from everflow.native.values import apply, const, input_value
from tests.native.expressions import Drawn, compare, compiled

RANDOM = np.random.RandomState(0)


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_random_regions_have_the_bits_of_numpy(start):
    for seed in range(start, start + 10):
        compare(seed)


def test_threads_share_long_passes_and_change_no_bit():
    x = RANDOM.randn(SHARED_WORK // 20).astype("f4")
    value = input_value(0, "f4", x.shape)
    outputs = [apply("tanh", value * 1.5), apply("exp", value).reduce("sum", [0])]
    one, many = compiled(outputs, [x], 1), compiled(outputs, [x], 4)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[0], np.tanh(x * np.float32(1.5)), rtol=1e-6)


def test_regions_of_one_module_share_loops_and_keep_their_sizes():
    """Two passes that differ in their length only are one function; each is called with its own length."""
    writer = Writer()
    sizes = [SHARED_WORK, SHARED_WORK // 2, 5]
    entries = [writer.add([input_value(0, "f4", [n]) * 2.0 + 1.0], 1) for n in sizes]
    assert len(writer.functions) < len(sizes)
    file = toolchain.Loaded(toolchain.object_code(writer.text()), [e.name for e in entries])
    for size, entry in zip(sizes, entries, strict=True):
        x = np.arange(size, dtype="f4")
        guarded = np.full(size + 64, 77, "f4")
        file.function(entry.name)(x.ctypes.data, guarded.ctypes.data, 0, 2)
        np.testing.assert_array_equal(guarded[:size], x * 2 + 1)
        assert (guarded[size:] == 77).all()


def test_a_constant_alone_fills_its_output():
    assert compiled([const(3, "i4").expand([2, 2]) + input_value(0, "i4", [2, 2])], [np.ones((2, 2), "i4")])[
        0
    ].tolist() == [
        [4, 4],
        [4, 4],
    ]


def test_drawn_regions_have_something_in_them():
    assert sum(len(Drawn(seed).outputs) for seed in range(20)) > 30


def test_without_a_team_nothing_of_it_is_called():
    value = input_value(0, "f4", [SHARED_WORK])
    alone, shared = Writer(shares=False), Writer()
    for writer in (alone, shared):
        writer.add([value * 2.0], 1)
    assert team.STATE in shared.text() and team.STATE not in alone.text()


def test_code_is_the_same_in_every_process():
    """So that the second one finds what the first had made."""
    program = (
        "from everflow.native.codegen import Writer; from tests.native.expressions import Drawn; writer = Writer()\n"
        "for seed in range(30): drawn = Drawn(seed); writer.add(drawn.outputs, len(drawn.inputs))\n"
        "import hashlib; print(hashlib.sha256(writer.text().encode()).hexdigest())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1
