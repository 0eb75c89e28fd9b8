"""Variables of columns that live in variable scopes: the state that `input_layer` and `linear_model` give columns."""

from __future__ import annotations

from everflow.framework.graph_keys import GraphKeys
from everflow.ops.variables.scope import get_variable


def with_model_variables(weight_collections):
    """The collections that the weights of a model join."""
    given = list(weight_collections or [])
    return given + [key for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES) if key not in given]


class Resources:
    """What columns keep besides variables, by column and name: a module, a table."""

    def __init__(self):
        self._resources = {}

    def add_resource(self, feature_column, name, resource):
        """Keep something for a column."""
        self._resources[feature_column, name] = resource

    def get_resource(self, feature_column, name):
        """What was kept for a column by a name."""
        if (feature_column, name) not in self._resources:
            raise ValueError(f"Nothing is kept for {feature_column} as {name!r}")
        return self._resources[feature_column, name]


class ScopedVariables(Resources):
    """Makes the variables of columns in the current variable scope, when they are first asked for."""

    def __init__(self, collections, trainable, weight_collections=None):
        super().__init__()
        self._collections = collections
        self.trainable, self.weight_collections = trainable, weight_collections  # as they were given
        self._trainable = trainable  # what columns of other libraries ask
        self._made = {}

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=None, initializer=None
    ):
        """Make, or with reuse find, a variable of a column."""
        joined = {"trainable": self.trainable and trainable, "collections": self._collections}
        variable = get_variable(name, shape, dtype=dtype, initializer=initializer, **joined)
        self._made[feature_column, name] = variable
        return variable

    def get_variable(self, feature_column, name):
        """A variable of a column, which makes its variables now if it has none yet."""
        if (feature_column, name) not in self._made:
            feature_column.create_state(self)
        return self._made[feature_column, name]

    def get_resource(self, feature_column, name):
        """What was kept for a column, which keeps it now if it hasn't yet."""
        if (feature_column, name) not in self._resources:
            feature_column.create_state(self)
        return super().get_resource(feature_column, name)

    def made_by(self, feature_column):
        """The variables that a column made."""
        return [variable for (column, _), variable in self._made.items() if column == feature_column]
