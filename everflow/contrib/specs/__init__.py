"""tf.contrib.specs: networks written as one line of text, `net = Cr(64, 3) | Mp(2) | Flat | Fl(10)`.

specs.py     text → network
specs_lib.py how functions of a tensor are put together: `|` one after the other, `**` several times
specs_ops.py the words: Cr a convolution with relu, Fs a fully connected layer with sigmoid, …
params_ops.py random numbers that a spec of parameters may use
summaries.py what a network is made of, in text
"""

# ruff: noqa: F401, F403  The re-exports are the purpose of this file.

from everflow.contrib.specs.params_ops import *
from everflow.contrib.specs.specs import LocalImport, create_net, create_net_fun, eval_params, eval_spec
from everflow.contrib.specs.specs_lib import *
from everflow.contrib.specs.specs_ops import *
from everflow.contrib.specs.summaries import *
