"""Regions that several threads run at once."""

from unittest import mock

import numpy as np
import pytest

from everflow.native import products, together, toolchain
from everflow.native.codegen import Writer
from everflow.native.values import apply, input_value, product, put
from everflow.runtime import threads
from tests.native.expressions import Drawn, compiled, evaluated

pytestmark = pytest.mark.skipif(
    not (toolchain.can_multiply() and toolchain.can_share()), reason="there is no BLAS, or threads can't share"
)

RANDOM = np.random.RandomState(0)


def cells(rows=20, width=96, steps=3):
    """A little network unrolled over some steps, with a gradient; its inputs."""
    x, weights = input_value(0, "f4", [rows, width]), input_value(1, "f4", [width, width])
    state, states = x, []
    for _ in range(steps):
        states.append(state)
        state = apply("tanh", product(state, weights) * 0.1)
    back = state
    total = product(states[-1].permute([1, 0]), back)
    for before in reversed(states[:-1]):
        back = product(back, weights.permute([1, 0])) * (1.0 - before * before)
        total = total + product(before.permute([1, 0]), back)
    given = [RANDOM.randn(rows, width).astype("f4"), RANDOM.randn(width, width).astype("f4")]
    return [state, total, back.reduce("sum", [0])], given, (weights - total * 0.01, weights)


@pytest.mark.parametrize("rows", [1, 20, 130])
def test_bits_do_not_depend_on_the_number_of_threads(rows):
    before = threads.use(1)  # as runs that have one thread do: the BLAS would take more
    with mock.patch.multiple(together, ENOUGH=0, WORTH_SHARING=64):
        outputs, given, update = cells(rows)
        shown = [compiled(outputs, given, count, [update]) for count in (1, 2, 3, 7)]
    threads.use(before)
    for results in shown[1:]:
        for one, other in zip(shown[0], results, strict=True):
            assert one.tobytes() == other.tobytes()
    for got, want in zip(shown[0], [evaluated(v, given) for v in [*outputs, update[0]]], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)


def test_random_regions_run_by_threads_that_stay():
    """Many nests of all kinds between products, some of them too small to be shared."""
    for seed in range(60):
        drawn = Drawn(seed, moves=16)
        if not drawn.outputs:
            continue
        known: dict = {}
        wanted = [*drawn.outputs, *(v for v, _ in drawn.updates)]
        expected = [evaluated(v, drawn.inputs, known) for v in wanted]
        if any(a.dtype.kind == "f" and a.size and not np.all(np.abs(a) < 2**22) for a in known.values()):
            continue
        with (
            mock.patch.multiple(together, ENOUGH=0, WORTH_SHARING=8),
            mock.patch.multiple(products, FEWEST=2, VECTOR=1),
        ):
            found = compiled(drawn.outputs, drawn.inputs, 2, drawn.updates)
        for value, want, got in zip(wanted, expected, found, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"seed {seed}: {value}")


def test_only_regions_with_enough_work_wake_threads():
    x, y = input_value(0, "f4", [64, 64]), input_value(1, "f4", [64, 64])
    small, large = product(x, y), product(input_value(0, "f4", [256, 256]), input_value(1, "f4", [256, 256]))
    assert not Writer().add([small], 2).is_shared
    assert Writer().add([large], 2).is_shared
    assert not Writer(shares=False).add([large], 2).is_shared


def test_rows_that_are_put_one_by_one_are_for_one_thread():
    table, places = input_value(0, "f4", [256]), input_value(1, "i8", [4])
    product_ = product(input_value(2, "f4", [256, 256]), input_value(3, "f4", [256, 256]))
    entry = Writer().add([product_], 4, [(put(table, places, table.slice([0], [4])), table)])
    assert not entry.is_shared
