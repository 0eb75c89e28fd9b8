"""Layers that make one tensor of several: sums, products, concatenation, dot products."""

from __future__ import annotations

import itertools

from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.arguments import shape_tuples
from everflow.keras.layers.configured import ConfiguredLayer, keeps
from everflow.ops import array, math
from everflow.ops.nn.normalization import l2_normalize


def _sizes(shape):
    return TensorShape(shape).as_list()


class _Merge(ConfiguredLayer):
    """A function of several tensors element by element, which are broadcast to each other."""

    _kept_arguments = ()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs):
        raise NotImplementedError

    def _compute_elemwise_op_output_shape(self, a, b):
        """The shape of two of the tensors merged, without the batch."""
        if None in (a, b):
            return None
        if len(a) < len(b):
            a, b = b, a
        if not b:
            return a
        result = list(a[: -len(b)])
        for i, j in zip(a[-len(b) :], b):
            if i is None or j is None:
                result.append(None)
            elif i == 1 or j == 1:
                result.append(j if i == 1 else i)
            elif i != j:
                raise ValueError(
                    f"{type(self).__name__} got operands that could not be broadcast together: shapes {tuple(a)} and "
                    f"{tuple(b)}, without the batch."
                )
            else:
                result.append(i)
        return tuple(result)

    @shape_tuples
    def build(self, input_shape):
        self._require_list(input_shape)
        shapes = [None if TensorShape(s).rank is None else _sizes(s) for s in input_shape]
        batches = {s[0] for s in shapes if s} - {None}
        if len(batches) > 1:
            raise ValueError(
                f"{type(self).__name__} can't merge batches of different sizes: the inputs have shapes {input_shape}."
            )
        self._sizes_behind_batch(shapes)
        # Ranks that differ or are unknown have to be made equal when the graph is drawn.
        self._reshape_required = None in shapes or len({len(s) for s in shapes}) > 1
        self.built = True

    def _require_list(self, given, least=2, exactly=None):
        """ValueError where these aren't several tensors, or their shapes; one shape is a tuple of sizes."""
        one_shape = isinstance(given, tuple) and all(isinstance(s, (int, type(None))) for s in given)
        is_one = not isinstance(given, (list, tuple)) or one_shape
        if is_one or len(given) < least or exactly not in (None, len(given)):
            wanted = f"exactly {exactly}" if exactly else "at least 2"
            raise ValueError(f"{type(self).__name__} is called on a list of {wanted} tensors, not on {given}.")

    def call(self, inputs):
        self._require_list(inputs, least=1)
        if not self._reshape_required:
            return self._merge_function(inputs)
        ranks = [x.shape.rank for x in inputs]
        if None not in ranks:
            # Ones after the batch for those of lower rank.
            rank = max(ranks)
            widened = []
            for x in inputs:
                for _ in range(rank - x.shape.rank):
                    x = array.expand_dims(x, axis=1)
                widened.append(x)
            return self._merge_function(widened)
        return self._merge_unknown(inputs)

    def _merge_unknown(self, inputs):
        """With unknown ranks, the batch goes to the end, where broadcasting lines it up, and comes back."""
        moved, was_moved = [], False
        for x in inputs:
            rank = x.shape.rank
            if rank is None:
                shape = array.shape(x)
                batch = shape[0]
                turned = K.concatenate([shape[1:], array.expand_dims(batch, axis=-1)])
                flat = array.reshape(x, array.stack([batch, math.reduce_prod(shape[1:])]))
                flat = array.transpose(flat, perm=(1, 0))
                moved.append(array.reshape(flat, turned))
                was_moved = True
            elif rank > 1:
                moved.append(array.transpose(x, perm=[*range(1, rank), 0]))
                was_moved = True
            else:
                moved.append(x)
        y = self._merge_function(moved)
        if not was_moved:
            return y
        if y.shape.rank is None:
            shape = array.shape(y)
            rank = array.shape(shape)[0]
            batch = shape[rank - 1]
            turned = K.concatenate([array.expand_dims(batch, axis=-1), shape[: rank - 1]])
            flat = array.reshape(y, (-1, batch))
            flat = array.transpose(flat, perm=(1, 0))
            return array.reshape(flat, turned)
        if y.shape.rank > 1:
            return array.transpose(y, perm=[y.shape.rank - 1, *range(y.shape.rank - 1)])
        return y

    def _sizes_behind_batch(self, shapes):
        merged = None if shapes[0] is None else shapes[0][1:]
        for shape in shapes[1:]:
            merged = self._compute_elemwise_op_output_shape(merged, None if shape is None else shape[1:])
        return merged

    @shape_tuples
    def compute_output_shape(self, input_shape):
        shapes = [None if s is None else _sizes(s) for s in input_shape]
        merged = self._sizes_behind_batch(shapes)
        batches = {s[0] for s in shapes if s} - {None}
        return TensorShape([batches.pop() if len(batches) == 1 else None, *merged])

    def compute_mask(self, inputs, mask=None):
        if mask is None:
            return None
        if not isinstance(mask, (tuple, list)) or not isinstance(inputs, (tuple, list)) or len(mask) != len(inputs):
            raise ValueError(
                f"{type(self).__name__} takes a list of inputs and a mask for each, not {inputs} and {mask}."
            )
        return None if all(m is None for m in mask) else self._merged_mask(inputs, mask)

    def _merged_mask(self, inputs, masks):
        wide = [array.expand_dims(m, axis=0) for m in masks if m is not None]
        return K.all(K.concatenate(wide, axis=0), axis=0, keepdims=False)


