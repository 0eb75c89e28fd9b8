# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, ScalarLike, TensorLike

from everflow.keras.applications import DenseNet121 as DenseNet121
from everflow.keras.applications import DenseNet169 as DenseNet169
from everflow.keras.applications import DenseNet201 as DenseNet201
def decode_predictions(preds: Any, top: ScalarLike | None = 5, **kwargs: Any) -> list[Any]: ...
def preprocess_input(x: TensorLike, data_format: str | None = None, **kwargs: Any) -> _tf.Tensor: ...
