# Made by `make stubs`.
from everflow.random import stateless_normal as _stateless_normal
from everflow.random import stateless_uniform as _stateless_uniform

from everflow.random import stateless_multinomial as stateless_multinomial
stateless_random_normal = _stateless_normal
stateless_random_uniform = _stateless_uniform
from everflow.random import stateless_truncated_normal as stateless_truncated_normal
