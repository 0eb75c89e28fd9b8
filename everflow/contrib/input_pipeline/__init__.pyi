# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any

def obtain_next(string_list_tensor: Any, counter: Any) -> _tf.Tensor: ...
