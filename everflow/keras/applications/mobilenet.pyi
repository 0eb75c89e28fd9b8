# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, ScalarLike, TensorLike

from everflow.keras.applications import MobileNet as MobileNet
from everflow.keras.applications.densenet import decode_predictions as decode_predictions
def preprocess_input(x: TensorLike, data_format: str | None = None, **kwargs: Any) -> _tf.Tensor: ...
def square_size(input_shape: Any, sizes: Any, default: ScalarLike | None = 224) -> Any: ...
