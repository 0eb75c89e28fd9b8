"""`EagerVariableStore`: lets `get_variable`, and so `tf.layers` functions, share variables by name when executing
eagerly.
"""

from __future__ import annotations

from everflow.framework.scopes import executing_eagerly
from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.store import VariableStore, default_store


class EagerVariableStore:
    """Keeps the variables that `get_variable` makes inside `with store.as_default()`, and gives them again by name.

    >>> store = tfe.EagerVariableStore()
    >>> for _ in range(2):
    ...     with store.as_default():
    ...         y = tf.layers.dense(x, 10, name="top")
    >>> len(store.variables())
    2
    """

    def __init__(self, store=None):
        if store is not None and not store.keeps_eager:
            raise ValueError(
                "The store given was made without eager execution; an EagerVariableStore wraps one that keeps eager variables"
            )
        self._store = VariableStore() if store is None else store
        self._store.keeps_eager = True

    def as_default(self):
        """A context in which this is the store that `get_variable` uses."""
        return default_store(self._store)

    def variables(self):
        """All variables kept, by name."""
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self):
        """Those that are trainable."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self):
        """Those that are not."""
        return [v for v in self.variables() if not v.trainable]

    def copy(self):
        """A store with variables of its own that have the same names and values."""
        if not executing_eagerly():
            raise RuntimeError("EagerVariableStore.copy works when executing eagerly only.")
        made = EagerVariableStore()
        for name, v in self._store._vars.items():
            made._store._vars[name] = ResourceVariable(v.read_value(), name=name, trainable=v.trainable)
        return made
