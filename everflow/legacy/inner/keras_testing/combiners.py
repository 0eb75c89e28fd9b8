"""The TestCase of TensorFlow's module `python.keras.layers.preprocessing.preprocessing_test_utils`: what holds of combiners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from everflow.legacy.inner.keras_engine.preprocessing import Combiner
from everflow.test import TestCase


class PreprocessingLayerTest(TestCase):
    """Checks of a combiner, by the state that it gives for data."""

    def assertAllCloseOrEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Numbers are close, anything else is equal; also in lists and dictionaries."""
        if a is None or b is None:
            self.assertIs(a, b, msg=msg)
        elif isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), msg=msg)
            for name in a:
                self.assertAllCloseOrEqual(a[name], b[name], msg=f"{name} {msg or ''}")
        elif isinstance(a, (list, tuple)):
            self.assertEqual(len(a), len(b), msg=msg)
            for left, right in zip(a, b, strict=True):
                self.assertAllCloseOrEqual(left, right, msg=msg)
        elif np.asarray(a).dtype.kind in "biufc":
            self.assertAllClose(a, b, msg=msg)
        else:
            self.assertAllEqual(a, b, msg=msg)

    def assert_extracted_output_equal(self, combiner: Combiner, acc1: Any, acc2: Any, msg: str | None = None) -> None:
        """Two accumulated values stand for the same state."""
        self.assertAllCloseOrEqual(combiner.extract(acc1), combiner.extract(acc2), msg=msg)

    def validate_accumulator_computation(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """The state doesn't depend on how data are cut, nor on the order in which parts are merged."""
        parts = [data[:1], data[1:2], data[2:]]
        alone = [combiner.compute(part) for part in parts]
        grown = None
        for part in parts:
            grown = combiner.compute(part, grown)
        ways = {
            "at once": combiner.compute(data),
            "one after the other": grown,
            "merged": combiner.merge([combiner.compute(part) for part in parts]),
            "merged the other way": combiner.merge([combiner.compute(part) for part in reversed(parts)]),
            "merged in steps": combiner.merge([alone[0], combiner.merge(alone[1:])]),
        }
        for way, accumulator in ways.items():
            self.assertAllCloseOrEqual(combiner.extract(accumulator), expected, msg=way)

    def validate_accumulator_extract(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """The state that comes from data."""
        self.assertAllCloseOrEqual(combiner.extract(combiner.compute(data)), expected)

    def validate_accumulator_extract_and_restore(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """An accumulated value comes back from the state it gave."""
        self._assert_kept(combiner, data, expected, lambda held: combiner.restore(combiner.extract(held)))

    def validate_accumulator_serialize_and_deserialize(self, combiner: Combiner, data: Any, expected: Any) -> None:
        """An accumulated value comes back from what was written down of it."""
        self._assert_kept(combiner, data, expected, lambda held: combiner.deserialize(combiner.serialize(held)))

    def _assert_kept(self, combiner: Combiner, data: Any, expected: Any, again: Any) -> None:
        accumulator = combiner.compute(data)
        restored = again(accumulator)
        self.assert_extracted_output_equal(combiner, accumulator, restored)
        self.assertAllCloseOrEqual(combiner.extract(restored), expected)

    def validate_accumulator_uniqueness(self, combiner: Combiner, data: Any) -> None:
        """Each computation has a value of its own."""
        first, second = combiner.compute(data), combiner.compute(data)
        self.assertIsNot(first, second)
        self.assert_extracted_output_equal(combiner, first, second)
