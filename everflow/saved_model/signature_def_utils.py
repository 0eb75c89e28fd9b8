"""Signatures: which tensors of a model are its inputs and outputs, and what it does with them."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.errors import NotFoundError
from everflow.framework.scopes import get_default_graph
from everflow.protos.meta_graph_pb2 import SignatureDef
from everflow.saved_model import signature_constants as names
from everflow.saved_model.utils import build_tensor_info, build_tensor_info_from_op, get_element_from_tensor_info

_CLASSIFY_TYPES = {names.CLASSIFY_OUTPUT_CLASSES: dtypes.string, names.CLASSIFY_OUTPUT_SCORES: dtypes.float32}


def build_signature_def(inputs=None, outputs=None, method_name=None):
    """A SignatureDef of TensorInfos by name.

    Args:
        inputs: Tensors, or TensorInfos, by name.
        outputs: Tensors, or TensorInfos, by name.
        method_name: What a server is asked for.

    Returns:
        A SignatureDef.

    Example:
        >>> x = tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, name="x"))
        >>> tf.saved_model.build_signature_def({"x": x}, {}, "predict").inputs["x"].name
        'x:0'
    """
    signature = SignatureDef(method_name=method_name or "")
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    return signature


def predict_signature_def(inputs, outputs):
    """The signature of a model with any inputs and outputs: tensors by name.

    Args:
        inputs: Tensors, or TensorInfos, by name.
        outputs: Tensors, or TensorInfos, by name.

    Returns:
        A SignatureDef.

    Raises:
        ValueError: If there are no inputs or outputs.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> tf.saved_model.predict_signature_def({"x": x}, {"y": x + 1.0}).method_name
        'tensorflow/serving/predict'
    """
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    described = ({key: build_tensor_info(t) for key, t in tensors.items()} for tensors in (inputs, outputs))
    return build_signature_def(*described, names.PREDICT_METHOD_NAME)


def op_signature_def(op, key):
    """The signature that says which op is meant by a key."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def, key, import_scope=None):
    """The op of the default graph that `op_signature_def` named."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], get_default_graph(), import_scope)
    except (KeyError, ValueError) as e:
        raise NotFoundError(None, None, f"The graph has no op for the key {key!r} of a signature: {e}") from e


def _string_input(examples, what):
    if examples is None:
        raise ValueError(f"{what} `examples` cannot be None.")
    if not hasattr(examples, "dtype") or not hasattr(examples, "name"):
        raise ValueError(f"{what} `examples` must be a string Tensor.")
    if examples.dtype != dtypes.string:
        raise ValueError(f"{what} input tensors must be of type string.")
    return build_tensor_info(examples)


def regression_signature_def(examples, predictions):
    """The signature of a model that predicts a number from serialized examples.

    Args:
        examples: The tensor of serialized examples.
        predictions: The tensor of numbers.

    Returns:
        A SignatureDef.

    Raises:
        ValueError: If a tensor is missing or of the wrong type.

    Example:
        >>> signature = tf.saved_model.regression_signature_def(tf.placeholder(tf.string), tf.constant([0.5]))
        >>> signature.method_name
        'tensorflow/serving/regress'
    """
    info = _string_input(examples, "Regression")
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    output = build_tensor_info(predictions)
    if output.dtype != dtypes.float32.as_datatype_enum:
        raise ValueError("Regression output tensors must be of type float.")
    return build_signature_def({names.REGRESS_INPUTS: info}, {names.REGRESS_OUTPUTS: output}, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    """The signature of a model that tells classes, scores or both from serialized examples.

    Args:
        examples: The tensor of serialized examples.
        classes: The tensor of classes, or None.
        scores: The tensor of scores, or None.

    Returns:
        A SignatureDef.

    Raises:
        ValueError: If a tensor is missing or of the wrong type.

    Example:
        >>> examples = tf.placeholder(tf.string)
        >>> signature = tf.saved_model.classification_signature_def(examples, None, tf.constant([[0.1, 0.9]]))
        >>> sorted(signature.outputs)
        ['scores']
    """
    source = _string_input(examples, "Classification")
    if classes is None and scores is None:
        raise ValueError("A classification gives classes, scores or both: pass `classes` or `scores`")
    given = {names.CLASSIFY_OUTPUT_CLASSES: classes, names.CLASSIFY_OUTPUT_SCORES: scores}
    outputs = {key: build_tensor_info(tensor) for key, tensor in given.items() if tensor is not None}
    for key, info in outputs.items():
        if info.dtype != _CLASSIFY_TYPES[key].as_datatype_enum:
            raise ValueError(f"Classification {key} must be of type {_CLASSIFY_TYPES[key].name}: {given[key]}")
    return build_signature_def({names.CLASSIFY_INPUTS: source}, outputs, names.CLASSIFY_METHOD_NAME)


def supervised_train_signature_def(inputs, loss, predictions=None, metrics=None):
    """The signature of a graph that trains: tensors by name."""
    return _supervised_signature_def(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(inputs, loss, predictions=None, metrics=None):
    """The signature of a graph that evaluates: tensors by name."""
    return _supervised_signature_def(names.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised_signature_def(method_name, inputs, loss, predictions, metrics):
    if not inputs:
        raise ValueError(f"{method_name} inputs are tensors by name, at least one; got {inputs}")
    outputs = {key: tensor for given in (loss, predictions, metrics) for key, tensor in (given or {}).items()}
    described = ({key: build_tensor_info(t) for key, t in tensors.items()} for tensors in (inputs, outputs))
    return build_signature_def(*described, method_name)


def is_valid_signature(signature_def):
    """Whether a server could serve a signature.

    Args:
        signature_def: The SignatureDef.

    Returns:
        A bool.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> tf.saved_model.is_valid_signature(tf.saved_model.predict_signature_def({"x": x}, {"y": x + 1.0}))
        True
    """
    if signature_def is None:
        return False
    check = {
        names.CLASSIFY_METHOD_NAME: _is_classification,
        names.REGRESS_METHOD_NAME: _is_regression,
        names.PREDICT_METHOD_NAME: lambda s: bool(s.inputs) and bool(s.outputs),
    }.get(signature_def.method_name)
    return check is not None and check(signature_def)


def _has_string_input(signature, key):
    return set(signature.inputs) == {key} and signature.inputs[key].dtype == dtypes.string.as_datatype_enum


def _is_regression(signature):
    return (
        _has_string_input(signature, names.REGRESS_INPUTS)
        and set(signature.outputs) == {names.REGRESS_OUTPUTS}
        and signature.outputs[names.REGRESS_OUTPUTS].dtype == dtypes.float32.as_datatype_enum
    )


def _is_classification(signature):
    outputs = signature.outputs
    fit = [k in _CLASSIFY_TYPES and i.dtype == _CLASSIFY_TYPES[k].as_datatype_enum for k, i in outputs.items()]
    return _has_string_input(signature, names.CLASSIFY_INPUTS) and bool(outputs) and all(fit)
