"""tf.contrib.recurrent: recurrent networks given by the function of one step."""

from everflow.contrib.recurrent.networks import bidirectional_functional_rnn, functional_rnn
from everflow.contrib.recurrent.steps import Recurrent

__all__ = ["Recurrent", "bidirectional_functional_rnn", "functional_rnn"]
