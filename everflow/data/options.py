"""`tf.data.Options`: settings that a dataset carries and hands on to those made of it."""

from __future__ import annotations

import enum
import functools


class AutoShardPolicy(enum.IntEnum):
    """How the input of several workers is divided."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2


class _Settings:
    """Attributes with a type each, None while they are not set; others can't be."""

    _types: dict[str, type] = {}
    _at_first: dict[str, object] = {}  # what those are that are something before they are set

    def __init_subclass__(cls):
        for name in cls._types:
            setattr(cls, name, property(functools.partial(cls._get, name=name), functools.partial(cls._put, name)))

    def __init__(self):
        object.__setattr__(self, "_set", {})

    def _get(self, name):
        kind = type(self)._types[name]
        if issubclass(kind, _Settings) and name not in self._set:
            self._set[name] = kind()
        return self._set.get(name, self._at_first.get(name))

    @staticmethod
    def _put(name, self, value):
        kind = type(self)._types[name]
        if not isinstance(value, kind):
            raise TypeError(f"Property {name} must be of type {kind}, got: {value!r} (type: {type(value)})")
        self._set[name] = value

    def __setattr__(self, name, value):
        if name not in type(self)._types:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, n) == getattr(other, n) for n in type(self)._types)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def merge(self, options):
        """New options: those set here, and those set in `options`; ValueError where both set one differently."""
        if type(options) is not type(self):
            raise TypeError(f"{type(self).__name__} merges with others of its class, not with {options!r}")
        made = type(self)()
        for name, kind in type(self)._types.items():
            if issubclass(kind, _Settings):
                made._set[name] = getattr(self, name).merge(getattr(options, name))
                continue
            mine, others = self._set.get(name), options._set.get(name)
            if mine is not None and others is not None and mine != others:
                raise ValueError(f"Option {name} is {mine} in one place and {others} in another: both can't be had")
            chosen = mine if others is None else others
            if chosen is not None:
                made._set[name] = chosen
        return made


class Aggregating:
    """What statistics of pipelines can be given to."""


class MapVectorizationOptions(_Settings):
    """Whether and how functions of maps are vectorised.

    Example:
        >>> options = tf.data.experimental.MapVectorizationOptions()
        >>> options.enabled = True
    """

    _types = {"enabled": bool, "use_choose_fastest": bool}

    def _static_optimizations(self) -> list[str]:
        return ["map_vectorization"] if self.enabled else []

    def _static_optimization_configs(self) -> list[str]:
        return [f"map_vectorization:use_choose_fastest:{'true' if self.use_choose_fastest else 'false'}"]


class OptimizationOptions(_Settings):
    """Which rewrites of a pipeline are made.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_optimization.map_and_batch_fusion = True
    """

    _types = {
        "apply_default_optimizations": bool,
        "autotune": bool,
        "autotune_algorithm": int,
        "autotune_buffers": bool,
        "autotune_cpu_budget": int,
        "filter_fusion": bool,
        "filter_with_random_uniform_fusion": bool,
        "hoist_random_uniform": bool,
        "map_and_batch_fusion": bool,
        "map_and_filter_fusion": bool,
        "map_fusion": bool,
        "map_parallelization": bool,
        "map_vectorization": MapVectorizationOptions,
        "noop_elimination": bool,
        "parallel_batch": bool,
        "shuffle_and_repeat_fusion": bool,
    }
    _defaults = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")

    # Options whose rewrite has another name, or that are none.
    _names = {"apply_default_optimizations": None, "autotune": None, "autotune_buffers": "inject_prefetch"}

    def _static_optimizations(self) -> list[str]:
        given = {n for n, kind in self._types.items() if kind is bool and getattr(self, n)}
        if self.autotune is False:
            given.discard("autotune_buffers")
        chosen = {self._names.get(n, n) for n in given} - {None}
        if self.apply_default_optimizations is not False:
            chosen |= {n for n in self._defaults if getattr(self, n) is not False}
        return sorted(chosen.union(self.map_vectorization._static_optimizations()))

    def _static_optimization_configs(self) -> list[str]:
        return self.map_vectorization._static_optimization_configs()


class ThreadingOptions(_Settings):
    """How many threads a pipeline may use.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_threading.private_threadpool_size = 2
    """

    _types = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class StatsOptions(_Settings):
    """Where statistics of a pipeline go.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_stats.latency_all_edges = False
    """

    _types = {"aggregator": Aggregating, "prefix": str, "counter_prefix": str, "latency_all_edges": bool}
    _at_first = {"prefix": "", "counter_prefix": ""}


class DistributeOptions(_Settings):
    """How a pipeline is divided among workers.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_distribute.auto_shard = False
    """

    _types = {"auto_shard": bool, "auto_shard_policy": AutoShardPolicy, "num_devices": int, "_make_stateless": bool}
    _at_first = {"auto_shard": True}


class Options(_Settings):
    """Settings of a dataset.

    Example:
        >>> options = tf.data.Options()
        >>> options.experimental_deterministic = False
        >>> dataset = tf.data.Dataset.range(3).with_options(options)
        >>> dataset.options().experimental_deterministic
        False
    """

    _types = {
        "experimental_deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": bool,
        "experimental_stateful_whitelist": object,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
    }

    def _static_optimizations(self) -> list[str]:
        """The rewrites of a pipeline, by name."""
        further = {
            "make_sloppy": self.experimental_deterministic is False,
            "latency_all_edges": self.experimental_stats.latency_all_edges,
            "slack": self.experimental_slack,
        }
        chosen = self.experimental_optimization._static_optimizations()
        return chosen + [name for name, asked in further.items() if asked]

    def _static_optimization_configs(self) -> list[str]:
        """Settings of rewrites, each with its rewrite's name before it."""
        configs = self.experimental_optimization._static_optimization_configs()
        if self.experimental_slack:
            configs.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return configs
