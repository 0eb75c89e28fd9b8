"""tensorflow.python.ops.parallel_for.test_util: a test case that holds `pfor` against the same loop one by one."""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes, nest
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.ops.parallel_for.loops import for_loop, pfor
from everflow.ops.variables.variable import global_variables_initializer
from everflow.test import TestCase


class PForTestCase(TestCase):
    """Tests of loops drawn for all iterations at once."""

    def _run_targets(self, targets1: Any, targets2: Any = None, run_init: bool = True) -> list:
        """What two structures of tensors are, one after the other."""
        targets1, targets2 = nest.flatten(targets1), nest.flatten([] if targets2 is None else targets2)
        if run_init:
            self.evaluate(global_variables_initializer())
        # Operations give nothing to compare.
        return self.evaluate([t for t in targets1 + targets2 if _is_value(t)])

    def run_and_assert_equal(self, targets1: Any, targets2: Any) -> None:
        """Assert that two structures of tensors have the same values."""
        outputs = self._run_targets(targets1, targets2)
        outputs = nest.flatten(outputs)
        half = len(outputs) // 2
        self.assertEqual(len(outputs), 2 * half, "there are more tensors in one structure than in the other")
        for one, other in zip(outputs[:half], outputs[half:], strict=True):
            self.assertAllClose(one, other, rtol=1e-5, atol=1e-5)

    def _test_loop_fn(
        self, loop_fn: Any, iters: Any, loop_fn_dtypes: Any = dtypes.float32, parallel_iterations: int | None = None
    ) -> None:
        """Assert that a loop gives the same drawn at once and one by one."""
        at_once = pfor(loop_fn, iters, parallel_iterations=parallel_iterations)
        one_by_one = for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=parallel_iterations)
        self.run_and_assert_equal(at_once, one_by_one)


def _is_value(target: Any) -> bool:
    if isinstance(target, SparseTensor):
        return True
    return target is not None and convert_to_tensor(target) is not None
