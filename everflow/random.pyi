# Made by `make stubs`.
from everflow import random_gamma as _random_gamma
from everflow import random_normal as _random_normal
from everflow import random_poisson as _random_poisson
from everflow import random_shuffle as _random_shuffle
from everflow import random_uniform as _random_uniform
import everflow as _tf
from everflow._typing import Any, DTypeLike, ScalarLike, ShapeLike, TensorLike

from everflow.nn import all_candidate_sampler as all_candidate_sampler
def categorical(logits: TensorLike, num_samples: Any, dtype: DTypeLike | None = None, seed: TensorLike | None = None, name: str | None = None) -> _tf.Tensor: ...
experimental: Any
from everflow.nn import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
gamma = _random_gamma
from everflow import get_seed as get_seed
from everflow.nn import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from everflow.nn import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from everflow import multinomial as multinomial
normal = _random_normal
poisson = _random_poisson
from everflow import set_random_seed as set_random_seed
shuffle = _random_shuffle
def stateless_categorical(logits: TensorLike, num_samples: Any, seed: TensorLike | None, dtype: DTypeLike = ..., name: str | None = None) -> _tf.Tensor: ...
def stateless_multinomial(logits: TensorLike, num_samples: Any, seed: TensorLike | None, output_dtype: DTypeLike = ..., name: str | None = None) -> _tf.Tensor: ...
def stateless_normal(shape: ShapeLike, seed: TensorLike | None, mean: ScalarLike | None = 0.0, stddev: ScalarLike | None = 1.0, dtype: DTypeLike = ..., name: str | None = None) -> _tf.Tensor: ...
def stateless_truncated_normal(shape: ShapeLike, seed: TensorLike | None, mean: ScalarLike | None = 0.0, stddev: ScalarLike | None = 1.0, dtype: DTypeLike = ..., name: str | None = None) -> _tf.Tensor: ...
def stateless_uniform(shape: ShapeLike, seed: TensorLike | None, minval: ScalarLike | None = 0, maxval: Any = None, dtype: DTypeLike = ..., name: str | None = None) -> _tf.Tensor: ...
from everflow import truncated_normal as truncated_normal
uniform = _random_uniform
from everflow.nn import uniform_candidate_sampler as uniform_candidate_sampler
