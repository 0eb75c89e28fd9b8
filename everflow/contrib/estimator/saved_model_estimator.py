"""`SavedModelEstimator`: an estimator whose model is what a SavedModel holds for training, evaluation and prediction."""

from __future__ import annotations

from everflow.estimator.estimator import Estimator
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.saved_model_export import TAGS
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.warm_start_settings import WarmStartSettings
from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.ops.variables.global_step import get_global_step
from everflow.saved_model import constants
from everflow.saved_model.loader import SavedModelLoader, contains_saved_model, get_init_op, get_train_op
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.checkpoint_reader import list_variables

# Notes of the SavedModel about itself: they would be exported again, beside new ones.
_NOTES = (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY, constants.TRAIN_OP_KEY, constants.ASSETS_KEY)


class SavedModelEstimator(Estimator):
    """An estimator made from a folder that `experimental_export_all_saved_models` or `export_saved_model` wrote.

    It starts from the variables that were saved, and can do what the folder has a graph for. What an input function gives
    must have the names, types and shapes of the receivers that the model was exported with.

    Args:
        saved_model_dir: The folder.
        model_dir: The folder of new checkpoints; a temporary one if None.

    Raises:
        ValueError: If there is no SavedModel in the folder.

    Example:
        >>> def model_fn(features, labels, mode):
        ...     y = features["x"] * tf.get_variable("w", initializer=2.0)
        ...     loss = tf.reduce_sum(y)
        ...     step = tf.train.get_global_step().assign_add(1)
        ...     return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, step.op)
        >>> estimator = tf.estimator.Estimator(model_fn, "model")
        >>> data = lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [1.0, 2.0]))
        >>> build = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn
        >>> receiver = lambda: build(lambda: ({"x": tf.ones([2])}, tf.ones([2])))
        >>> path = estimator.train(data).experimental_export_all_saved_models("all", {"eval": receiver()})
        >>> float(tf.contrib.estimator.SavedModelEstimator(path).evaluate(data)["loss"])
        6.0
    """

    def __init__(self, saved_model_dir, model_dir=None):
        if not contains_saved_model(saved_model_dir):
            raise ValueError(f"There is no SavedModel in {saved_model_dir}")
        self._loader = SavedModelLoader(saved_model_dir)
        variables = self._loader.variables_path
        start = WarmStartSettings(variables, vars_to_warm_start=[name for name, _ in list_variables(variables)])
        super().__init__(model_fn=self._draw, model_dir=model_dir, warm_start_from=start)

    def _create_and_assert_global_step(self, graph):
        """Nothing: the graph that is loaded brings its global step along."""

    def _draw(self, features, labels, mode):
        meta = self._meta_graph(mode)
        if get_global_step() is not None:
            raise RuntimeError("The SavedModel brings its global step along: the input function must not make another.")
        key = DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key not in meta.signature_def:
            raise ValueError(f"The graph for {mode} has no signature {key!r} but {sorted(meta.signature_def)}")
        signature = meta.signature_def[key]
        graph = get_default_graph()
        inputs = _fitting(signature.inputs, features, labels)
        self._loader.load_graph(graph, [TAGS[mode]], input_map=inputs)
        init_op, train_op = get_init_op(meta), get_train_op(meta)
        for note in _NOTES:
            graph.clear_collection(note)
        outputs = {name: graph.get_tensor_by_name(info.name) for name, info in signature.outputs.items()}
        # What makes the model ready runs together with what makes ready what is drawn later, such as metrics.
        if init_op is not None:
            graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, init_op)
        if mode == ModeKeys.PREDICT:
            served = {key: PredictOutput(outputs)}
            return EstimatorSpec(mode, predictions=outputs, export_outputs=served)
        loss = next(tensor for name, tensor in outputs.items() if name.startswith("loss"))
        predictions = {name: tensor for name, tensor in outputs.items() if name.startswith("predictions")}
        how = {"train_op": train_op, "eval_metric_ops": _metrics(outputs)}
        return EstimatorSpec(mode, predictions=predictions, loss=loss, **how)

    def _meta_graph(self, mode):
        try:
            return self._loader.get_meta_graph_def_from_tags([TAGS[mode]])
        except RuntimeError as missing:
            raise RuntimeError(f"The SavedModel has no graph for the mode {mode}: {missing}") from None


def _fitting(wanted, features, labels):
    """{name of a placeholder: tensor} for what a signature takes; ValueError for what is missing or doesn't fit."""
    given = dict(features) if isinstance(features, dict) else {"feature": features}
    given |= labels if isinstance(labels, dict) else {} if labels is None else {"label": labels}
    found = {}
    for key, info in wanted.items():
        if key not in given:
            raise ValueError(f"{key!r} is neither among features nor labels; the model takes {sorted(wanted)}")
        value, dtype, shape = given[key], dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
        if value.dtype.base_dtype != dtype or not shape.is_compatible_with(value.shape):
            said = f"{value.dtype.name} of shape {value.shape}"
            raise ValueError(f"The model takes {dtype.name} of shape {shape} for {key!r}; given is {said}")
        found[info.name] = value
    return found


def _metrics(outputs):
    """{name: (value, update op)} of a signature's outputs `metrics/NAME/value` and `metrics/NAME/update_op`."""
    found = {}
    for name, tensor in outputs.items():
        metric, _, part = name.rpartition("/")
        if metric.startswith("metrics") and part == "value" and isinstance(tensor, Tensor):
            found[metric] = tensor, outputs[f"{metric}/update_op"]
    return found
