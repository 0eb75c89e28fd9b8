"""What a layer has by its names inside TensorFlow: libraries and tests that look into a layer ask for these."""

from __future__ import annotations

from typing import Any

from everflow.framework import nest


class LayerInnerNames:
    """The part of a layer that answers to TensorFlow's own names."""

    _unique_trainable_weights = property(lambda self: self.trainable_weights)
    _tracking_metadata = property(lambda self: self._saved_identity()[1])

    @property
    def _should_compute_mask(self) -> bool:
        """Whether `call` takes a mask, or `compute_mask` makes one."""
        return "mask" in self._call_fn_args or getattr(self, "compute_mask", None) is not None

    def _is_layer(self) -> bool:
        return True

    def _maybe_create_attribute(self, name: str, default_value: Any) -> None:
        """Set an attribute that isn't there yet."""
        if not hasattr(self, name):
            setattr(self, name, default_value)

    def _gather_children_attribute(self, attribute: str) -> list:
        """What the layers inside have under a name, in one list."""
        return [item for layer in self._nested_layers() for item in getattr(layer, attribute)]

    def _get_existing_metric(self, name: str | None = None) -> Any:
        """The metric of a name; None where there is none, ValueError for several."""
        found = [metric for metric in self._metrics if metric.name == name]
        if len(found) > 1:
            raise ValueError(
                f"{len(found)} metrics of layer {self.name} are called {name!r}: give them different names."
            )
        return found[0] if found else None

    def _get_node_attribute_at_index(self, node_index: int, attr: str, attr_name: str) -> Any:
        """What is known of a call of the layer, by its number."""
        self._require_calls(attr_name, RuntimeError)
        if not len(self._inbound_nodes) > node_index:
            raise ValueError(
                f"Layer {self.name} has been called {len(self._inbound_nodes)} times: there is no {attr_name} of call {node_index}."
            )
        found = getattr(self._inbound_nodes[node_index], attr)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    # --- arguments of `call` -----------------------------------------------------------------

    def _call_arg_was_passed(self, arg_name: str, args: tuple, kwargs: dict) -> bool:
        """Whether a call, the inputs first among its arguments, gives an argument besides them."""
        return arg_name in kwargs or arg_name in dict(zip(self._call_fn_args[1:], args))

    def _get_call_arg_value(self, arg_name: str, args: tuple, kwargs: dict) -> Any:
        """The value that a call gives an argument; KeyError where it doesn't."""
        return kwargs[arg_name] if arg_name in kwargs else dict(zip(self._call_fn_args[1:], args))[arg_name]

    def _collect_input_masks(self, inputs: Any, args: tuple, kwargs: dict) -> Any:
        """The masks that came with inputs: those given, or those of the tensors."""
        if self._call_arg_was_passed("mask", args, kwargs):
            return self._get_call_arg_value("mask", args, kwargs)
        masks = nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), inputs)
        return None if all(mask is None for mask in nest.flatten(masks)) else masks

    # --- what is trained ---------------------------------------------------------------------

    def _get_trainable_state(self) -> dict:
        """Whether the layer, and each of those inside, is trained."""
        state = {self: self.trainable}
        for layer in self._nested_layers():
            state.update(layer._get_trainable_state())
        return state

    def _set_trainable_state(self, trainable_state: dict) -> None:
        """Put back what `_get_trainable_state` gave."""
        layers = [self, *self._nested_layers()]
        for layer in layers:
            if layer in trainable_state:
                layer._trainable = trainable_state[layer]
            if layer is not self:
                layer._set_trainable_state(trainable_state)
