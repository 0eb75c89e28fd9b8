"""`tensorflow.python.distribute.model_collection` and `model_combinations`: small models of each kind with data, for tests of
saving under strategies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.conversion import convert_to_tensor
from everflow.keras import optimizers
from everflow.keras.layers import Dense, Input
from everflow.keras.models import Model, Sequential
from everflow.legacy.inner.test_combinations import NamedObject
from everflow.ops.functions.traced import function
from everflow.ops.variables.module import Module
from everflow.ops.variables.variable import Variable

_BATCH_SIZE = 10
_ROWS = 1000


def _get_data_for_simple_models() -> tuple[Any, Any, Any]:
    """(inputs, targets, inputs to predict for), by chance."""
    return tuple(convert_to_tensor(np.random.rand(_ROWS, columns).astype(np.float32)) for columns in (3, 5, 3))


class ModelAndInput:
    """A model, and data for it."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        """(model, name of its output)."""
        raise NotImplementedError("must be implemented in descendants")

    def get_data(self) -> tuple[Any, Any, Any]:
        """(inputs, targets, inputs to predict for)."""
        return _get_data_for_simple_models()

    def get_batch_size(self) -> int:
        """How many rows a batch has."""
        return _BATCH_SIZE


def _compiled(model: Any, experimental_run_tf_function: bool | None) -> Any:
    assert experimental_run_tf_function is not None
    model.compile(
        loss="mse",
        metrics=["mae"],
        optimizer=optimizers.SGD(0.001),
        experimental_run_tf_function=experimental_run_tf_function,
    )
    return model


class SimpleFunctionalModel(ModelAndInput):
    """A layer in a model of the functional interface."""

    def get_model(self, experimental_run_tf_function: bool | None = None, **kwargs: Any) -> tuple[Any, str]:
        """(model, name of its output)."""
        x = Input(shape=(3,))
        y = Dense(5, name="output_layer")(x)
        return _compiled(Model(inputs=x, outputs=y), experimental_run_tf_function), "output_layer"


class SimpleSequentialModel(ModelAndInput):
    """A layer in a sequential model."""

    def get_model(self, experimental_run_tf_function: bool | None = None, **kwargs: Any) -> tuple[Any, str]:
        """(model, name of its output)."""
        model = Sequential([Dense(5, name="output_layer", input_shape=(3,))])
        return _compiled(model, experimental_run_tf_function), "output_layer"


class _SimpleModule(Module):
    def __init__(self) -> None:
        self.v = Variable(3.0)

    @function
    def __call__(self, x: Any) -> Any:
        return self.v * x


class SimpleTFModuleModel(ModelAndInput):
    """A module that multiplies by a variable."""

    def get_model(self, **kwargs: Any) -> tuple[Any, str]:
        """(module, a name for its output)."""
        return _SimpleModule(), "foo"


simple_functional_model, simple_sequential_model, simple_tfmodule_model = (
    NamedObject(kind.__name__, kind()) for kind in (SimpleFunctionalModel, SimpleSequentialModel, SimpleTFModuleModel)
)
