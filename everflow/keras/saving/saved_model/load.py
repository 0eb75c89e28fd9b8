"""Models from SavedModels: made from the configuration where the classes of all layers are known, or else revived from
their traced functions.
"""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras import optimizers
from everflow.keras.engine.known_classes import is_known
from everflow.keras.generic import get_custom_objects
from everflow.keras.saving import hdf5
from everflow.keras.saving.model_config import model_from_config
from everflow.keras.saving.saved_model.revived import LayerLoader, note_inputs, stand_ins


def load(path, compile=True, custom_objects=None):
    """The model of a SavedModel that `model.save` or `tf.saved_model.save` wrote."""
    loader = LayerLoader(path)
    if 0 not in loader.about:
        raise ValueError(f"{path} has no Keras model; load it with `tf.saved_model.load_v2`.")
    about = loader.about[0]
    model = _from_config(about, custom_objects)
    if model is None:
        model = _revived(loader, about, custom_objects)
    else:
        numbers = loader.children(loader.children(0)["variables"]).values()
        K.batch_set_value(
            [(variable, loader.value(number)) for variable, number in zip(model.weights, numbers, strict=True)]
        )
    training = about.get("training_config")
    if compile and training is not None:
        optimizer = optimizers.deserialize(training["optimizer_config"], custom_objects=custom_objects)
        model.compile(optimizer=optimizer, **hdf5.compile_arguments(training, custom_objects or {}))
    elif compile and hasattr(model, "compile"):
        hdf5.warn_of_missing_training(model)
    return model


def _from_config(about, custom_objects):
    """The model made from its configuration; None where that names classes that nobody knows."""
    config = about.get("model_config", {})
    if "config" not in config:
        return None
    try:
        model = model_from_config(config, custom_objects=custom_objects)
    except ValueError:
        return None
    shape = about.get("batch_input_shape")
    if not model.built and shape is not None:
        model.build(shape)
    return model if model.built else None


def _revived(loader, about, custom_objects):
    """A model some of whose layers are known by their traced functions only; or such a layer."""
    root = loader.load()
    if "_tf_keras_layer" == loader.nodes[0].user_object.identifier:
        return root
    known = dict(custom_objects or {})
    unknown = {told["class_name"] for told in loader.about.values()} - {about["class_name"], *known}
    unknown = {name for name in unknown if name not in get_custom_objects() and not is_known(name)}
    # Their graph of layers is the configuration's, where that names them.
    model = _from_config(about, known | stand_ins(loader, unknown))
    if model is None:
        note_inputs(root)
        return root
    values = dict(zip(map(id, root.weights), root.weights))
    pairs = [(new, old) for new, old in zip(model.weights, root.weights, strict=True) if id(new) not in values]
    if pairs:
        K.batch_set_value(list(zip([new for new, _ in pairs], K.batch_get_value([old for _, old in pairs]))))
    return model