def _folded(combine):
    """The function that combines a list of tensors from the first to the last."""

    def fold(self, inputs):
        output = inputs[0]
        for other in inputs[1:]:
            output = combine(output, other)
        return output

    return fold


class Add(_Merge):
    """The sum of several tensors.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Add()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[4., 8.]], dtype=float32)
    """

    _merge_function = _folded(lambda a, b: a + b)


class Subtract(_Merge):
    """The first tensor minus the second.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Subtract()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[-2.,  2.]], dtype=float32)
    """

    @shape_tuples
    def build(self, input_shape):
        super().build(input_shape)
        self._require_list(input_shape, exactly=2)

    def _merge_function(self, inputs):
        self._require_list(inputs, exactly=2)
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of several tensors, element by element.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Multiply()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[ 3., 15.]], dtype=float32)
    """

    _merge_function = _folded(lambda a, b: a * b)


class Average(_Merge):
    """The mean of several tensors.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Average()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[2., 4.]], dtype=float32)
    """

    def _merge_function(self, inputs):
        return Add._merge_function(self, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of several tensors, element by element.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Maximum()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[3., 5.]], dtype=float32)
    """

    _merge_function = _folded(math.maximum)


class Minimum(_Merge):
    """The smallest of several tensors, element by element.

    Args:
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Minimum()([tf.constant([[1.0, 5.0]]), tf.constant([[3.0, 3.0]])]))
        array([[1., 3.]], dtype=float32)
    """

    _merge_function = _folded(math.minimum)


def _for_each_element(mask, x):
    """A mask of x, or what broadcasts to one."""
    if mask is None:
        return array.ones_like(x, dtype="bool")
    return array.expand_dims(mask, axis=-1) if K.ndim(mask) < K.ndim(x) else mask


@keeps("axis=-1")
class Concatenate(_Merge):
    """Several tensors after each other along an axis.

    Args:
        axis: The axis to work along; negative ones count from the last.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.keras.layers.Concatenate()([tf.ones([2, 3]), tf.ones([2, 4])]).shape.as_list()
        [2, 7]
    """

    @shape_tuples
    def build(self, input_shape):
        self._require_list(input_shape)
        shapes = [_sizes(s) if TensorShape(s).rank is not None else None for s in input_shape]
        others = [list(s) for s in shapes if s is not None]
        for other in others:
            del other[self.axis]
        for one, other in itertools.combinations(map(TensorShape, others), 2):
            if not one.is_compatible_with(other):
                raise ValueError(
                    f"Inputs of a Concatenate layer differ in no axis but {self.axis}, along which they are joined; "
                    f"these have shapes {[tuple(s) if s is not None else None for s in shapes]}."
                )
        self.built = True

    def call(self, inputs):
        return K.concatenate(inputs, axis=self.axis)

    @shape_tuples
    def compute_output_shape(self, input_shape):
        self._require_list(input_shape, least=1)
        shapes = [_sizes(s) for s in input_shape]
        result = list(shapes[0])
        for shape in shapes[1:]:
            if result[self.axis] is None or shape[self.axis] is None:
                result[self.axis] = None
                break
            result[self.axis] += shape[self.axis]
        return TensorShape(result)

    def _merged_mask(self, inputs, given):
        masks = [_for_each_element(m, x) for x, m in zip(inputs, given)]
        return K.all(K.concatenate(masks, axis=self.axis), axis=-1, keepdims=False)


