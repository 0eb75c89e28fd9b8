"""`tf.Module`: an object that knows the variables and modules held in its attributes, and has a name scope."""

from __future__ import annotations

import functools
import re

from everflow.framework import nest
from everflow.framework.scopes import name_scope
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.variable import Variable


def _snake_case(name):
    """A class's name with underscores where words begin: at a capital within, unless it goes on with capitals."""
    return re.sub(r"\B(?=[A-Z][a-z])|(?<=[a-z\d])(?=[A-Z])", "_", name).lower()


class Module(AutoTrackable):
    """Base class of objects that hold variables, in attributes or in lists and dicts there.

    Args:
        name: Its name; made from the class if None.

    Example:
        >>> class Scale(tf.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         with self.name_scope:
        ...             self.factor = tf.Variable(2.0, name="factor")
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> [v.name for v in Scale().variables]
        ['scale/factor:0']
    """

    # Attributes whose contents are not the module's.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names")
    )

    def __init__(self, name=None):
        name = _snake_case(type(self).__name__) if name is None else name
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name: it must be a Python identifier, as variables' are")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    name = property(lambda self: self._name)

    @property
    def name_scope(self):
        """A context manager that enters the scope of this module."""
        return name_scope(self._scope_name)

    @property
    def variables(self):
        """All variables held here or in modules held here."""
        return tuple(self._held(lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self):
        return tuple(self._held(lambda leaf: isinstance(leaf, Variable) and leaf.trainable))

    @property
    def submodules(self):
        """All modules held here, and those held there."""
        return tuple(self._held(lambda leaf: isinstance(leaf, Module)))

    def _held(self, wanted, seen=None):
        """Leaves that are wanted: those of the attributes in the order of their names, then those of modules among
        them.
        """
        seen = {id(self)} if seen is None else seen
        inner = []
        for name, attribute in sorted(vars(self).items()):
            if name in self._TF_MODULE_IGNORED_PROPERTIES:
                continue
            for leaf in nest.flatten(attribute):
                if id(leaf) in seen or not isinstance(leaf, (Variable, Module)):
                    continue
                seen.add(id(leaf))
                if wanted(leaf):
                    yield leaf
                if isinstance(leaf, Module):
                    inner.append(leaf)
        for module in inner:
            yield from module._held(wanted, seen)

    @classmethod
    def with_name_scope(cls, method):
        """Decorator of methods: what they build goes into the scope of the module."""

        @functools.wraps(method)
        def inside(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside
