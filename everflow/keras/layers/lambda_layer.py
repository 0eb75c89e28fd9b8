"""`tf.keras.layers.Lambda`: any function as a layer."""

from __future__ import annotations

import base64
import inspect
import marshal
import sys

from everflow.framework.shapes import TensorShape
from everflow.keras.engine.base_layer import Layer, map_shapes
from everflow.keras.generic import deserialize_keras_object, get_custom_objects
from everflow.ops.variables.scope import variable_creator_scope
from everflow.ops.variables.trackable import NoDependency

# Functions that this process wrote into a config, lambdas by their code and others by name: only these are found again.
# Code that comes in a file is never run.
_known_functions: dict = {}


class Lambda(Layer):
    """A function of the inputs as a layer; `arguments` are further arguments of it.

    Args:
        function: The function.
        output_shape: The shape of the result, where it can't be seen.
        mask: The mask of the result, or a function that makes it.
        arguments: Further arguments of the function.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> sess.run(tf.keras.layers.Lambda(lambda x: x ** 2)(tf.constant([3.0])))
        array([9.], dtype=float32)
    """

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.arguments = arguments if arguments else {}
        if mask is not None:
            self.supports_masking = True
        self.mask = mask
        self._output_shape = output_shape
        accepted = inspect.signature(function).parameters if callable(function) else ()
        self._made = NoDependency({})
        self._passed = [name for name in ("mask", "training") if name in accepted]

    def compute_output_shape(self, input_shape):
        said = self._output_shape
        if said is None:
            return self._drawn_output_shape(input_shape)
        if callable(said):
            return map_shapes(
                TensorShape, said(map_shapes(lambda shape: tuple(TensorShape(shape).as_list()), input_shape))
            )
        # What is said leaves out the batch, which is that of the first input.
        sizes = []
        map_shapes(lambda shape: sizes.append(TensorShape(shape)[0]), input_shape)
        return map_shapes(lambda shape: TensorShape([sizes[0], *shape]), said)

    def call(self, inputs, mask=None, training=None):
        given = {"mask": mask, "training": training}
        passed = {name: given[name] for name in self._passed if name not in self.arguments}
        with variable_creator_scope(self._made_once):
            return self.function(inputs, **self.arguments, **passed)

    def _made_once(self, make, **options):
        """A variable that the function makes belongs to the layer, and is the same in later calls."""
        name = options.get("name")
        if name is not None and name in self._made:
            return self._made[name]
        variable = make(**options)
        self._made[variable.name if name is None else name] = variable
        self._track(variable.name, variable)
        (self._trainable_weights if variable.trainable else self._non_trainable_weights).append(variable)
        return variable

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        config = super().get_config()
        for key, value in (("function", self.function), ("output_shape", self._output_shape)):
            by_name = key == "function" or not inspect.isfunction(value)
            written, kind, module = _written(value) if by_name else by_code(value)
            config.update(
                {key: written, f"{key}_type": kind, "module" if key == "function" else f"{key}_module": module}
            )
        if self.mask is not None:
            config["mask"], config["mask_type"], config["mask_module"] = _written(self.mask)
        config["arguments"] = self.arguments
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for key in ("function", "output_shape", "mask"):
            kind = config.pop(f"{key}_type", "raw")
            config.pop("module" if key == "function" else f"{key}_module", None)
            if key in config and not (key == "output_shape" and kind == "lambda"):
                config[key] = from_code(config[key], kind, custom_objects)
            elif key in config:  # a shape can be seen where its function isn't known
                config[key] = _known_functions.get(_code_of(config[key]))
        return cls(**config)


def _written(value):
    """(data, kind, module) of a function: a lambda by its code, any other by its name."""
    if not callable(value):
        return value, "raw", None
    if not inspect.isfunction(value) or value.__name__ != "<lambda>":
        _known_functions[value.__name__] = value
        return value.__name__, "function", getattr(value, "__module__", None)
    return by_code(value)


def by_code(value):
    """(data, kind, module) of a function by its code, which is only known again in the same program."""
    code = base64.encodebytes(marshal.dumps(value.__code__)).decode("ascii")
    closure = tuple(cell.cell_contents for cell in value.__closure__) if value.__closure__ else None
    _known_functions[code] = value
    return (code, value.__defaults__, closure), "lambda", value.__module__


def _code_of(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _of_the_program(name):
    """The function of this name that the program itself defines, in its main file."""
    found = vars(sys.modules.get("__main__", object)).get(name)
    return found if inspect.isfunction(found) and found.__module__ == "__main__" else None


def from_code(value, kind, custom_objects=None):
    """The function that was written down."""
    if kind == "function":
        known = _known_functions.get(value) or _of_the_program(value)
        if known is not None and value not in (custom_objects or {}) and value not in get_custom_objects():
            return known
        return deserialize_keras_object(
            value, custom_objects=custom_objects, printable_module_name="function in Lambda layer"
        )
    if kind == "lambda":
        code = _code_of(value)
        if code not in _known_functions:
            raise ValueError(
                "A Lambda layer in this file holds the bytecode of a Python lambda, which Everflow doesn't run: it belongs to another version "
                "of Python, and could do anything. Build the model in code and load its weights with `load_weights`, or write the function "
                "with `def` and give it in `custom_objects` under its name."
            )
        return _known_functions[code]
    return tuple(value) if isinstance(value, list) else value
