"""Samples of vectors as columns of a matrix for each element of a batch, so that an operator acts on all at once.

TensorFlow's graphs name every shape on the way, and so does this: later seeds depend on how many nodes there are.
"""

from __future__ import annotations

import contextlib

from everflow.contrib.distributions.axes import rotated
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.array.constants import constant


@contextlib.contextmanager
def _scope(name, *values):
    with name_scope("DistributionShape", values=values), name_scope(name, values=values):
        yield


class EventMatrices:
    """Tensors of shape [samples..., batch..., size] as matrices [batch..., size, all samples], and back."""

    def __init__(self, batch_ndims):
        self.batch_ndims = batch_ndims
        with _scope("init"):
            self._batch_ndims = constant(batch_ndims, dtype=dtypes.int32, name="batch_ndims")
            self._event_ndims = constant(1, dtype=dtypes.int32, name="event_ndims")

    def fits(self, x):
        """Whether it is known which axes of a tensor are those of samples."""
        return x.shape.ndims is not None and x.shape.ndims > self.batch_ndims

    def matrices_of(self, x):
        """The matrices, and the shape of the samples, which is lost in them."""
        with _scope("make_batch_of_event_sample_matrices", x):
            sample_shape, batch_shape, event_shape = self._shapes_of(x)
            with name_scope("pick_vector"):
                constant(False, name="cond")
            x = array.reshape(x, array.concat([[-1], batch_shape, event_shape], 0))
            return rotated(x, -1), sample_shape

    def samples_of(self, matrices, sample_shape):
        """The samples again."""
        with _scope("undo_make_batch_of_event_sample_matrices", matrices, sample_shape):
            x = rotated(matrices, 1)
            _, batch_shape, event_shape = self._shapes_of(x)
            return array.reshape(x, array.concat([sample_shape, batch_shape, event_shape], 0))

    def _shapes_of(self, x):
        with _scope("get_shape", x):
            with _scope("get_shape", x):
                with _scope("get_shape", x):
                    constant(x.shape.ndims, dtype=dtypes.int32, name="ndims")
                samples = x.shape.ndims - self.batch_ndims - 1
                sample_ndims = constant(samples, dtype=dtypes.int32, name="sample_ndims")
            zero = constant(0, dtype=dtypes.int32, name="zero")
            parts = [
                ("sample_shape", 0, samples, [zero], sample_ndims),
                ("batch_shape", samples, self.batch_ndims, [sample_ndims], self._batch_ndims),
                ("event_shape", samples + self.batch_ndims, 1, [sample_ndims, self._batch_ndims], self._event_ndims),
            ]
            return [_part(x, *part) for part in parts]


def _part(x, name, begin, size, begins, size_tensor):
    """Some sizes of a tensor: a constant where they are known."""
    known = x.shape[begin : begin + size]
    if known.is_fully_defined():
        return constant(known.as_list(), dtype=dtypes.int32, name=name)
    return array.slice_(array.shape(x), [sum(begins)], [size_tensor])
