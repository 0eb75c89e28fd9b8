"""`tf.keras.experimental.export_saved_model`: a model as graphs for training, evaluating and serving."""

from __future__ import annotations

import contextlib
import os

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework.graph import Graph
from everflow.framework.scopes import control_dependencies
from everflow.keras import backend as K
from everflow.keras.optimizers import Optimizer, TFOptimizer
from everflow.keras.saving import saved_model
from everflow.keras.saving.clones import as_metric_op, clone_with, copy_of
from everflow.keras.saving.model_config import model_from_json
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import group
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.ops.variables.variable import Variable, local_variables_initializer
from everflow.platform import file_io, logging
from everflow.saved_model import constants, tag_constants
from everflow.saved_model.builder import SavedModelBuilder
from everflow.saved_model.signature_def_utils import build_signature_def, op_signature_def, predict_signature_def
from everflow.saved_model.utils import build_tensor_info
from everflow.train.saver import Saver
from everflow.train.tracking import ObjectTree

_CONFIG = "saved_model.json"
# What the signature of each kind of graph is called, and what a program does with it.
_SIGNATURES = {"train": ("train", "tensorflow/supervised/training"), "eval": ("eval", "tensorflow/supervised/eval")}


def export_saved_model(
    model, saved_model_path, custom_objects=None, as_text=False, input_signature=None, serving_only=False
):
    """Write a model as a SavedModel: graphs for training, evaluating and serving, weights, and the configuration.

    `serving_only` writes what servers need, which models of a program's own class can give, too.

    Args:
        model: The model.
        saved_model_path: The folder.
        custom_objects: Classes and functions by the names that the configuration has for them.
        as_text: Whether the file is text, which people can read, or bytes.
        input_signature: TensorSpecs of the inputs, for models of a program's own class.
        serving_only: Whether only what servers need is written.

    Returns:
        None.

    Raises:
        NotImplementedError: If a model of a program's own class is not for serving only.
        ValueError: If it has no inputs yet.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.experimental.export_saved_model(model, "model")
        >>> tf.keras.experimental.load_from_saved_model("model").output_shape
        (None, 3)
    """
    if serving_only:
        file_io.recursive_create_dir(os.path.join(saved_model_path, constants.ASSETS_DIRECTORY))
        saved_model.save_model(model, saved_model_path)
        with contextlib.suppress(NotImplementedError):  # a model of a program's own class may have none
            _write_config(model, saved_model_path)
        return
    if not model._is_graph_network:
        if type(model).__name__ == "Sequential":
            raise ValueError(
                f"Model {model.name} has no weights yet: call it on inputs, call `build(input_shape)`, or give its first "
                "layer an `input_shape`."
            )
        raise NotImplementedError(
            "Models with a `call` of their own can only be exported for serving: with serving_only=True."
        )
    if input_signature is not None:
        raise NotImplementedError(
            "Models with inputs of other shapes than their own can't be exported: leave `input_signature` out."
        )
    builder = SavedModelBuilder(saved_model_path)
    checkpoint = os.path.join(saved_model_path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    file_io.recursive_create_dir(os.path.dirname(checkpoint))
    model.save_weights(checkpoint, save_format="tf", overwrite=True)
    builder._has_saved_variables = True
    trains = isinstance(model.optimizer, (Optimizer, TFOptimizer))
    if model.optimizer and not trains:
        logging.warning(
            f"Only the graph for serving is exported: {model.optimizer!r} is neither a Keras optimizer nor one of tf.train."
        )
    config = model.optimizer.get_config() if isinstance(model.optimizer, Optimizer) else None
    for mode in [*(["train", "eval"] if trains else []), "serve"]:
        with Graph().as_default():
            _add_graph(builder, model, mode, checkpoint, custom_objects or {}, config)
    builder.save(as_text)
    _write_config(model, saved_model_path)


def _write_config(model, saved_model_path):
    assets = os.path.join(saved_model_path, constants.ASSETS_DIRECTORY)
    file_io.recursive_create_dir(assets)
    file_io.write_string_to_file(os.path.join(assets, _CONFIG), model.to_json())


def _add_graph(builder, model, mode, checkpoint, custom_objects, optimizer_config):
    """The model drawn anew for one use."""
    K.set_learning_phase(int(mode == "train"))
    clone = clone_with(model, None, custom_objects)
    train_op = None
    if mode == "serve":
        inputs, outputs = zip(clone.input_names, clone.inputs), zip(clone.output_names, clone.outputs)
        name, signature = "serving_default", predict_signature_def(dict(inputs), dict(outputs))
    else:
        arguments = {key: value for key, value in model._compile_arguments.items() if key != "target_tensors"}
        clone.compile(optimizer=copy_of(model.optimizer, get_or_create_global_step(), optimizer_config), **arguments)
        if mode == "train":
            clone._make_train_function()
            train_op = clone.train_function.updates_op
        name, signature = _supervised(clone, mode)
    tree, known = ObjectTree(clone), open_checkpoint(checkpoint)
    held = {
        key: tree.objects[i]
        for i, _, key, _, _ in tree.saveables()
        if isinstance(tree.objects[i], Variable) and known.has(key)
    }
    init_op = group(local_variables_initializer(), tables_initializer())
    builder.add_meta_graph(
        [{"train": tag_constants.TRAINING, "eval": tag_constants.EVAL, "serve": tag_constants.SERVING}[mode]],
        signature_def_map={name: signature},
        saver=Saver(held, allow_empty=True),
    )
    meta = builder._saved_model.meta_graphs[-1]
    for key, op in ((constants.INIT_OP_SIGNATURE_KEY, init_op), (constants.TRAIN_OP_SIGNATURE_KEY, train_op)):
        if op is not None:
            meta.signature_def[key].CopyFrom(op_signature_def(op, key))


def _supervised(clone, mode):
    """The signature of a graph that also takes targets and gives the loss and metrics."""
    inputs = {
        **dict(zip(clone.input_names, clone.inputs)),
        **{f"{e.name}_target": e.target for e in clone._endpoints if e.is_fed},
    }
    outputs = {"loss": clone.total_loss}
    outputs |= {f"predictions/{name}": tensor for name, tensor in zip(clone.output_names, clone.outputs)}
    for metric in clone.metrics:
        value, update = as_metric_op(metric)
        with control_dependencies([update]):
            update = constant([], name="metric_op_wrapper")
        outputs |= {f"metrics/{metric.name}/value": value, f"metrics/{metric.name}/update_op": update}
    name, method = _SIGNATURES[mode]
    written = [{key: build_tensor_info(tensor) for key, tensor in part.items()} for part in (inputs, outputs)]
    return name, build_signature_def(*written, method)


def load_from_saved_model(saved_model_path, custom_objects=None):
    """The model that `export_saved_model` wrote, with its weights; it has to be compiled anew.

    Args:
        saved_model_path: The folder.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A model.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.experimental.export_saved_model(model, "model")
        >>> tf.keras.experimental.load_from_saved_model("model").output_shape
        (None, 3)
    """
    config = file_io.read_file_to_string(os.path.join(saved_model_path, constants.ASSETS_DIRECTORY, _CONFIG))
    model = model_from_json(config, custom_objects=custom_objects)
    model.load_weights(os.path.join(saved_model_path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME))
    return model
