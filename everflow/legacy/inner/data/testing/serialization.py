"""`...serialization.dataset_serialization_test_base`: a TestCase that saves iterators in the middle, restores them in new
sessions and looks at whether they go on where they were.
"""

from __future__ import annotations

import os

import numpy as np

from everflow.data.experimental import make_saveable_from_iterator
from everflow.framework import dtypes, errors
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.nest import assert_same_structure, flatten, map_structure, pack_sequence_as
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.variables.variable import global_variables_initializer
from everflow.platform import file_io
from everflow.test import TestCase
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.importing import import_meta_graph
from everflow.train.saver import Saver

_OPS = "iterator_ops"


def remove_variants(get_next_op):
    """An element with `()` in the places of variant tensors, which can't be fetched."""
    return map_structure(lambda t: () if isinstance(t, Tensor) and t.dtype == dtypes.variant else t, get_next_op)


class DatasetSerializationTestBase(TestCase):
    """A test case of iterators in checkpoints. `ds_fn` makes the dataset, in the graph that is the default then."""

    __test__ = False

    def tearDown(self):
        """Take the checkpoint away."""
        self._delete_ckpt()
        super().tearDown()

    def run_core_tests(self, ds_fn, num_outputs, sparse_tensors=False):
        """All that any dataset's iterator should stand: saved at its start, in between, at its end, and past it."""
        self.verify_unused_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_fully_used_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_exhausted_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_multiple_breaks(ds_fn, num_outputs, sparse_tensors=sparse_tensors)
        self.verify_reset_restored_iterator(ds_fn, num_outputs, sparse_tensors=sparse_tensors)

    def verify_unused_iterator(self, ds_fn, num_outputs, sparse_tensors=False, verify_exhausted=True):
        """One saved before its first element gives all of them."""
        self.verify_run_with_breaks(ds_fn, [0], num_outputs, sparse_tensors, verify_exhausted)

    def verify_fully_used_iterator(self, ds_fn, num_outputs, sparse_tensors=False):
        """One saved after its last element gives no more."""
        self.verify_run_with_breaks(ds_fn, [num_outputs], num_outputs, sparse_tensors)

    def verify_exhausted_iterator(self, ds_fn, num_outputs, sparse_tensors=False):
        """One saved after it said that it has ended is still at its end."""
        self.gen_outputs(ds_fn, [], num_outputs, sparse_tensors=sparse_tensors)
        self.assertLen(self.gen_outputs(ds_fn, [], 0, ckpt_saved=True, sparse_tensors=sparse_tensors), 0)

    def verify_multiple_breaks(self, ds_fn, num_outputs, num_breaks=10, sparse_tensors=False, verify_exhausted=True):
        """One saved and restored several times gives what it would have given."""
        breaks = self.gen_break_points(num_outputs, num_breaks)
        self.verify_run_with_breaks(ds_fn, breaks, num_outputs, sparse_tensors, verify_exhausted)

    def verify_reset_restored_iterator(
        self, ds_fn, num_outputs, break_point=None, sparse_tensors=False, verify_exhausted=True
    ):
        """A restored one that is initialised again starts from the beginning."""
        break_point = num_outputs // 2 if not break_point else break_point
        expected = self.gen_outputs(ds_fn, [], num_outputs, False, sparse_tensors, verify_exhausted)
        self.gen_outputs(ds_fn, [], break_point, False, sparse_tensors, verify_exhausted=False)
        actual = []
        with Graph().as_default() as graph:
            saver = self._import_meta_graph()
            init_op, get_next_op = self._get_iterator_ops_from_collection(ds_fn, sparse_tensors)
            get_next_op = remove_variants(get_next_op)
            with self.session(graph=graph) as sess:
                self._initialize(init_op, sess)
                self._restore(saver, sess)
                self._initialize(init_op, sess)
                actual += [sess.run(get_next_op) for _ in range(num_outputs)]
                if verify_exhausted:
                    with self.assertRaises(errors.OutOfRangeError):
                        sess.run(get_next_op)
        self.match(expected, actual)

    def verify_error_on_save(self, ds_fn, num_outputs, error, break_point=None, sparse_tensors=False):
        """Saving, in the middle or after `break_point` elements, raises an error."""
        with Graph().as_default() as graph, self.session(graph=graph) as sess:
            first, following, saver = self._build_graph(ds_fn, sparse_tensors)
            taken = remove_variants(following)
            self._initialize(first, sess)
            for _ in range(break_point or num_outputs // 2):
                sess.run(taken)
            self.assertRaises(error, self._save, sess, saver)

    def verify_run_with_breaks(self, ds_fn, break_points, num_outputs, sparse_tensors=False, verify_exhausted=True):
        """Breaks make no difference to what is given."""
        expected = self.gen_outputs(ds_fn, [], num_outputs, False, sparse_tensors, verify_exhausted)
        actual = self.gen_outputs(ds_fn, break_points, num_outputs, False, sparse_tensors, verify_exhausted)
        self.match(expected, actual)

    def gen_outputs(
        self,
        ds_fn,
        break_points,
        num_outputs,
        ckpt_saved=False,
        sparse_tensors=False,
        verify_exhausted=True,
        save_checkpoint_at_end=True,
    ):
        """What an iterator gives when it is saved at each break point, and a new session goes on.

        Args:
            ds_fn: Makes the dataset.
            break_points: After how many elements the iterator is saved.
            num_outputs: How many elements to take.
            ckpt_saved: Whether to start from the checkpoint that is there.
            sparse_tensors: Whether an element is the parts of a SparseTensor, to be taken as one.
            verify_exhausted: Whether it must have ended after that.
            save_checkpoint_at_end: Whether to save where it was left.

        Returns:
            A list of elements.
        """
        outputs = []
        ends = [*break_points, num_outputs]
        for i, end in enumerate(ends):
            with Graph().as_default() as graph:
                if ckpt_saved:
                    saver = self._import_meta_graph()
                    init_op, get_next_op = self._get_iterator_ops_from_collection(ds_fn, sparse_tensors)
                else:
                    init_op, get_next_op, saver = self._build_graph(ds_fn, sparse_tensors)
                get_next_op = remove_variants(get_next_op)
                with self.session(graph=graph) as sess:
                    self._initialize(init_op, sess)
                    if ckpt_saved:
                        self._restore(saver, sess)
                    for _ in range(end - (ends[i - 1] if i else 0)):
                        outputs.append(sess.run(get_next_op))
                    last = i == len(ends) - 1
                    if last and verify_exhausted:
                        with self.assertRaises(errors.OutOfRangeError):
                            sess.run(get_next_op)
                    if not last or save_checkpoint_at_end:
                        self._save(sess, saver)
                        ckpt_saved = True
        return outputs

    def match(self, expected, actual):
        """Two nests of values are the same, array by array."""

        def plain(value):
            if isinstance(value, SparseTensorValue):
                return {part: getattr(value, part) for part in value._fields}
            if isinstance(value, RaggedTensorValue):
                return {"values": plain(value.values), "row_splits": value.row_splits}
            return value

        expected, actual = map_structure(plain, expected), map_structure(plain, actual)
        try:
            assert_same_structure(expected, actual)
        except (TypeError, ValueError) as e:
            raise AssertionError(str(e)) from e
        for a, b in zip(flatten(expected), flatten(actual), strict=True):
            if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
                self.assertEqual(np.shape(a), np.shape(b))
                self.assertAllEqual(a, b)
            else:
                self.assertEqual(a, b)

    def does_not_match(self, expected, actual):
        """Two nests of values are not the same."""
        with self.assertRaises(AssertionError):
            self.match(expected, actual)

    def gen_break_points(self, num_outputs, num_samples=10):
        """Places to save at, spread over an iterator's elements, both ends among them."""
        return np.linspace(0, num_outputs, num_samples, dtype=int)

    def _build_graph(self, ds_fn, sparse_tensors=False):
        iterator = ds_fn().make_initializable_iterator()
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, make_saveable_from_iterator(iterator))
        init_op = iterator.initializer
        get_next = iterator.get_next()
        if sparse_tensors:
            get_next = SparseTensor(*get_next)
        self._add_iterator_ops_to_collection(init_op, get_next, ds_fn, sparse_tensors)
        return init_op, get_next, Saver(allow_empty=True)

    def _add_iterator_ops_to_collection(self, init_op, get_next, ds_fn, sparse_tensors=False):
        add_to_collection(_OPS, init_op)
        parts = (get_next.indices, get_next.values, get_next.dense_shape) if sparse_tensors else get_next
        for part in flatten(parts, expand_composites=True):
            add_to_collection(_OPS, part)

    def _get_iterator_ops_from_collection(self, ds_fn, sparse_tensors=False):
        init_op, *parts = get_collection(_OPS)
        if sparse_tensors:
            return init_op, SparseTensor(*parts)
        with Graph().as_default():
            spec = ds_fn().element_spec
        return init_op, pack_sequence_as(spec, parts, expand_composites=True)

    def _get_output_types(self, ds_fn):
        with Graph().as_default():
            return ds_fn().output_types

    def _get_output_shapes(self, ds_fn):
        with Graph().as_default():
            return ds_fn().output_shapes

    def _get_output_classes(self, ds_fn):
        with Graph().as_default():
            return ds_fn().output_classes

    def _ckpt_path(self):
        return os.path.join(self.get_temp_dir(), "iterator")

    def _latest_ckpt(self):
        return latest_checkpoint(self.get_temp_dir())

    def _save(self, sess, saver):
        saver.save(sess, self._ckpt_path())

    def _restore(self, saver, sess):
        sess.run(tables_initializer())
        saver.restore(sess, self._latest_ckpt())

    def _initialize(self, init_op, sess):
        sess.run([global_variables_initializer(), tables_initializer()])
        sess.run(init_op)

    def _import_meta_graph(self):
        return import_meta_graph(self._ckpt_path() + ".meta", clear_devices=True)

    def _delete_ckpt(self):
        for name in file_io.get_matching_files(self._ckpt_path() + "*"):
            file_io.delete_file(name)
