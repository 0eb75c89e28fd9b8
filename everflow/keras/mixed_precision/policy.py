"""Policies: the type in which layers compute, and the type of their variables."""

from __future__ import annotations

import contextlib

from everflow.framework import dtypes
from everflow.keras.backend import floatx
from everflow.keras.engine import autocasting
from everflow.train import loss_scale as loss_scale_state
from everflow.train.loss_scale import as_loss_scale

_FLOAT32_VARIABLES = "_with_float32_vars"
USE_DEFAULT = "USE_DEFAULT"


class Policy:
    """Types by name: a dtype for both, "mixed_float16" or "mixed_bfloat16", "infer" for that of the first input,
    `…_with_float32_vars`.

    Args:
        name: The name.
        loss_scale: The scale of the loss; by the name by default.

    Example:
        >>> policy = tf.keras.mixed_precision.experimental.Policy("mixed_float16")
        >>> policy.compute_dtype, policy.variable_dtype
        ('float16', 'float32')
    """

    def __init__(self, name, loss_scale=USE_DEFAULT):
        if isinstance(name, dtypes.DType):
            raise TypeError(f"The name of a policy must be a string: pass {name.name!r}, not the DType.")
        if not isinstance(name, str):
            raise TypeError(f"The name of a policy must be a string, not {name!r}.")
        # As it was called first.
        name = self._name = "infer_with_float32_vars" if name == "infer_float32_vars" else name
        self._compute_dtype, self._variable_dtype = _types_of(name)
        if self._compute_dtype is not None and _FLOAT32_VARIABLES in name and not self.should_cast_variables:
            name = self._name = self._compute_dtype
        if loss_scale == USE_DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        self._loss_scale = as_loss_scale(loss_scale)

    name = property(lambda self: self._name)
    compute_dtype = property(
        lambda self: self._compute_dtype, doc="What layers compute in; None: as their first input is."
    )
    variable_dtype = property(lambda self: self._variable_dtype, doc="What variables are; None: as the first input is.")
    loss_scale = property(lambda self: self._loss_scale, doc="How a model's optimizer is to scale the loss, or None.")

    @property
    def should_cast_variables(self):
        """Whether variables are cast when they are read."""
        return self._variable_dtype != self._compute_dtype

    def __repr__(self):
        return f'<Policy "{self._name}", loss_scale={self._loss_scale}>'


def _types_of(name):
    """(compute dtype, variable dtype) of a policy's name."""
    if name in ("mixed_float16", "mixed_bfloat16"):
        return name.removeprefix("mixed_"), "float32"
    base = name.removesuffix(_FLOAT32_VARIABLES)
    variables = "float32" if base != name else None
    if base == "infer":
        return None, variables
    try:
        compute = dtypes.as_dtype(base).name
    except TypeError:
        raise ValueError(
            f'Cannot convert value {name} to a policy: that is the name of a dtype, "infer", either of them with '
            f'"{_FLOAT32_VARIABLES}" behind it, "mixed_float16" or "mixed_bfloat16".'
        ) from None
    return compute, variables or compute


_global_policy: Policy | None = None  # None where the program set none


def global_policy():
    """The policy of layers that are given none: types as inputs have them, or Keras's own as in TensorFlow 2.

    Returns:
        A policy.

    Example:
        >>> tf.keras.mixed_precision.experimental.global_policy().name
        'infer'
    """
    if _global_policy is not None:
        return _global_policy
    return Policy(floatx() if autocasting.v2_dtype_behavior_enabled() else "infer")


def set_policy(policy):
    """Set the global policy; without TensorFlow 2's types of layers it has to infer them.

    Args:
        policy: A policy, its name, or None for the one that was there at first.

    Returns:
        None.

    Raises:
        ValueError: If it doesn't infer types where it has to, or the graph rewrite for mixed precision is enabled.

    Example:
        >>> tf.keras.mixed_precision.experimental.set_policy("infer")
        >>> tf.keras.mixed_precision.experimental.set_policy(None)
    """
    global _global_policy
    policy = policy if policy is None or isinstance(policy, Policy) else Policy(policy)
    _check_if_mixed_precision_graph_rewrite_is_enabled()
    if policy and not autocasting.v2_dtype_behavior_enabled() and not policy.name.startswith("infer"):
        raise ValueError(
            f"The global policy {policy.name!r} fixes types; here, as in TensorFlow 1, it has to infer them."
        )
    _global_policy = autocasting.default_policy = policy
    loss_scale_state.using_default_mixed_precision_policy = policy is None


def policy_defaults_to_floatx():
    """Whether layers that are given no type are of Keras's own, which the program may change."""
    return _global_policy is None and autocasting.v2_dtype_behavior_enabled()


def _check_if_mixed_precision_graph_rewrite_is_enabled():
    if loss_scale_state.mixed_precision_graph_rewrite_is_enabled:
        raise ValueError(
            "The graph rewrite for mixed precision is enabled already, and does what a policy would: use one of the two."
        )


@contextlib.contextmanager
def policy_scope(policy):
    """A context with another global policy."""
    with contextlib.ExitStack() as at_end:
        at_end.callback(set_policy, _global_policy)
        set_policy(policy)
        yield


def with_input_dtype(policy, dtype):
    """A policy that infers types, for inputs of a type."""
    if policy.compute_dtype is not None:
        raise AssertionError(f"{policy} doesn't infer its types.")
    return Policy(dtypes.as_dtype(dtype).name + policy.name.removeprefix("infer"))


def _policy_of(policy, computes_in, dtype):
    """The policy of a layer: the one that it was given, or what its types amount to."""
    if policy is not None and policy.compute_dtype is not None:
        return policy
    if computes_in and dtype != computes_in:
        return Policy(f"{computes_in}_with_{dtype}_vars")
    if dtype and (computes_in or policy is None or not policy.should_cast_variables):
        return Policy(dtype)
    return policy or Policy("infer")


autocasting.register_policies(_policy_of)
