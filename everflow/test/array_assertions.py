"""What tf.test.TestCase asserts of arrays and tensors, and how it shows where two of them differ."""

from __future__ import annotations

import numpy as np

from everflow.framework.operation import Tensor
from everflow.ops.ragged import RaggedTensor, RaggedTensorValue
from everflow.platform.object_arrays import array_of_objects
from everflow.platform.signatures import takes

_SHOWN = 10  # so many elements out of range are listed


class ArrayAssertions:
    """Assertions for a TestCase, whose `evaluate` gives the values of tensors."""

    def _GetNdArray(self, a):
        """The array of what is a tensor, an array or nested lists; of lists that are no array, one of objects."""
        if isinstance(a, Tensor) or hasattr(a, "_as_graph_element"):
            a = self.evaluate(a)
        if isinstance(a, np.ndarray):
            return a
        try:
            return np.array(a)
        except (ValueError, NotImplementedError):
            return array_of_objects(a)

    def _GetPyList(self, a):
        """What stands in a ragged value or an array as nested lists."""
        if isinstance(a, RaggedTensor | Tensor):
            a = self.evaluate(a)
        if isinstance(a, RaggedTensorValue):
            return a.to_list()
        return a.tolist() if isinstance(a, np.ndarray) else a

    def _checked_lists(self, a, b):
        """Both as lists; of two that say how many of their dimensions are ragged, these must be as many."""
        if not isinstance(a, list | tuple) and not isinstance(b, list | tuple):
            self.assertEqual(*(getattr(value, "ragged_rank", 0) for value in (a, b)))
        return self._GetPyList(a), self._GetPyList(b)

    def _close_lists(self, a, b, rtol, atol, path, msg):
        self.assertEqual(type(a), type(b))
        if not isinstance(a, list | tuple):
            self._close_arrays(a, b, rtol, atol, f"Values differ: a{path} is different from b{path}. {msg}")
            return
        self.assertLen(a, len(b), f"Lengths differ: a{path} has {len(a)} items, b{path} {len(b)}. {msg}")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            self._close_lists(x, y, rtol, atol, f"{path}[{i}]", msg)

    def _checked_shapes(self, a, b, msg):
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self.assertEqual(
            a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape} with contents {b}. {msg or ''}"
        )
        return a, b

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """That two arrays, tensors, or structures of them agree within |a - b| <= atol + rtol * |b|."""
        self._all_close(a, b, rtol, atol, "", msg or "")

    def _all_close(self, a, b, rtol, atol, path, msg):
        """`path` tells where in the structures a and b are."""
        if _any_ragged(a, b):
            self._close_lists(*self._checked_lists(a, b), rtol, atol, path, msg)
            return
        a, b = (value._asdict() if hasattr(value, "_asdict") else value for value in (a, b))
        if isinstance(a, dict) != isinstance(b, dict):
            raise ValueError(f"Of a{path} and b{path} only one is a dict. {msg}")
        if isinstance(a, dict):
            self.assertCountEqual(
                a.keys(), b.keys(), f"Keys differ: those of a{path} are {list(a)}, those of b{path} {list(b)}. {msg}"
            )
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
        elif isinstance(a, list | tuple) and _is_uneven(a):
            self.assertEqual(len(a), len(b), f"Lengths differ: a{path} has {len(a)} items, b{path} {len(b)}. {msg}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._all_close(x, y, rtol, atol, f"{path}[{i}]", msg)
        else:
            self._close_arrays(a, b, rtol, atol, f"Mismatched value: a{path} is different from b{path}. {msg}")

    def _close_arrays(self, a, b, rtol, atol, words):
        a, b = self._checked_shapes(a, b, words)
        if "bfloat16" in (a.dtype.name, b.dtype.name):
            a, b = a.astype(np.float32), b.astype(np.float32)
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        if close.all():
            return
        where = np.where(~close) if a.ndim else ()
        lines = [words, *_differing(a, b, where, "close")]
        lines += [f"not close dif = {np.abs(a[where] - b[where])}", f"not close tol = {atol + rtol * np.abs(b[where])}"]
        lines.append(f"dtype = {a.dtype}, shape = {a.shape}")
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True)
        self.fail("\n".join(lines))

    @takes(
        """a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3, half_atol=1e-3,
        bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None""",
    )
    def assertAllCloseAccordingToType(self, a, b, rtol, atol, msg, **by_type):
        """As assertAllClose, with a tolerance for each precision."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        for kind, names in (("float", {"float32", "complex64"}), ("half", {"float16"}), ("bfloat16", {"bfloat16"})):
            if {a.dtype.name, b.dtype.name} & names:
                rtol, atol = max(rtol, by_type[f"{kind}_rtol"]), max(atol, by_type[f"{kind}_atol"])
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, **kwargs):
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("All elements of the two values are close.")

    def assertAllEqual(self, a, b, msg=None):
        """That two arrays or tensors have the same shape and values; NaNs are equal here."""
        if _any_ragged(a, b):
            a, b = self._checked_lists(a, b)
            self.assertEqual(a, b, msg)
            return
        a, b = self._checked_shapes(a, b, msg)
        same = np.asarray(a == b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = same | (np.isnan(a) & np.isnan(b))
        if same.all():
            return
        lines = [msg or "", *_differing(a, b, np.where(~same) if a.ndim else (), "equal")]
        np.testing.assert_array_equal(a, b, err_msg="\n".join(lines))
        self.fail("\n".join(lines))

    def assertNotAllEqual(self, a, b, msg=None):
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"All elements of the two values are equal. {msg or ''}")

    def assertAllGreater(self, a, comparison_target):
        self.assertGreater(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLess(self, a, comparison_target):
        self.assertLess(np.max(self._GetNdArray(a)), comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):
        self.assertGreaterEqual(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLessEqual(self, a, comparison_target):
        self.assertLessEqual(np.max(self._GetNdArray(a)), comparison_target)

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """That all elements lie between two bounds; an open bound itself is outside."""
        target = self._GetNdArray(target)
        if not (np.issubdtype(target.dtype, np.floating) or np.issubdtype(target.dtype, np.integer)):
            raise AssertionError(f"Values of {target.dtype} are not ordered, so that no range holds them: {target}")
        if np.isnan(target).any():
            raise AssertionError(_listed(target, np.isnan(target), "NaN; subscripts and values"))
        low = target <= lower_bound if open_lower_bound else target < lower_bound
        high = target >= upper_bound if open_upper_bound else target > upper_bound
        if (low | high).any():
            span = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
            words = f"outside the range {span}; subscripts and values"
            raise AssertionError(_listed(target, low | high, words))

    def assertAllInSet(self, target, expected_set):
        absent = [value for value in np.unique(self._GetNdArray(target)).tolist() if value not in expected_set]
        if absent:
            raise AssertionError(f"{len(absent)} values are not in the set {expected_set}: {absent}")

    def assertNear(self, f1, f2, err, msg=None):
        """That two numbers differ by `err` at most."""
        if not (f1 == f2 or abs(f1 - f2) <= err):
            self.fail(f"{f1} != {f2} +/- {err}{f' ({msg})' if msg is not None else ''}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """That two arrays differ by `err` at most, in the Euclidean norm."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg)

    def _NDArrayNear(self, ndarray1, ndarray2, err):
        """Whether two arrays have one shape and differ by less than `err` in the Euclidean norm."""
        return ndarray1.shape == ndarray2.shape and bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    def assertDTypeEqual(self, target, expected_dtype):
        self.assertEqual(self._GetNdArray(target).dtype, expected_dtype)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        """That an array and a tensor have the same static shape."""
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError(f"np_array must be an array or scalar of numpy, got {np_array!r}.")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)


def _any_ragged(*values) -> bool:
    return any(isinstance(value, RaggedTensor | RaggedTensorValue) for value in values)


def _differing(a, b, where, kind):
    """The lines that show two arrays where they differ."""
    lines = [f"not {kind} where = {where}"] if a.ndim else []
    return [*lines, f"not {kind} lhs = {a[where]}", f"not {kind} rhs = {b[where]}"]


def _listed(array, chosen, words):
    """How many elements are chosen, and the first of them with their subscripts."""
    found = np.argwhere(np.atleast_1d(chosen))
    lines = [f"{len(found)} of the {array.size} element(s) are {words}:"]
    lines += [f"  {subscript} : {np.atleast_1d(array)[tuple(subscript)]}" for subscript in found[:_SHOWN]]
    return "\n".join([*lines, "  ..."] if len(found) > _SHOWN else lines)


def _is_uneven(values) -> bool:
    """Whether a list can't be one array: its parts have different shapes, or are structures themselves."""
    if any(isinstance(v, dict) for v in values):
        return True
    if any(isinstance(v, Tensor) for v in values):
        return True
    try:
        return np.array(values).dtype == object
    except ValueError:
        return True
