"""`tf.Module`: an object that knows the variables and modules held in its attributes, and has a name scope."""

from __future__ import annotations

import functools
import re

from everflow.framework import nest
from everflow.framework.scopes import name_scope
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.variable import Variable


def valid_identifier(name):
    """Whether a name could be that of a Python variable."""
    return name.isidentifier()


def camel_to_snake(name):
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
        name = camel_to_snake(type(self).__name__) if name is None else name
        if not valid_identifier(name):
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
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self):
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Variable) and leaf.trainable))

    @property
    def submodules(self):
        """All modules held here, and those held there."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False):
        """Leaves that `predicate` wants: those of the attributes in the order of their names, or of a key of these, then
        those of modules among them; with the path to each if that is asked for.
        """
        found = self._leaves(recursive, predicate or (lambda leaf: True), attribute_traversal_key, (), {id(self)})
        return found if with_path else (leaf for _, leaf in found)

    def _leaves(self, recursive, wanted, key, prefix, seen):
        inner = []
        for name in sorted(vars(self), key=key):
            if name in self._TF_MODULE_IGNORED_PROPERTIES:
                continue
            for path, leaf in nest.flatten_with_tuple_paths(vars(self)[name]):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                place = (*prefix, name, *path)
                if wanted(leaf):
                    yield place, leaf
                if recursive and isinstance(leaf, Module):
                    inner.append((place, leaf))
        for place, module in inner:
            yield from module._leaves(recursive, wanted, key, place, seen)

    @classmethod
    def with_name_scope(cls, method):
        """Decorator of methods: what they build goes into the scope of the module."""

        @functools.wraps(method)
        def inside(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside
