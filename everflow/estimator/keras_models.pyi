# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, PathLike

def model_to_estimator(keras_model: Any = None, keras_model_path: Any = None, custom_objects: Any = None, model_dir: PathLike | None = None, config: Any = None, checkpoint_format: str | None = 'saver') -> _tf.estimator.Estimator: ...
