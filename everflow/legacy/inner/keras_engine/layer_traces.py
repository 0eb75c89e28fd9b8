"""TensorFlow's `keras.saving.saved_model.save` and `utils`: the functions of a layer that a SavedModel holds, which are
traced together, and the argument `training` of a layer's `call` wherever that stands.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from everflow.framework import nest
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.keras import backend as K
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.call_context import call_context
from everflow.keras.engine.input_spec import to_tensor_spec
from everflow.keras.engine.layer_losses import as_before
from everflow.keras.engine.training import Model
from everflow.keras.layers.recurrent import RNN
from everflow.keras.saving.saved_model.save import serving_function
from everflow.ops.control_flow.conditionals import smart_cond
from everflow.ops.functions.traced import Function
from everflow.platform import logging
from everflow.platform.inspection import getfullargspec

_OF_A_CALL = "training"

# --- the argument `training` -----------------------------------------------------------------------


def get_training_arg_index(call_fn: Callable) -> int:
    """The position of `training` among what a function, or a method besides its object, takes; -1 where it has none."""
    names = getfullargspec(call_fn).args
    if names and inspect.ismethod(call_fn):
        names = names[1:]
    return names.index(_OF_A_CALL) if _OF_A_CALL in names else -1


def _is_at(index: int | None, args: Sequence[Any]) -> bool:
    return index is not None and 0 <= index < len(args)


def set_training_arg(training: Any, index: int | None, args: Any, kwargs: dict) -> tuple[Any, dict]:
    """(args, kwargs) in which `training` is given; as they are where a call takes none, which None for `index` says."""
    if index is None:
        return args, kwargs
    if _is_at(index, args):
        args[index] = training
    else:
        kwargs[_OF_A_CALL] = training
    return args, kwargs


def get_training_arg(index: int | None, args: Sequence[Any], kwargs: dict) -> Any:
    """What a call says of training; None where it says nothing."""
    return args[index] if _is_at(index, args) else kwargs.get(_OF_A_CALL)  # type: ignore[index]


def remove_training_arg(index: int | None, args: list[Any], kwargs: dict) -> None:
    """Take what a call says of training out of its arguments."""
    if _is_at(index, args):
        args.pop(index)  # type: ignore[arg-type]
    else:
        kwargs.pop(_OF_A_CALL, None)


def layer_uses_training_bool(layer: Layer) -> bool:
    """Whether a layer, or one inside, is told whether it trains."""
    inside = [x for x in layer.submodules if isinstance(x, Layer)]
    return any(x._expects_training_arg for x in (layer, *inside))


def maybe_add_training_arg(
    original_call: Callable, wrapped_call: Callable, expects_training_arg: bool, default_training_value: Any
) -> tuple[Callable, inspect.FullArgSpec | None]:
    """(a call that takes `training`, its arguments): the one given and None where the layer has no use for it."""
    if not expects_training_arg:
        return wrapped_call, None
    spec, index = getfullargspec(original_call), get_training_arg_index(original_call)

    def with_training(*args: Any, **kwargs: Any) -> Any:
        given = list(args)
        told = get_training_arg(index, given, kwargs)
        if told is None:
            told = default_training_value or call_context.training or K.learning_phase()

        def told_that(phase: bool) -> Any:
            args_of_phase, kwargs_of_phase = set_training_arg(phase, index, list(given), dict(kwargs))
            with call_context.told(phase):
                return wrapped_call(*args_of_phase, **kwargs_of_phase)

        return smart_cond(told, lambda: told_that(True), lambda: told_that(False))

    if index == -1 and _OF_A_CALL not in spec.kwonlyargs:
        defaults = {**(spec.kwonlydefaults or {}), _OF_A_CALL: default_training_value}
        spec = spec._replace(kwonlyargs=[*spec.kwonlyargs, _OF_A_CALL], kwonlydefaults=defaults)
    return with_training, spec


# --- functions that are traced together --------------------------------------------------------------


class LayerCallCollection:
    """Functions of one layer: what one of them is called on, all are traced for, and once for each phase."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.tracing = False
        self._functions: dict[str, LayerCall] = {}
        self._expects_training_arg = layer_uses_training_bool(layer)
        self._training_arg_index = get_training_arg_index(layer.call)
        self._input_signature = self._generate_input_signature(layer)

    def _generate_input_signature(self, layer: Layer) -> list[Any] | None:
        """What the layer is always called on: its function says it, or its inputs, or the kind of input it takes."""
        if isinstance(layer.call, Function) and layer.call.input_signature is not None:
            return list(layer.call.input_signature)
        if isinstance(layer, Model) and layer.inputs:
            known = [TensorSpec(x.shape, x.dtype.base_dtype) for x in layer.inputs]
            return [known[0] if len(known) == 1 else known]
        if layer.input_spec is None or isinstance(layer, RNN):
            return None
        specs = to_tensor_spec(layer.input_spec, layer.dtype)
        if any(spec.shape == TensorShape(None) or spec.shape.rank is None for spec in nest.flatten(specs)):
            return None
        return [specs]

    @property
    def fn_input_signature(self) -> list[Any] | None:
        """The signature of the functions; None where they also take a phase, which is no tensor."""
        return None if self._expects_training_arg else self._input_signature

    def training_arg_was_passed(self, args: tuple, kwargs: dict) -> bool:
        """Whether a call says something of training."""
        if not self.layer._call_takes(_OF_A_CALL) and self._expects_training_arg:
            return _OF_A_CALL in kwargs
        return self.layer._call_arg_was_passed(_OF_A_CALL, args[1:], kwargs)

    def get_training_arg_value(self, args: tuple, kwargs: dict) -> Any:
        """What a call says of training; KeyError where it is nothing."""
        if not self.layer._call_takes(_OF_A_CALL) and self._expects_training_arg:
            return kwargs.get(_OF_A_CALL)
        return self.layer._get_call_arg_value(_OF_A_CALL, args[1:], kwargs)

    def _maybe_wrap_with_training_arg(self, call_fn: Callable) -> Callable:
        """A call that takes `training`, for a layer that leaves it to those inside."""
        if not self._expects_training_arg or self.layer._call_takes(_OF_A_CALL):
            return call_fn

        def with_training(inputs: Any, *args: Any, training: Any = False, **kwargs: Any) -> Any:
            with call_context.told(training):
                return call_fn(inputs, *args, **kwargs)

        return with_training

    def add_trace(self, *args: Any, **kwargs: Any) -> None:
        """Trace all functions for arguments like these."""
        self.tracing = True
        try:
            for function in self._functions.values():
                if not self._expects_training_arg:
                    function.get_concrete_function(*args, **kwargs)
                    continue
                index = self._training_arg_index if self.layer._call_takes(_OF_A_CALL) else -1
                for phase in (True, False):
                    told, named = set_training_arg(phase, index, list(args), dict(kwargs))
                    with K.learning_phase_scope(int(phase)):
                        function.get_concrete_function(*told, **named)
        finally:
            self.tracing = False

    def add_function(self, call_fn: Callable, name: str) -> LayerCall:
        """One more function, traced for what the layer is known to be called on."""
        wrapped = self._maybe_wrap_with_training_arg(layer_call_wrapper(self, call_fn))
        function = LayerCall(self, wrapped, name, input_signature=self.fn_input_signature, autograph=False)
        self._functions[name] = function
        if self._input_signature is not None:
            self.add_trace(*self._input_signature)
        return function


