"""`tf.keras.Input` and the layer behind it: where the graph of layers begins."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.backend.state import get_graph, unique_object_name
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.node import KerasHistory, Node
from everflow.ops.variables.variable import Variable


class InputLayer(Layer):
    """A layer without inputs: a placeholder, or the tensor that is given.

    Args:
        input_shape: The shape, without the batch.
        batch_size: How many elements make a batch.
        dtype: The type.
        input_tensor: A tensor to use.
        sparse: Whether it is a SparseTensor.
        name: Its name; made from its class if None.
        ragged: Whether it is a RaggedTensor.

    Example:
        >>> tf.keras.Sequential([tf.keras.layers.InputLayer([3]), tf.keras.layers.Dense(2)]).output_shape
        (None, 2)
    """

    def __init__(
        self,
        input_shape=None,
        batch_size=None,
        dtype=None,
        input_tensor=None,
        sparse=False,
        name=None,
        ragged=False,
        **kwargs,
    ):
        if sparse and ragged:
            raise ValueError("An input is either sparse or ragged: it can't be both.")
        input_shape, batch_size = _shape_without_batch(input_shape, batch_size, kwargs)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs.keys()}")
        if not name:
            with get_graph().as_default():
                name = unique_object_name("input", zero_based=False)
        if dtype is None:
            dtype = K.floatx() if input_tensor is None else input_tensor.dtype.base_dtype.name
        elif input_tensor is not None and dtypes.as_dtype(input_tensor.dtype).base_dtype != dtypes.as_dtype(dtype):
            raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {input_tensor.dtype} vs. {dtype}")
        super().__init__(dtype=dtype, name=name)
        self.built = True
        self.sparse, self.ragged = sparse, ragged
        self.batch_size = batch_size
        self.supports_masking = True
        if isinstance(input_shape, int):
            input_shape = (input_shape,)
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            self._batch_input_shape = None if input_shape is None else (batch_size, *input_shape)
            with get_graph().as_default():
                input_tensor = K.placeholder(
                    shape=self._batch_input_shape, dtype=dtype, name=self.name, sparse=sparse, ragged=ragged
                )
        else:
            if getattr(input_tensor, "is_eager", False):
                raise ValueError(
                    "A model begins with a placeholder where operations run at once: give `Input` a shape, and call the model on the tensor."
                )
            if not isinstance(input_tensor, (Tensor, Variable)):
                raise ValueError(f"`input_tensor` must be a tensor, got: {input_tensor}")
            self._batch_input_shape = tuple(input_tensor.shape.as_list())
        input_tensor._keras_mask = None
        input_tensor._keras_history = KerasHistory(self, 0, 0)
        Node(self, [], [], [], [input_tensor], [input_tensor])

    def get_config(self):
        facts = {name: getattr(self, name) for name in ("dtype", "sparse", "ragged", "name")}
        return {"batch_input_shape": self._batch_input_shape, **facts}


def _shape_without_batch(input_shape, batch_size, kwargs):
    if "batch_input_shape" not in kwargs:
        return input_shape, batch_size
    full = kwargs.pop("batch_input_shape")
    if input_shape and full:
        raise ValueError(
            f"An InputLayer takes `input_shape` or `batch_input_shape`, not both: {input_shape} and {full}."
        )
    return tuple(full[1:]), full[0]


def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=False, tensor=None, ragged=False, **kwargs):
    """A tensor to begin a model with. `shape` is without the batch.

    Args:
        shape: The shape, without the batch.
        batch_size: The size of a batch, where it is fixed.
        name: Its name; made from its class if None.
        dtype: The type; `floatx()` if None.
        sparse: Whether it is a SparseTensor.
        tensor: A tensor to use.
        ragged: Whether it is a RaggedTensor.
        **kwargs: `batch_shape`, the shape with the batch.

    Returns:
        A tensor.

    Raises:
        ValueError: If neither shape nor tensor is given, or something isn't known.

    Example:
        >>> x = tf.keras.Input([3])
        >>> tf.keras.Model(x, tf.keras.layers.Dense(2)(x)).output_shape
        (None, 2)
    """
    batch_shape = kwargs.pop("batch_shape", kwargs.pop("batch_input_shape", None))
    if shape is not None and batch_shape is not None:
        raise ValueError(f"Input takes `shape` or `batch_shape`, not both: {shape} and {batch_shape}.")
    if batch_shape is None and shape is None and tensor is None:
        raise ValueError("Input needs a `shape`, which is that of one sample, without the batch, or a `tensor`.")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs.keys()}")
    if batch_shape is not None:
        shape, batch_size = tuple(batch_shape)[1:], tuple(batch_shape)[0]
    if isinstance(shape, TensorShape):
        shape = tuple(shape.as_list())
    layer = InputLayer(
        shape, batch_size=batch_size, name=name, dtype=dtype, sparse=sparse, ragged=ragged, input_tensor=tensor
    )
    outputs = layer._inbound_nodes[0].output_tensors
    return outputs[0] if len(outputs) == 1 else outputs
