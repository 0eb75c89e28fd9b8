"""Models for tests, of the kind that the test is running with: functional, sequential, or a class with or without its
own `build`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_layer import Input, InputLayer
from everflow.keras.engine.sequential import Sequential
from everflow.keras.engine.training import Model
from everflow.keras.layers.core import Dense
from everflow.legacy.inner.keras_testing.scopes import get_model_type

Layers = Sequence[Layer]


def _through(layers: Layers | None, x: Any) -> Any:
    for layer in layers or ():
        x = layer(x)
    return x


# --- two dense layers -----------------------------------------------------------------------------


def _two_dense(num_hidden: int, num_classes: int, **of_the_first: Any) -> list[Layer]:
    last = "sigmoid" if num_classes == 1 else "softmax"
    return [Dense(num_hidden, activation="relu", **of_the_first), Dense(num_classes, activation=last)]


class _SmallSubclassMLP(Model):
    def __init__(self, num_hidden, num_classes):
        super().__init__()
        self.layer_a, self.layer_b = _two_dense(num_hidden, num_classes)

    def call(self, inputs, **kwargs):
        return self.layer_b(self.layer_a(inputs))


class _SmallSubclassMLPCustomBuild(Model):
    def __init__(self, num_hidden, num_classes):
        super().__init__()
        self.layer_a = self.layer_b = None
        self.num_hidden, self.num_classes = num_hidden, num_classes

    def build(self, input_shape):
        self.layer_a, self.layer_b = _two_dense(self.num_hidden, self.num_classes)

    def call(self, inputs, **kwargs):
        return self.layer_b(self.layer_a(inputs))


def get_small_sequential_mlp(num_hidden: int, num_classes: int, input_dim: int | None = None) -> Sequential:
    """Two dense layers in a row; with `input_dim` they are built."""
    return Sequential(_two_dense(num_hidden, num_classes, **({"input_dim": input_dim} if input_dim else {})))


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Model:
    """Two dense layers from an input to an output."""
    inputs = Input(shape=(input_dim,))
    return Model(inputs, _through(_two_dense(num_hidden, num_classes), inputs))


def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Model:
    """Two dense layers in a class."""
    return _SmallSubclassMLP(num_hidden, num_classes)


def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Model:
    """Two dense layers in a class that makes them in its `build`."""
    return _SmallSubclassMLPCustomBuild(num_hidden, num_classes)


def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Model:
    """Two dense layers, in a model of the test's kind."""
    makers: dict[str, Callable[[], Model]] = {
        "sequential": lambda: get_small_sequential_mlp(num_hidden, num_classes, input_dim),
        "functional": lambda: get_small_functional_mlp(num_hidden, num_classes, input_dim),
        "subclass": lambda: get_small_subclass_mlp(num_hidden, num_classes),
        "subclass_custom_build": lambda: get_small_subclass_mlp_with_custom_build(num_hidden, num_classes),
    }
    return _of_this_kind(makers)()


def _of_this_kind(makers: dict[str, Any]) -> Any:
    kind = get_model_type()
    if kind not in makers:
        raise ValueError(f"{kind!r} is no kind of model; there are {', '.join(makers)}")
    return makers[kind]


# --- any layers in a row --------------------------------------------------------------------------


class _SubclassModel(Model):
    def __init__(self, layers, *args, **kwargs):
        inputs = kwargs.pop("input_tensor", None)
        super().__init__(*args, **kwargs)
        for i, layer in enumerate(layers):
            setattr(self, f"layer{i}", layer)
        self.num_layers = len(layers)
        if inputs is not None:
            self(inputs)

    def call(self, inputs, **kwargs):
        return _through([getattr(self, f"layer{i}") for i in range(self.num_layers)], inputs)


