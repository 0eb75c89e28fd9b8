# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, TensorLike

from everflow.keras.applications import VGG16 as VGG16
from everflow.keras.applications.densenet import decode_predictions as decode_predictions
def preprocess_input(x: TensorLike, data_format: str | None = None, **kwargs: Any) -> _tf.Tensor: ...
