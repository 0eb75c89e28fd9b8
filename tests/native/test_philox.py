"""The random numbers of native code are those of the kernels, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir

from everflow.framework import dtypes
from everflow.kernels.random.distributions import normal, uniform
from everflow.kernels.random.philox import Philox
from everflow.native import normals, philox
from everflow.native.formulas import FLOAT
from tests.native.vector_loops import TYPES, calls, compile_loop, loop, machine, optimized

WORD = ir.IntType(64)
MASK = (1 << 64) - 1


def written(place: Philox, type: ir.Type):
    """The function that writes a value of this place, by its index."""
    key, low, high = (WORD(part) for part in (place.key, place.counter & MASK, place.counter >> 64))
    return lambda builder, index: philox.uniform(builder, type, key, low, high, index)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "place",
    [
        Philox.from_seeds(87654321, 12345),
        Philox.from_stateless_seed(-3, 7),
        Philox(MASK, (5 << 64) | MASK - 10),  # the lower half of the counter runs over
        Philox(1 << 63, (1 << 128) - 3),  # all of it does
    ],
)
def test_same_numbers_as_the_kernel(place, dtype):
    type = TYPES[np.dtype(dtype)]
    made = compile_loop(written(place, type), WORD, 1, result=type)
    got = made(np.arange(1003), out=np.empty(1003, dtype))
    np.testing.assert_array_equal(got, uniform(place, [1003], dtypes.as_dtype(dtype)).numpy())


@pytest.mark.parametrize("place", [Philox.from_seeds(87654321, 12345), Philox.from_stateless_seed(-3, 7)])
def test_same_normal_numbers_as_the_kernel(place):
    key, low, high = (WORD(part) for part in (place.key, place.counter & MASK, place.counter >> 64))
    made = compile_loop(lambda b, i: normals.normal(b, key, low, high, i), WORD, 1, result=FLOAT)
    got = made(np.arange(100_001), out=np.empty(100_001, np.float32))
    np.testing.assert_array_equal(got, normal(place, [100_001], dtypes.float32).numpy())


def test_normal_numbers_of_blocks():
    place = Philox.from_seeds(5, 6)
    key, low, high = (WORD(part) for part in (place.key, place.counter & MASK, place.counter >> 64))
    wanted = normal(place, [100, 4], dtypes.float32).numpy()
    for i in range(4):

        def value(builder, number, i=i):
            return normals.normals(philox.block(builder, key, low, high, number))[i]

        got = compile_loop(value, WORD, 1, result=FLOAT)(np.arange(100), out=np.empty(100, np.float32))
        np.testing.assert_array_equal(got, wanted[:, i])


def test_words_of_a_block():
    place = Philox.from_seeds(11, 22)
    key, low, high = (WORD(part) for part in (place.key, place.counter & MASK, place.counter >> 64))
    for i in range(4):

        def word(builder, number, i=i):
            return philox.block(builder, key, low, high, number)[i].value

        got = compile_loop(word, WORD, 1)(np.arange(100))
        np.testing.assert_array_equal(got, place.words(100)[:, i])


@pytest.mark.parametrize("type", TYPES.values())
def test_vectors(type):
    target = machine("haswell", "x86_64-unknown-linux-gnu")
    text = target.emit_assembly(optimized(loop(written(Philox(1, 2), type), WORD, 1, type), target))
    assert not calls(text)
    assert "vpmuludq" in text and "ymm" in text
