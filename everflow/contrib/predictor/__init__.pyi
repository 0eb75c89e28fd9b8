# Made by `make stubs`.
from everflow.estimator import Estimator as _Estimator
import everflow as _tf
from everflow._typing import Any, Callable

from everflow.train import ChiefSessionCreator as ChiefSessionCreator
class ContribEstimatorPredictor(Predictor):
    def __init__(self, estimator: Any, prediction_input_fn: Callable[..., Any] | None, input_alternative_key: Any = None, output_alternative_key: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> None: ...

CoreEstimator = _Estimator
class CoreEstimatorPredictor(Predictor):
    def __init__(self, estimator: Any, serving_input_receiver_fn: Callable[..., Any] | None, output_key: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> None: ...

DEFAULT_SERVING_SIGNATURE_DEF_KEY: str
from everflow import Graph as Graph
from everflow.train import MonitoredSession as MonitoredSession
class Predictor:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    _feed_tensors: Any
    _fetch_tensors: Any
    _graph: Any
    _session: Any
    def _tensors(self, names: Any) -> dict[Any, Any]: ...
    @property
    def feed_tensors(self) -> Any: ...
    @property
    def fetch_tensors(self) -> Any: ...
    @property
    def graph(self) -> Any: ...
    @property
    def session(self) -> Any: ...

from everflow.saved_model.loader import SavedModelLoader as SavedModelLoader
class SavedModelPredictor(Predictor):
    def __init__(self, export_dir: Any, signature_def_key: Any = None, signature_def: Any = None, input_names: Any = None, output_names: Any = None, tags: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> None: ...

from everflow import Session as Session
def from_contrib_estimator(estimator: Any, prediction_input_fn: Callable[..., Any] | None, input_alternative_key: Any = None, output_alternative_key: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> ContribEstimatorPredictor: ...
def from_estimator(estimator: Any, serving_input_receiver_fn: Callable[..., Any] | None, output_key: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> CoreEstimatorPredictor: ...
def from_saved_model(export_dir: Any, signature_def_key: Any = None, signature_def: Any = None, input_names: Any = None, output_names: Any = None, tags: Any = None, graph: _tf.Graph | None = None, config: Any = None) -> SavedModelPredictor: ...
from everflow.train import get_or_create_global_step as get_or_create_global_step
from everflow.saved_model import load as load