class Dot(_Merge):
    """The dot product of two tensors along axes; with `normalize` the cosine of the angle between them.

    Args:
        axes: The axes to work along.
        normalize: Whether vectors are brought to length 1 first.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Dot(axes=1)([tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])]))
        array([[11.]], dtype=float32)
    """

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        is_pair = isinstance(axes, (list, tuple)) and len(axes) == 2 and all(isinstance(axis, int) for axis in axes)
        if not isinstance(axes, int) and not is_pair:
            error = ValueError if isinstance(axes, (list, tuple)) else TypeError
            raise error(
                f"Invalid `axes` for Dot: {axes!r}. It is one axis for both inputs, or a pair of them, as ints."
            )
        self._keep(axes=axes, normalize=normalize)

    def _axes(self, ranks):
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [axis % rank if axis < 0 else axis for axis, rank in zip(axes, ranks)]

    def _sizes_and_axes(self, input_shape):
        self._require_list(input_shape, exactly=2)
        a, b = (_sizes(s) for s in input_shape)
        return a, b, self._axes((len(a), len(b)))

    @shape_tuples
    def build(self, input_shape):
        a, b, axes = self._sizes_and_axes(input_shape)
        if a[axes[0]] != b[axes[1]]:
            raise ValueError(
                f"Dimension incompatibility: axis {axes[0]} of {tuple(a)} and axis {axes[1]} of {tuple(b)} differ in "
                f"length, {a[axes[0]]} != {b[axes[1]]}."
            )
        self.built = True

    def call(self, inputs):
        self._require_list(inputs, exactly=2)
        a, b = inputs
        axes = self._axes((K.ndim(a), K.ndim(b)))
        if self.normalize:
            a = l2_normalize(a, axis=axes[0])
            b = l2_normalize(b, axis=axes[1])
        return K.batch_dot(a, b, axes)

    @shape_tuples
    def compute_output_shape(self, input_shape):
        a, b, axes = self._sizes_and_axes(input_shape)
        del a[axes[0]], b[axes[1]]
        result = a + b[1:]
        return TensorShape([*result, 1] if len(result) == 1 else result)

    def compute_mask(self, inputs, mask=None):
        return None


_MERGE = """The {what} of a list of tensors, as a layer.

Args:
    inputs: The tensors, of one shape but for dimensions that broadcast.
    **kwargs: What the layer takes: `name` and the like.

Returns:
    A tensor.

Example:
    >>> a, b = tf.keras.Input([3]), tf.keras.Input([3])
    >>> tf.keras.layers.{name}([a, b]).shape.as_list()
    [None, 3]
"""


def _function(layer, what):
    def merge(inputs, **kwargs):
        return layer(**kwargs)(inputs)

    merge.__name__ = merge.__qualname__ = layer.__name__.lower()
    merge.__doc__ = _MERGE.format(what=what, name=merge.__name__)
    return merge


add, subtract, multiply = _function(Add, "sum"), _function(Subtract, "difference"), _function(Multiply, "product")
average, maximum, minimum = _function(Average, "mean"), _function(Maximum, "largest"), _function(Minimum, "smallest")


def concatenate(inputs, axis=-1, **kwargs):
    """Several tensors after each other along an axis, as a layer.

    Args:
        inputs: The tensors to work on.
        axis: The axis to join along.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Returns:
        A tensor.

    Example:
        >>> tf.keras.layers.concatenate([tf.ones([2, 3]), tf.ones([2, 4])]).shape.as_list()
        [2, 7]
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes, normalize=False, **kwargs):
    """The dot product of two tensors along axes, as a layer.

    Args:
        inputs: The tensors to work on.
        axes: The axes to work along.
        normalize: Whether vectors are brought to length 1 first.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Returns:
        A tensor.

    Example:
        >>> tf.keras.layers.dot([tf.ones([2, 3]), tf.ones([2, 3])], axes=1).shape.as_list()
        [2, 1]
    """
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
