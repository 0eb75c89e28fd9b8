# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, TensorLike

from everflow.keras.applications import ResNet101V2 as ResNet101V2
from everflow.keras.applications import ResNet152V2 as ResNet152V2
from everflow.keras.applications import ResNet50V2 as ResNet50V2
from everflow.keras.applications.densenet import decode_predictions as decode_predictions
def preprocess_input(x: TensorLike, data_format: str | None = None, **kwargs: Any) -> _tf.Tensor: ...
