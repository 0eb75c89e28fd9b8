# Made by `make stubs`.
import everflow as _tf

def my_fact() -> _tf.Tensor: ...