class _SubclassModelCustomBuild(Model):
    def __init__(self, layer_generating_func, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.all_layers = None
        self._layer_generating_func = layer_generating_func

    def build(self, input_shape):
        self.all_layers = list(self._layer_generating_func())

    def call(self, inputs, **kwargs):
        return _through(self.all_layers, inputs)


def get_model_from_layers(
    layers: Layers,
    input_shape: Sequence[int | None] | None = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: bool | None = None,
    input_sparse: bool | None = None,
) -> Model:
    """Layers one behind the other, in a model of the test's kind; a functional one needs the shape of its input."""
    about = {"dtype": input_dtype, "ragged": bool(input_ragged), "sparse": bool(input_sparse)}

    def sequential() -> Model:
        first = [] if input_shape is None else [InputLayer(input_shape=input_shape, **about)]
        return Sequential([*first, *layers], name=name)

    def functional() -> Model:
        if input_shape is None:
            raise ValueError("A functional model is made from an input: give its `input_shape`.")
        inputs = Input(shape=input_shape, **about)
        return Model(inputs, _through(layers, inputs), name=name)

    def subclass() -> Model:
        # What an input that isn't dense holds is not seen from the values of a call.
        inputs = Input(shape=input_shape, **about) if input_ragged or input_sparse else None
        return _SubclassModel(layers, name=name, input_tensor=inputs)

    makers = {
        "sequential": sequential,
        "functional": functional,
        "subclass": subclass,
        "subclass_custom_build": lambda: _SubclassModelCustomBuild(lambda: layers, name=name),
    }
    return _of_this_kind(makers)()


# --- branches -------------------------------------------------------------------------------------


class _Branches(Model):
    """Inputs through shared layers, or one for each branch; what the branches give through shared layers, or plain."""

    def _run(self, inputs):
        if self._shared_input_branch:
            a = b = _through(self._shared_input_branch, inputs)
        else:
            a, b = inputs
        outputs = [_through(self._branch_a, a), _through(self._branch_b, b)]
        return _through(self._shared_output_branch, outputs)


class _MultiIOSubclassModel(_Branches):
    def __init__(self, branch_a, branch_b, shared_input_branch=None, shared_output_branch=None):
        super().__init__()
        self._shared_input_branch = shared_input_branch
        self._branch_a, self._branch_b = branch_a, branch_b
        self._shared_output_branch = shared_output_branch

    def call(self, inputs, **kwargs):
        return self._run(inputs)


class _MultiIOSubclassModelCustomBuild(_Branches):
    def __init__(self, branch_a_func, branch_b_func, shared_input_branch_func=None, shared_output_branch_func=None):
        super().__init__()
        self._makers = (shared_input_branch_func, branch_a_func, branch_b_func, shared_output_branch_func)

    def build(self, input_shape):
        made = [None if maker is None else maker() for maker in self._makers]
        self._shared_input_branch, self._branch_a, self._branch_b, self._shared_output_branch = made

    def call(self, inputs, **kwargs):
        outputs = self._run(inputs)
        return outputs if self._shared_output_branch else tuple(outputs)


def get_multi_io_model(
    branch_a: Layers,
    branch_b: Layers,
    shared_input_branch: Layers | None = None,
    shared_output_branch: Layers | None = None,
) -> Model:
    """A model of two branches, of the test's kind. What comes first, in each branch or in the one that they share, is an
    `Input`.
    """
    if shared_input_branch:
        inputs, shared, branches = shared_input_branch[0], shared_input_branch[1:], (branch_a, branch_b)
    else:
        inputs, shared, branches = [branch_a[0], branch_b[0]], None, (branch_a[1:], branch_b[1:])

    def functional() -> Model:
        starts = [_through(shared, inputs)] * 2 if shared_input_branch else inputs
        outputs = tuple(_through(branch, x) for branch, x in zip(branches, starts, strict=True))
        return Model(inputs, _through(shared_output_branch, outputs))

    def sequential() -> Model:
        raise ValueError("A sequential model has no branches.")

    def with_build() -> Model:
        made = [None if layers is None else lambda layers=layers: layers for layers in (shared, shared_output_branch)]
        return _MultiIOSubclassModelCustomBuild(lambda: branches[0], lambda: branches[1], *made)

    makers = {
        "functional": functional,
        "sequential": sequential,
        "subclass": lambda: _MultiIOSubclassModel(*branches, shared, shared_output_branch),
        "subclass_custom_build": with_build,
    }
    return _of_this_kind(makers)()
