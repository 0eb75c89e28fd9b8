"""Exports of tf.contrib.learn's estimators as session bundles, the form before SavedModels: what is asked and what is answered."""

from __future__ import annotations

from everflow.contrib.layers.column_inputs import create_feature_spec_for_parsing
from everflow.contrib.session_bundle import exporter, gc
from everflow.framework import dtypes
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_collection
from everflow.framework.seeds import set_random_seed
from everflow.ops.array import placeholder
from everflow.ops.control_flow.grouping import group
from everflow.ops.io.examples import FixedLenFeature, parse_example
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.variables.global_step import create_global_step
from everflow.ops.variables.variable import local_variables_initializer
from everflow.runtime.session import Session
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.saver import Saver


def _wanted(examples):
    if examples is None:
        raise ValueError("A signature needs the tensor that examples are fed to")
    return examples


def generic_signature_fn(examples, unused_features, predictions):
    """(a signature of any predictions, {})."""
    outputs = {"outputs": predictions} if isinstance(predictions, Tensor) else dict(predictions.items())
    return exporter.generic_signature({"inputs": _wanted(examples), **outputs}), {}


def classification_signature_fn(examples, unused_features, predictions):
    """(a signature of classes, {})."""
    classes = predictions["classes"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(_wanted(examples), classes_tensor=classes), {}


def classification_signature_fn_with_prob(examples, unused_features, predictions):
    """(a signature of probabilities, {})."""
    scores = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(_wanted(examples), scores_tensor=scores), {}


def regression_signature_fn(examples, unused_features, predictions):
    """(a signature of numbers, {})."""
    return exporter.regression_signature(input_tensor=_wanted(examples), output_tensor=predictions), {}


def _default_input_fn(estimator, examples):
    """Features of serialized Examples: as the estimator's columns read them, or as `fit` saw them."""
    columns = getattr(estimator, "feature_columns", None)
    if columns:
        return parse_example(examples, create_feature_spec_for_parsing(columns))
    seen = estimator._features_seen
    if seen is None:
        raise ValueError("It isn't known which features Examples have: call fit, or give an input_fn")
    specs = seen if isinstance(seen, dict) else {"": seen}
    spec = {name: FixedLenFeature(known.shape[1:].as_list(), known.dtype) for name, known in specs.items()}
    features = parse_example(examples, spec)
    return features if isinstance(seen, dict) else features[""]


def _examples_and_features(estimator, input_fn, input_feature_key, deprecated, batch_size):
    if deprecated:
        examples = placeholder(dtypes.string, [batch_size], name="input_example_tensor")
        return examples, (input_fn or _default_input_fn)(estimator, examples)
    if input_fn is None:
        raise ValueError("An input_fn has to be given, as use_deprecated_input_fn is False")
    if input_feature_key is None:
        raise ValueError("input_feature_key says which feature examples are fed to: it has to be given")
    features, _ = input_fn()
    features = dict(features)
    return features.pop(input_feature_key), features


def export_bundle(
    estimator,
    export_dir,
    signature_fn,
    input_fn,
    default_batch_size,
    exports_to_keep,
    input_feature_key=None,
    use_deprecated_input_fn=True,
    prediction_key=None,
    checkpoint_path=None,
):
    """Writes what an estimator has learnt into a folder of the step's number; gives its path, as bytes."""
    checkpoint_path = checkpoint_path or latest_checkpoint(estimator.model_dir)
    if checkpoint_path is None:
        raise ValueError(f"There is no checkpoint in {estimator.model_dir}: call fit before export")
    with Graph().as_default() as graph:
        set_random_seed(estimator.config.tf_random_seed)
        step = create_global_step(graph)
        examples, features = _examples_and_features(
            estimator, input_fn, input_feature_key, use_deprecated_input_fn, default_batch_size
        )
        predictions = estimator._predictions_of(features)
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        default, named = (signature_fn or generic_signature_fn)(examples, features, predictions)
        with graph.control_dependencies(None):
            init_op = group(local_variables_initializer(), tables_initializer())
        saver = Saver(sharded=True)
        with Session() as session:
            saver.restore(session, checkpoint_path)
            made = exporter.Exporter(saver)
            made.init(
                init_op=init_op,
                default_graph_signature=default,
                named_graph_signatures=named,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            )
            keep = None if exports_to_keep is None else gc.largest_export_versions(exports_to_keep)
            return made.export(export_dir, step, session, exports_to_keep=keep)


def export_estimator(
    estimator,
    export_dir,
    signature_fn=None,
    input_fn=_default_input_fn,
    default_batch_size=1,
    exports_to_keep=None,
):
    """Writes what an estimator has learnt as a session bundle."""
    export_bundle(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)
