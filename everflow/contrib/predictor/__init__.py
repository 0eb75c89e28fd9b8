"""tf.contrib.predictor: a loaded model as a function from dict to dict."""

from __future__ import annotations

from everflow.estimator.estimator import Estimator as CoreEstimator
from everflow.framework.graph import Graph
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.platform import logging
from everflow.platform.signatures import takes as _takes
from everflow.runtime.session import Session
from everflow.saved_model.loader import SavedModelLoader, load
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession


class Predictor:
    """Calls a model in a session of its own: `predictor({"x": values})` returns its outputs by name."""

    _graph = _session = _feed_tensors = _fetch_tensors = None

    graph = property(lambda self: self._graph)
    session = property(lambda self: self._session)
    feed_tensors = property(lambda self: self._feed_tensors)
    fetch_tensors = property(lambda self: self._fetch_tensors)

    def _tensors(self, names):
        """Tensors by key, from their names or from what a signature tells of them."""
        return {key: self._graph.get_tensor_by_name(getattr(name, "name", name)) for key, name in names.items()}

    def __call__(self, input_dict):
        unknown = set(input_dict) - set(self._feed_tensors)
        if unknown:
            raise ValueError(f"Got unexpected keys in input_dict: {unknown}")
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items() if value is not None}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)

    def __repr__(self):
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"


class SavedModelPredictor(Predictor):
    """A predictor of a SavedModel."""

    def __init__(
        self,
        export_dir,
        signature_def_key=None,
        signature_def=None,
        input_names=None,
        output_names=None,
        tags=None,
        graph=None,
        config=None,
    ):
        _check_arguments(signature_def_key, signature_def, input_names, output_names)
        tags = tags or "serve"
        self._graph = graph or Graph()
        with self._graph.as_default():
            self._session = Session(config=config)
            load(self._session, tags.split(","), export_dir)
        if input_names is None:
            if signature_def is None:
                meta = SavedModelLoader(export_dir).get_meta_graph_def_from_tags(tags.split(","))
                signature_def = _signature(meta, signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY)
            input_names, output_names = signature_def.inputs, signature_def.outputs
        self._feed_tensors, self._fetch_tensors = self._tensors(input_names), self._tensors(output_names)


def _check_arguments(signature_def_key, signature_def, input_names, output_names):
    if (input_names is None) != (output_names is None):
        raise ValueError("Give both input_names and output_names, or neither of them")
    ways = sum([signature_def_key is not None, signature_def is not None, input_names is not None])
    if ways > 1:
        raise ValueError("Give one of signature_def_key, signature_def, and input_names with output_names")


def _signature(meta, key):
    if key not in meta.signature_def:
        # TensorFlow goes on with an empty signature; programs that fetch by name rely on it.
        logging.warning("The model has no signature %r; its signatures are %s.", key, sorted(meta.signature_def))
    return meta.signature_def[key]


@_takes(SavedModelPredictor.__init__)
def from_saved_model(export_dir, **given):
    """A predictor of a SavedModel, by a signature or by tensor names."""
    return SavedModelPredictor(export_dir, **given)


class CoreEstimatorPredictor(Predictor):
    """A predictor of an estimator's newest checkpoint."""

    def __init__(self, estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
        self._graph = graph or Graph()
        with self._graph.as_default():
            receiver = serving_input_receiver_fn()
            spec = estimator.model_fn(features=receiver.features, labels=None, mode="infer", config=estimator.config)
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            self._session = MonitoredSession(session_creator=creator)
            key = output_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
            if key not in spec.export_outputs:
                raise KeyError(f"output_key must be one of {list(spec.export_outputs)}; got {key}")
            signature = spec.export_outputs[key].as_signature_def(receiver.receiver_tensors)
            self._feed_tensors, self._fetch_tensors = self._tensors(signature.inputs), self._tensors(signature.outputs)


class ContribEstimatorPredictor(Predictor):
    """A predictor of the newest checkpoint of one of tf.contrib.learn's estimators."""

    def __init__(
        self,
        estimator,
        prediction_input_fn,
        input_alternative_key=None,
        output_alternative_key=None,
        graph=None,
        config=None,
    ):
        self._graph = graph or Graph()
        with self._graph.as_default():
            get_or_create_global_step(self._graph)
            given = prediction_input_fn()
            spec = estimator.model_fn(given.features, None, "infer", estimator.config)
            self._feed_tensors = _inputs(given, input_alternative_key)
            self._fetch_tensors = _outputs(spec, output_alternative_key)
            creator = ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
            self._session = MonitoredSession(session_creator=creator)


# The two ways in that an input function has: tensors by name, and features that are already parsed.
_INPUT_ALTERNATIVES = {"default_input_alternative": "default_inputs", "features_input_alternative": "features"}


def _inputs(given, key):
    if key is not None and key not in _INPUT_ALTERNATIVES:
        raise ValueError(f"input_alternative_key is one of {sorted(_INPUT_ALTERNATIVES)}, not {key!r}")
    found = getattr(given, _INPUT_ALTERNATIVES[key or "default_input_alternative"])
    if not found:
        raise ValueError(f"The input function gives no {_INPUT_ALTERNATIVES[key or 'default_input_alternative']}")
    return found if isinstance(found, dict) else {"features": found}


def _outputs(ops, key):
    """The outputs that a model tells of, or without such all its predictions."""
    alternatives = ops.output_alternatives
    if not alternatives:
        if key is not None:
            raise ValueError(f"The model names no outputs, so that there is none called {key!r}")
        return ops.predictions if isinstance(ops.predictions, dict) else {"output": ops.predictions}
    if key is None and len(alternatives) > 1:
        raise ValueError(f"The model has several outputs: output_alternative_key is one of {sorted(alternatives)}")
    if key is not None and key not in alternatives:
        raise ValueError(f"output_alternative_key is one of {sorted(alternatives)}, not {key!r}")
    _, outputs = alternatives[key] if key is not None else next(iter(alternatives.values()))
    return outputs


def from_contrib_estimator(
    estimator, prediction_input_fn, input_alternative_key=None, output_alternative_key=None, graph=None, config=None
):
    """A predictor of an estimator of tf.contrib.learn; `prediction_input_fn` gives an `InputFnOps`."""
    if isinstance(estimator, CoreEstimator):
        raise TypeError("This is an estimator of tf.estimator: from_estimator takes it")
    return ContribEstimatorPredictor(
        estimator, prediction_input_fn, input_alternative_key, output_alternative_key, graph, config
    )


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A predictor of a `tf.estimator.Estimator`, without exporting it."""
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)
