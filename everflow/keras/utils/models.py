"""What is done to whole models: finding their inputs, turning Theano's kernels, spreading them over GPUs."""

from __future__ import annotations

import numpy as np

from everflow.framework.scopes import device, name_scope
from everflow.keras import backend as K
from everflow.keras.backend.state import session_without_initializing
from everflow.ops import array


def get_source_inputs(tensor, layer=None, node_index=None):
    """The Input tensors that a tensor was computed from.

    Args:
        tensor: The tensor.
        layer: The layer it comes from.
        node_index: Which call of the layer it comes from.

    Returns:
        A list of tensors.

    Example:
        >>> x = tf.keras.Input([2])
        >>> tf.keras.utils.get_source_inputs(tf.keras.layers.Dense(3)(x))[0] is x
        True
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    history = tensor._keras_history
    if layer is None or node_index:
        layer, node_index = history[0], history[1]
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index]
    inputs = node.input_tensors if isinstance(node.input_tensors, (list, tuple)) else [node.input_tensors]
    if not node.inbound_layers:
        return list(inputs)
    found = []
    for source in inputs:
        for one in get_source_inputs(source):
            if all(one is not other for other in found):
                found.append(one)
    return found


def convert_all_kernels_in_model(model):
    """Turn the kernels of all convolutions, from Theano's way of writing them to TensorFlow's or back.

    Args:
        model: The model, which is changed.

    Returns:
        None.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Conv2D(1, 2, input_shape=[4, 4, 1])])
        >>> tf.keras.utils.convert_all_kernels_in_model(model)
    """
    names = {"Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D", "Conv2DTranspose"}
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in names]
    K.batch_set_value([(kernel, convert_kernel(K.get_value(kernel))) for kernel in kernels])


def convert_kernel(kernel):
    """A kernel with its spatial axes reversed."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.copy(np.flip(kernel, axis=tuple(range(kernel.ndim - 2))))


def multi_gpu_model(model, gpus, cpu_merge=True, cpu_relocation=False):
    """A model that runs copies of another on parts of each batch, one for each GPU, and joins their outputs.

    Args:
        model: The model.
        gpus: How many GPUs, or a list of their numbers.
        cpu_merge: Whether outputs are joined on the CPU.
        cpu_relocation: Whether the model's weights are made on the CPU.

    Returns:
        A model.

    Raises:
        ValueError: If there are not so many GPUs.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.utils.multi_gpu_model(model, gpus=2)
        Traceback (most recent call last):
            ...
        ValueError: ...
    """
    from everflow.keras import layers  # builds on this module
    from everflow.keras.engine.training import Model  # builds on this module
    from everflow.keras.models import clone_model  # builds on this module

    ids, count = (gpus, len(gpus)) if isinstance(gpus, (list, tuple)) else (range(gpus), gpus)
    if count <= 1:
        raise ValueError(f"`multi_gpu_model` spreads a model over two GPUs or more, not over gpus={gpus}.")
    available = [_normalize_device_name(name) for name in _get_available_devices()]
    wanted = ["/cpu:0"] + [f"/gpu:{i}" for i in ids]
    for name in wanted:
        if name not in available:
            raise ValueError(
                f"`multi_gpu_model` with gpus={gpus} needs the devices {wanted}; this machine has {available}."
            )
    if cpu_relocation:
        with device("/cpu:0"):
            model = clone_model(model)

    def part(data, i, parts):
        shape = array.shape(data)
        step = shape[:1] // parts
        size = shape[:1] - step * i if i == parts - 1 else step
        return array.slice(
            data, array.concat([step * i, shape[1:] * 0], axis=0), array.concat([size, shape[1:]], axis=0)
        )

    outputs = [[] for _ in model.outputs]
    for i, gpu in enumerate(ids):
        with device(f"/gpu:{gpu}"), name_scope(f"replica_{gpu}"):
            inputs = []
            for x in model.inputs:
                with device(x.device):
                    shape, arguments = tuple(x.shape.as_list())[1:], {"i": i, "parts": count}
                    inputs.append(layers.Lambda(part, output_shape=shape, arguments=arguments)(x))
            replica = model(inputs if len(inputs) > 1 else inputs[0])
            for place, output in enumerate(replica if isinstance(replica, list) else [replica]):
                outputs[place].append(output)
    with device("/cpu:0" if cpu_merge else f"/gpu:{list(ids)[0]}"):
        merged = [layers.concatenate(parts, axis=0, name=name) for name, parts in zip(model.output_names, outputs)]
    return Model(model.inputs, merged)


def _get_available_devices():
    """The full names of the devices of this process."""
    return [found.name for found in session_without_initializing().list_devices()]


def _normalize_device_name(name):
    """The last part of a device's name, in small letters: `/gpu:1`."""
    return "/" + name.lower().split("device:")[1]
