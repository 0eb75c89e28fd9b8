"""Names that programs take from inside TensorFlow's recurrent modules."""

from everflow.contrib.rnn.gated import sharded_variable as _get_concat_variable
from everflow.contrib.rnn.linear import Linear as _Linear
from everflow.contrib.rnn.linear import linear as _linear

__all__ = ["_Linear", "_get_concat_variable", "_linear"]
