"""tf.random: distributions, shuffles, stateless ops and seeds."""

from __future__ import annotations

import types as _types

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.framework.seeds import get_seed, set_random_seed
from everflow.ops.nn.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from everflow.ops.random import generators as _generators
from everflow.ops.random.distributions import (
    categorical,
    multinomial,
    truncated_normal,
)
from everflow.ops.random.distributions import random_gamma as gamma
from everflow.ops.random.distributions import random_normal as normal
from everflow.ops.random.distributions import random_poisson as poisson
from everflow.ops.random.distributions import random_shuffle as shuffle
from everflow.ops.random.distributions import random_uniform as uniform
from everflow.ops.random.stateless import (
    stateless_categorical,
    stateless_multinomial,
    stateless_truncated_normal,
)
from everflow.ops.random.stateless import stateless_random_normal as stateless_normal
from everflow.ops.random.stateless import stateless_random_uniform as stateless_uniform

experimental = _types.SimpleNamespace(
    Generator=_generators.Generator,
    create_rng_state=_generators.create_rng_state,
    get_global_generator=_generators.get_global_generator,
    set_global_generator=_generators.set_global_generator,
)
