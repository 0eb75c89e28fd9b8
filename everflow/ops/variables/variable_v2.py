"""`Variable` as TensorFlow's own modules and tf.compat.v2 have it: every variable is one, and a new one is a resource
variable, whatever the scope says.
"""

from __future__ import annotations

from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.variable import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    create_as_asked,
)


def default_variable_creator_v2(next_creator=None, **kwargs):
    """The creator at the end of the chain, for variables of TensorFlow 2."""
    return ResourceVariable(**kwargs) if next_creator is None else next_creator(**kwargs)


class _AnyVariable(type(Variable)):
    """Makes `VariableV2(...)` go through the creators in force, and each variable an instance of it."""

    def __call__(cls, *args, **kwargs):
        if cls is not VariableV2:
            return super().__call__(*args, **kwargs)
        return create_as_asked(VariableV2, default_variable_creator_v2, args, kwargs)

    def __instancecheck__(cls, instance):
        return isinstance(instance, Variable) if cls is VariableV2 else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, Variable) if cls is VariableV2 else super().__subclasscheck__(subclass)


class VariableV2(Variable, metaclass=_AnyVariable):
    """State that lives on from one run, or one call, to the next: a resource variable.

    Args:
        initial_value: The first value: a tensor, or a function that makes one.
        trainable: Whether optimizers train it; True unless `synchronization` says that it is read, not trained.
        validate_shape: False lets values of other shapes be assigned.
        caching_device: Where reads are kept.
        name: Its name.
        variable_def: A VariableDef to make it from.
        dtype: The type of its values.
        import_scope: A name scope for `variable_def`.
        constraint: What is done to its value after an optimizer changed it.
        synchronization: When its values on several devices become one.
        aggregation: How they do.
        shape: Its shape, where that of the first value says too much.

    Example:
        >>> v = tf.compat.v2.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> sess.run(v + 1.0)
        np.float32(2.0)
    """

    def __init__(
        self,
        initial_value=None,
        trainable=None,
        validate_shape=True,
        caching_device=None,
        name=None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
    ):
        raise NotImplementedError(f"{type(self).__name__} must have a constructor of its own")


VariableV2.__name__ = VariableV2.__qualname__ = "Variable"
