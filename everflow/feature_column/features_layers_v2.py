"""`DenseFeatures` as TensorFlow 2 has it: its variables are the layer's own, whatever variable scopes are around."""

from __future__ import annotations

from everflow.feature_column import features_layers
from everflow.framework.scopes import name_scope


class LayerVariablesV2(features_layers.LayerVariables):
    """Makes the variables of columns as weights of a layer, without variable scopes."""

    _getter: dict = {}


class DenseFeatures(features_layers.DenseFeatures):
    """What dense columns make of a dict of features, side by side in the order of the columns' names: [batch, numbers].

    Args:
        feature_columns: The feature columns.
        trainable: Whether its weights are trained.
        name: Its name.
    """

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._state_manager = LayerVariablesV2(self, self.trainable)

    def build(self, _):
        for column in self._feature_columns:
            with name_scope(column.name):
                column.create_state(self._state_manager)
        super(features_layers._FeaturesLayer, self).build(None)
