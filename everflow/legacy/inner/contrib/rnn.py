"""Names that programs take from inside TensorFlow's recurrent modules."""

from everflow.contrib.rnn.few_gates import CFNCell, MinimalRNNCell
from everflow.contrib.rnn.gated import sharded_variable as _get_concat_variable
from everflow.contrib.rnn.linear import Linear as _Linear
from everflow.contrib.rnn.linear import linear as _linear
from everflow.contrib.rnn.normalized import LayerNormLSTMCell, WeightNormLSTMCell

__all__ = [
    "CFNCell",
    "LayerNormLSTMCell",
    "MinimalRNNCell",
    "WeightNormLSTMCell",
    "_Linear",
    "_get_concat_variable",
    "_linear",
]
