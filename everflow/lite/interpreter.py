"""tf.lite.Interpreter: runs a .tflite model, one operator after the other."""

from __future__ import annotations

import sys

import numpy as np

from everflow.formats import tflite
from everflow.formats.flatbuffers import FlatbufferError
from everflow.framework.errors import OpError
from everflow.kernels.lite import registry
from everflow.kernels.lite.registry import Operand
from everflow.lite import select_ops
from everflow.platform.gfile import GFile

_MAX_BYTES = 1 << 40  # a file can claim shapes beyond all memory


class Interpreter:
    """Runs a TensorFlow Lite model.

    >>> interpreter = tf.lite.Interpreter(model_path="model.tflite")
    >>> interpreter.allocate_tensors()
    >>> interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
    >>> interpreter.invoke()
    >>> scores = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    """

    def __init__(self, model_path=None, model_content=None, experimental_delegates=None):
        if bool(model_path) == bool(model_content):
            both = "both are" if model_path else "neither is"
            raise ValueError(f"An Interpreter takes `model_path` or `model_content`: {both} given.")
        if experimental_delegates:
            raise NotImplementedError("Delegates are native code for TensorFlow Lite's interpreter, not for this one.")
        try:
            if not model_path and not isinstance(model_content, bytes | bytearray | memoryview):
                raise ValueError(f"model_content must be bytes, not {type(model_content).__name__}")
            self._model = tflite.read_model(_contents(model_path) if model_path else bytes(model_content))
        except FlatbufferError as e:
            raise ValueError(f"{model_path or 'model_content'} is not a TensorFlow Lite model: {e}") from e
        self._graph = self._model.subgraphs[0]
        self._shapes = [tuple(int(d) for d in (() if t.shape is None else t.shape)) for t in self._graph.tensors]
        self._constants = {i for i, t in enumerate(self._graph.tensors) if self._buffer(t) is not None}
        self._values: list = [None] * len(self._shapes)
        for i in self._constants:
            self._values[i] = self._constant(i)
        self._handed_out: set[int] = set()
        self._steps: list | None = None  # (kernel, call, operator) of each operator, once allocated
        self._resized = False

    def allocate_tensors(self):
        """Make room for the tensors. To be called before anything else, and again after `resize_tensor_input`."""
        self._ensure_safe()
        self._steps = [self._step(number, operator) for number, operator in enumerate(self._graph.operators)]
        for i in self._inputs():
            if i not in self._constants and (self._values[i] is None or self._values[i].shape != self._shapes[i]):
                self._values[i] = _empty(self._shapes[i], self._dtype(i))
        self._reset_variables()
        if self._resized:
            # Shapes of all that follows come from one run on zeros.
            try:
                self._run()
            except RuntimeError:
                self._steps = None
                raise
            self._reset_variables()
            self._resized = False
        for i in self._outputs():
            if self._values[i] is None:
                self._values[i] = _empty(self._shapes[i], self._dtype(i))

    def invoke(self):
        """Compute the outputs from the inputs."""
        self._ensure_safe()
        if self._steps is None:
            raise RuntimeError("Invoke called on model that is not ready. Call allocate_tensors() first.")
        self._run()

    def get_input_details(self):
        """A dict for each input: its name, index, shape, dtype and quantization (scale and zero point)."""
        return [self._details(i) for i in self._inputs()]

    def get_output_details(self):
        """A dict for each output, as `get_input_details` has them."""
        return [self._details(i) for i in self._outputs()]

    def get_tensor_details(self):
        """A dict for every tensor of the model. Those between inputs and outputs may have no value any more."""
        return [self._details(i) for i in range(len(self._shapes))]

    def set_tensor(self, tensor_index, value):
        """Give an input its value, which is copied. It must have the input's type and shape."""
        current = self._at(tensor_index)
        found = np.asarray(value)
        wanted = self._dtype(tensor_index)
        name = self._graph.tensors[tensor_index].name
        if wanted.kind == "O" and found.dtype.kind in "SUO":
            words = [v if isinstance(v, bytes) else str(v).encode() for v in found.ravel()]
            found = np.array([*words, None], object)[:-1].reshape(found.shape)
            self._values[tensor_index] = found
            return
        if found.dtype != wanted:
            raise ValueError(
                f"Cannot set tensor: Got value of type {found.dtype} but expected type {wanted} for input {tensor_index}, name: {name}"
            )
        if found.ndim != current.ndim:
            raise ValueError(
                f"Cannot set tensor: Dimension mismatch. Got {found.ndim} but expected {current.ndim} for input {tensor_index}."
            )
        for axis, (got, expected) in enumerate(zip(found.shape, current.shape, strict=True)):
            if got != expected:
                raise ValueError(
                    f"Cannot set tensor: Dimension mismatch. Got {got} but expected {expected} for dimension {axis} of input {tensor_index}."
                    f" It has the shape {list(current.shape)}; resize_tensor_input changes that."
                )
        current[...] = found

    def get_tensor(self, tensor_index):
        """A copy of a tensor's value."""
        return self._at(tensor_index).copy()

    def tensor(self, tensor_index):
        """A function that returns a tensor's memory as an array, to be read and written without copies.

        Hold the function, not the array: while an array is held, `invoke` and `allocate_tensors` raise RuntimeError.
        """

        def memory():
            value = self._at(tensor_index)
            self._handed_out.add(tensor_index)
            return value[...]

        return memory

    def resize_tensor_input(self, input_index, tensor_size):
        """Give an input another shape. Call `allocate_tensors` before the next `invoke`."""
        self._ensure_safe()
        shape = tuple(int(d) for d in tensor_size)
        if not 0 <= input_index < len(self._shapes):
            raise RuntimeError(f"There is no tensor {input_index}; the model has {len(self._shapes)}.")
        if input_index in self._constants:
            raise RuntimeError("Attempting to resize a fixed-size tensor.")
        if any(d < 0 for d in shape):
            raise RuntimeError(f"Can't resize tensor {input_index} to {list(shape)}")
        if shape != self._shapes[input_index]:
            self._shapes[input_index] = shape
            self._resized, self._steps = True, None

    def reset_all_variables(self):
        """Set the model's states (of its recurrent layers) to zeros."""
        self._reset_variables()

    def _inputs(self):
        return [int(i) for i in (() if self._graph.inputs is None else self._graph.inputs)]

    def _outputs(self):
        return [int(i) for i in (() if self._graph.outputs is None else self._graph.outputs)]

    def _dtype(self, index) -> np.dtype:
        return tflite.TYPES[self._graph.tensors[index].type]

    def _details(self, index):
        tensor = self._graph.tensors[index]
        q = tensor.quantization
        whole = q is not None and all(values is not None and len(values) == 1 for values in (q.scale, q.zero_point))
        value = self._values[index]
        dtype = self._dtype(index) if value is None else value.dtype
        return {
            "name": tensor.name or "",
            "index": index,
            "shape": np.array(self._shapes[index], np.int32),
            "dtype": np.bytes_ if dtype.kind == "O" else dtype.type,
            "quantization": (float(q.scale[0]), int(q.zero_point[0])) if whole else (0.0, 0),
        }

    def _at(self, index):
        if not 0 <= index < len(self._values):
            raise ValueError(f"Invalid tensor index {index} exceeds max tensor index {len(self._values) - 1}")
        value = self._values[index]
        if value is None:
            raise ValueError(
                f"Tensor {self._graph.tensors[index].name!r} has no value. Call allocate_tensors() and invoke() first."
            )
        return value

    def _buffer(self, tensor):
        buffers = self._model.buffers or []
        data = buffers[tensor.buffer].data if tensor.buffer < len(buffers) else None
        return data if data is not None and data.size else None

    def _constant(self, index):
        tensor, shape, dtype = self._graph.tensors[index], self._shapes[index], self._dtype(index)
        data = self._buffer(tensor)
        if dtype.kind == "O":
            return tflite.unpack_strings(data.tobytes(), shape)
        if data.size != int(np.prod(shape, dtype=object)) * dtype.itemsize:
            raise ValueError(f"Tensor {tensor.name!r} of shape {list(shape)} has {data.size} bytes in the model")
        return data.view(dtype).reshape(shape).copy()

    def _operand(self, index):
        if index < 0:
            return None
        q = self._graph.tensors[index].quantization
        if q is None or q.scale is None or not len(q.scale):
            return Operand(self._dtype(index))
        zeros = np.zeros(len(q.scale), np.int64) if q.zero_point is None or not len(q.zero_point) else q.zero_point
        return Operand(self._dtype(index), np.asarray(q.scale, np.float32), zeros, q.quantized_dimension)

    def _step(self, number, operator):
        code = self._model.operator_codes[operator.opcode_index]
        name = tflite.op_name(code)
        custom = tflite.BUILTINS[code.builtin_code : code.builtin_code + 1] == ["CUSTOM"]
        if custom and not name.startswith(select_ops.PREFIX):
            raise RuntimeError(
                f"Encountered unresolved custom op: {name}.Node number {number} ({name}) failed to prepare."
            )
        inputs = () if operator.inputs is None else tuple(int(i) for i in operator.inputs)
        outputs = () if operator.outputs is None else tuple(int(i) for i in operator.outputs)
        options = operator.builtin_options or _default_options(name)
        operands = (tuple(self._operand(i) for i in indices) for indices in (inputs, outputs))
        call = registry.Call(name, options, *operands)
        kernel = select_ops.kernel(operator.custom_options, call) if custom else registry.find(call)
        if kernel is None:
            raise RuntimeError(f"Node number {number}: there is no kernel for {name} yet")
        return kernel, call, inputs, outputs

    def _reset_variables(self):
        for i, tensor in enumerate(self._graph.tensors):
            if tensor.is_variable:
                self._values[i] = _empty(self._shapes[i], self._dtype(i))

    def _run(self):
        from everflow.kernels.tensors import from_numpy, to_numpy  # loads torch

        for number, (kernel, call, inputs, outputs) in enumerate(self._steps):
            try:
                made = kernel(call, *[None if i < 0 else from_numpy(self._at(i)) for i in inputs])
            except (OpError, ValueError, RuntimeError, IndexError, TypeError) as e:
                shapes = ", ".join(
                    "none" if i < 0 else f"{self._graph.tensors[i].name} {list(self._shapes[i])}" for i in inputs
                )
                raise RuntimeError(f"Node number {number} ({call.name}) failed to invoke with {shapes}: {e}") from e
            for i, value in zip(outputs, made if isinstance(made, tuple | list) else (made,), strict=False):
                self._store(i, to_numpy(value))

    def _store(self, index, value):
        current = self._values[index]
        self._shapes[index] = value.shape
        if index in self._handed_out and current is not None and current.shape == value.shape:
            current[...] = value  # somebody keeps a function that shows this memory
        else:
            # A kernel may return a view of its input, which must not be overwritten with it.
            self._values[index] = value if value.base is None else value.copy()

    def _ensure_safe(self):
        """No array over a tensor's memory may be held while that memory can change its place."""
        for i in self._handed_out:
            if sys.getrefcount(self._values[i]) > 2:
                raise RuntimeError(
                    f"The program holds a reference to internal data: an array over tensor {self._graph.tensors[i].name!r}, which would no "
                    "longer show it. Hold only the function that tensor() returned, and let go of the arrays it gives."
                )


def _contents(path) -> bytes:
    try:
        with GFile(path, "rb") as f:
            return f.read()
    except OpError as e:
        raise ValueError(f"Could not open '{path}'.") from e


def _empty(shape, dtype):
    if int(np.prod(shape, dtype=object)) * dtype.itemsize > _MAX_BYTES:
        raise RuntimeError(f"A tensor of shape {list(shape)} is too large")
    return np.full(shape, b"", object) if dtype.kind == "O" else np.zeros(shape, dtype)


def _default_options(name: str):
    """An operator without options behaves as if they were all left out."""
    table = tflite.options_table(name)
    return None if table is None else tflite.SCHEMA.new(table)
