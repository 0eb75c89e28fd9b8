# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, Callable, TensorLike

from everflow.keras.applications.densenet import decode_predictions as decode_predictions
def preprocess_input(x: TensorLike, data_format: str | None = None, mode: Any = 'caffe', **kwargs: Any) -> _tf.Tensor: ...
def preprocessing(mode: Any) -> Callable[..., Any]: ...
