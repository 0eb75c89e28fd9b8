"""`tensorflow.python.data.kernel_tests.test_base`: a TestCase that says what a dataset gives, element by element, the same
in a graph and eagerly.
"""

from __future__ import annotations

import re

import numpy as np

from everflow.data import Dataset
from everflow.framework import dtypes, errors
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.scopes import executing_eagerly
from everflow.legacy.inner.data import nest
from everflow.legacy.inner.data.structure import are_compatible
from everflow.legacy.inner.test_combinations import combine
from everflow.ops.array.basic import zeros
from everflow.ops.ragged.tensor import RaggedTensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.test import TestCase

_SPARSE = (SparseTensor, SparseTensorValue)
_RAGGED = (RaggedTensor, RaggedTensorValue)


def default_test_combinations():
    """Both ways of running, under both versions of the interface."""
    return combine(mode=["eager", "graph"], tf_api_version=[1, 2])


class DatasetTestBase(TestCase):
    """A test case of datasets."""

    __test__ = False

    def getNext(self, dataset, requires_initialization=False, shared_name=None):
        """A function that gives the next element, or, in a graph, the tensors that hold it in each run.

        At the end, OutOfRangeError. A TensorArray is given as one tensor, since none can be fetched.
        """
        if executing_eagerly():
            take = iter(dataset).get_next
        else:
            if requires_initialization:
                iterator = dataset.make_initializable_iterator(shared_name)
                self.evaluate(iterator.initializer)
            else:
                iterator = dataset.make_one_shot_iterator()
            element = iterator.get_next()

            def take():
                return element

        def following():
            taken = take()
            return taken.stack() if isinstance(taken, TensorArray) else taken

        return following

    def assertValuesEqual(self, expected, actual):
        """Two leaves of elements are the same: dense, sparse or ragged."""
        if isinstance(expected, _SPARSE):
            for part in ("indices", "values", "dense_shape"):
                self.assertAllEqual(getattr(expected, part), getattr(actual, part))
        else:
            self.assertAllEqual(expected, actual)

    def _compareOutputToExpected(self, result_values, expected_values, assert_items_equal):
        if assert_items_equal:
            self.assertItemsEqual(result_values, expected_values)
            return
        for i, result in enumerate(result_values):
            nest.assert_same_structure(result, expected_values[i])
            for value, wanted in zip(nest.flatten(result), nest.flatten(expected_values[i])):
                self.assertValuesEqual(wanted, value)

    def assertDatasetProduces(
        self,
        dataset,
        expected_output=None,
        expected_shapes=None,
        expected_error=None,
        requires_initialization=False,
        num_test_iterations=1,
        assert_items_equal=False,
        expected_error_iter=1,
    ):
        """A dataset gives these elements and then ends, or fails at an element.

        Args:
            dataset: The dataset.
            expected_output: The elements in order, or None if it is to fail.
            expected_shapes: The static shapes of an element; not looked at if None.
            expected_error: (the type of an error, a pattern found in its message), or None.
            requires_initialization: Whether its iterator has to be initialised.
            num_test_iterations: How many iterators are made, one after the other.
            assert_items_equal: Whether the order doesn't matter.
            expected_error_iter: Which element fails, from 1.
        """
        self.assertTrue(
            (expected_error is None) != (expected_output is None), "Give either expected_output or expected_error"
        )
        if expected_error is not None:
            with self.assertRaisesWithPredicateMatch(*expected_error):
                following = self.getNext(dataset, requires_initialization)  # eagerly, this may be what fails
                for _ in range(expected_error_iter):
                    self.evaluate(following())
            return
        if expected_shapes is not None:
            self.assertEqual(expected_shapes, dataset.output_shapes)
        self.assertGreater(num_test_iterations, 0)
        for _ in range(num_test_iterations):
            following = self.getNext(dataset, requires_initialization)
            results = [self.evaluate(following()) for _ in range(len(expected_output))]
            self._assert_ended(following)
            self._compareOutputToExpected(results, expected_output, assert_items_equal)

    def _assert_ended(self, following):
        for _ in range(2):  # an end that was reached stays one
            with self.assertRaises(errors.OutOfRangeError):
                self.evaluate(following())

    def assertDatasetsEqual(self, dataset1, dataset2):
        """Two datasets give elements of the same kind, near each other, as many."""
        self.assertTrue(are_compatible(dataset1.element_spec, dataset2.element_spec))
        first, second = self.getNext(dataset1), self.getNext(dataset2)
        while True:
            try:
                one = self.evaluate(first())
            except errors.OutOfRangeError:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(second())
                return
            two = self.evaluate(second())
            for a, b in zip(nest.flatten(one), nest.flatten(two), strict=True):
                if isinstance(a, _SPARSE + _RAGGED) or np.asarray(a).dtype.kind in "OSU":
                    self.assertValuesEqual(a, b)
                else:
                    self.assertAllClose(a, b)

    def assertDatasetsRaiseSameError(self, dataset1, dataset2, exception_class, replacements=None):
        """The first elements of two datasets fail with one message, after (old, new, count) replaced in the first's."""
        following = self.getNext(dataset1)
        try:
            self.evaluate(following())
        except exception_class as e:
            message = e.message
        else:
            raise ValueError(f"The first dataset should have raised {exception_class}, and gave an element")
        for old, new, count in replacements or ():
            message = message.replace(old, new, count)
        following = self.getNext(dataset2)
        with self.assertRaisesRegex(exception_class, re.escape(message)):
            self.evaluate(following())

    def structuredDataset(self, dataset_structure, shape=None, dtype=dtypes.int64):
        """A dataset of one element of zeros, a tensor of them for each None in a structure."""
        if dataset_structure is None:
            return Dataset.from_tensors(zeros(shape or [], dtype))
        return Dataset.zip(tuple(self.structuredDataset(part, shape, dtype) for part in dataset_structure))

    def structuredElement(self, element_structure, shape=None, dtype=dtypes.int64):
        """A tensor of zeros for each None in a structure."""
        if element_structure is None:
            return zeros(shape or [], dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)

    def assert_op_cancelled(self, op):
        """Running an op is cancelled."""
        with self.assertRaisesRegex(errors.CancelledError, "was cancelled"):
            self.evaluate(op)