def layer_call_wrapper(call_collection: LayerCallCollection, method: Callable) -> Callable:
    """A method of a layer, after which the layer has no losses and updates more than before."""
    layer = call_collection.layer

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        with as_before(layer), call_context.enter(layer, args[0] if args else None, None):
            return method(*args, **kwargs)

    called.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return called


class LayerCall(Function):
    """One of a layer's functions: where it is called, all of them are traced."""

    def __init__(self, call_collection: LayerCallCollection, python_function: Callable, *args: Any, **kwargs: Any):
        self.call_collection = call_collection
        super().__init__(python_function, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.call_collection.tracing:
            self.call_collection.add_trace(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        if not self.call_collection.tracing:
            self.call_collection.add_trace(*args, **kwargs)
        return super().get_concrete_function(*args, **kwargs)


# --- parts of saving ----------------------------------------------------------------------------------


def _wrap_call_and_conditional_losses(layer: Layer) -> Callable:
    """A layer's `call` that also gives the losses which it added."""

    def call_and_return_conditional_losses(inputs: Any, *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
        outputs = layer.call(inputs, *args, **kwargs)
        held = [x for x in (layer, *layer.submodules) if isinstance(x, Layer)]
        return outputs, [loss for x in held for loss in x._eager_losses or x._losses]

    call_and_return_conditional_losses.__signature__ = inspect.signature(layer.call)  # type: ignore[attr-defined]
    return call_and_return_conditional_losses


def _should_skip_serialization(layer: Layer) -> bool:
    """Whether there is nothing to write of a layer yet, which is told: it was never built."""
    if layer.built:
        return False
    logging.warning(f"Layer {layer.name} was never built: its functions are not in the SavedModel.")
    return True


def _default_save_signature(layer: Layer) -> Function | None:
    """The function of a model that servers call; None for what is no model, or doesn't know its inputs."""
    return serving_function(layer) if isinstance(layer, Model) and layer.inputs else None


def _list_all_layers(obj: Any) -> list[Layer]:
    """The layers of a model, or those that a layer holds."""
    return list(obj.layers) if isinstance(obj, Model) else obj._nested_layers()
