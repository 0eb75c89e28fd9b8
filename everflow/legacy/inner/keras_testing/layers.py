"""A layer put to the test: in models of both kinds, written down and made again, and trained."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_layer import Input
from everflow.keras.engine.sequential import Sequential
from everflow.keras.engine.training import Model
from everflow.legacy.inner.keras_testing import scopes

_NEAR = {"rtol": 1e-3, "atol": 1e-6}


def layer_test(
    layer_cls: type[Layer],
    kwargs: dict[str, Any] | None = None,
    input_shape: Sequence[int | None] | None = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> np.ndarray:
    """Whether a layer does what every layer must: the shape and type that it says, the same again from its
    configuration and weights, and training; what it computes for `input_data`, or for random numbers of `input_shape`.
    """
    return _Trial(layer_cls, dict(kwargs or {}), input_shape, input_dtype, input_data, adapt_data).run(
        expected_output, expected_output_dtype, expected_output_shape, validate_training
    )


class _Trial:
    def __init__(self, layer_cls, kwargs, input_shape, input_dtype, input_data, adapt_data):
        self._cls, self._kwargs, self._adapt_data = layer_cls, kwargs, adapt_data
        if input_data is None:
            if input_shape is None:
                raise ValueError("layer_test() needs `input_data` or an `input_shape` to make some.")
            input_dtype = input_dtype or "float32"
            input_data = _random_input(input_shape, dtypes.as_dtype(input_dtype))
        elif input_shape is None:
            input_shape = np.shape(input_data)
        self._input, self._shape = input_data, tuple(input_shape)
        self._dtype = input_dtype or input_data.dtype

    def run(self, expected_output, expected_output_dtype, expected_output_shape, validate_training):
        layer = self._made()
        x = Input(shape=self._shape[1:], dtype=self._dtype)
        y = layer(x)
        wanted = expected_output_dtype or self._dtype
        if backend.dtype(y) != dtypes.as_dtype(wanted).name:
            raise self._differs(x, "dtype", backend.dtype(y), wanted)
        if expected_output_shape is not None:
            expected = TensorShape(expected_output_shape)
            if not _fits(expected, y.shape):
                raise self._differs(x, "shape", y.shape, expected)
        model = Model(x, y)
        output = model.predict(self._input)
        self._check_shapes(layer, x, output)
        if expected_output is not None:
            np.testing.assert_allclose(output, expected_output, **_NEAR)
        recovered = Model.from_config(model.get_config())
        self._check_the_same(model, recovered, output)
        if validate_training:
            self._train(Model(x, layer(x)), output)
        self._in_a_sequential(layer, expected_output)
        return output

    def _made(self) -> Layer:
        layer = self._cls(**self._kwargs)
        if self._adapt_data is not None:
            layer.adapt(self._adapt_data)
        layer.set_weights(layer.get_weights())
        if "weights" in inspect.signature(self._cls.__init__).parameters:
            self._kwargs["weights"] = layer.get_weights()
            layer = self._cls(**self._kwargs)
        return layer

    def _differs(self, x, what, found, wanted) -> AssertionError:
        return AssertionError(
            f"{self._cls.__name__} on {x!r} gives the {what} {found}, where {wanted} is wanted; made with {self._kwargs}"
        )

    def _check_shapes(self, layer, x, output) -> None:
        """That both ways to ask what outputs are say what there is."""
        shape, found = TensorShape(self._shape), TensorShape(output.shape)
        signature = layer.compute_output_signature(TensorSpec(shape, dtypes.as_dtype(self._dtype)))
        for said in (TensorShape(layer.compute_output_shape(shape)), signature.shape):
            if not _fits(said, found):
                raise self._differs(x, "shape", found, said)
        if signature.dtype != dtypes.as_dtype(output.dtype):
            raise self._differs(x, "dtype", output.dtype, signature.dtype)

    def _check_the_same(self, model, recovered, output) -> None:
        if not model.weights:
            return
        recovered.set_weights(model.get_weights())
        np.testing.assert_allclose(recovered.predict(self._input), output, **_NEAR)

    def _train(self, model, targets) -> None:
        model.compile("rmsprop", "mse", **_as_this_test_runs())
        model.train_on_batch(self._input, targets)

    def _in_a_sequential(self, layer, expected_output) -> None:
        config = {**layer.get_config(), "batch_input_shape": self._shape}
        model = Sequential([self._cls.from_config(config)])
        output = model.predict(self._input)
        if expected_output is not None:
            np.testing.assert_allclose(output, expected_output, **_NEAR)
        self._check_the_same(model, Sequential.from_config(model.get_config()), output)


def _random_input(shape: Sequence[int | None], dtype: dtypes.DType) -> np.ndarray:
    """Numbers from -0.5 to 9.5; dimensions that are left open are of one to three entries."""
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]
    numbers = 10 * np.random.random(sizes)
    return (numbers - 0.5 if dtype.is_floating else numbers).astype(dtype.as_numpy_dtype)


def _fits(said: TensorShape, found: TensorShape) -> bool:
    """Whether dimensions that are known are those that there are."""
    if said.rank != found.rank:
        return False
    return all(a is None or a == b for a, b in zip(said.as_list(), found.as_list(), strict=True))


def _as_this_test_runs() -> dict[str, bool]:
    """What `compile` is given in a test that runs in a certain mode."""
    try:
        return {
            "run_eagerly": scopes.should_run_eagerly(),
            "experimental_run_tf_function": scopes.should_run_tf_function(),
        }
    except ValueError:  # no mode is set
        return {}
