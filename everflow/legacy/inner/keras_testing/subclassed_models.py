"""`tensorflow.python.keras.model_subclassing_test_util`: models written as classes, alone and one inside another, that
tests of such models train, save and clone.
"""

from __future__ import annotations

from typing import Any

from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_layer import Input
from everflow.keras.engine.training import Model
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Dense, Dropout, Flatten
from everflow.keras.layers.normalization import BatchNormalization

_HIDDEN = 32


def _through(x: Any, *layers: Layer | None) -> Any:
    """`x` sent through those layers that are there, in turn."""
    for layer in layers:
        if layer is not None:
            x = layer(x)
    return x


class SimpleTestModel(Model):
    """A hidden layer and probabilities of classes, with dropout and normalization between them where asked for."""

    def __init__(self, use_bn=False, use_dp=False, num_classes=10):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(_HIDDEN, activation="relu")
        self.dense2 = Dense(num_classes, activation="softmax")
        if use_dp:
            self.dp = Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization()

    def call(self, x):
        """Probabilities for a batch of rows."""
        return _through(x, self.dense1, self.dp if self.use_dp else None, self.bn if self.use_bn else None, self.dense2)


class SimpleConvTestModel(Model):
    """One convolution, and probabilities of classes from all of its outputs."""

    def __init__(self, num_classes=10):
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.conv1 = Conv2D(_HIDDEN, (3, 3), activation="relu")
        self.flatten = Flatten()
        self.dense1 = Dense(num_classes, activation="softmax")

    def call(self, x):
        """Probabilities for a batch of images."""
        return _through(x, self.conv1, self.flatten, self.dense1)


class MultiIOTestModel(Model):
    """Two inputs through one shared layer, and two outputs: dropout may be on the way to the first, normalization on
    the way to the second.
    """

    def __init__(self, use_bn=False, use_dp=False, num_classes=(2, 3)):
        super().__init__(name="test_model")
        self.use_bn, self.use_dp, self.num_classes = use_bn, use_dp, num_classes
        self.dense1 = Dense(_HIDDEN, activation="relu")
        self.dense2 = Dense(num_classes[0], activation="softmax")
        self.dense3 = Dense(num_classes[1], activation="softmax")
        if use_dp:
            self.dp = Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization()

    def call(self, inputs):
        """[probabilities of the first classes, of the second]."""
        first, second = (self.dense1(x) for x in inputs)
        first = _through(first, self.dp if self.use_dp else None)
        second = _through(second, self.bn if self.use_bn else None)
        return [self.dense2(first), self.dense3(second)]


class NestedTestModel1(Model):
    """A class with another class inside."""

    def __init__(self, num_classes=2):
        super().__init__(name="nested_model_1")
        self.num_classes = num_classes
        self.dense1 = Dense(_HIDDEN, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = BatchNormalization()
        self.test_net = SimpleTestModel(num_classes=4, use_bn=True, use_dp=True)

    def call(self, inputs):
        """What comes out of the last layer."""
        return _through(inputs, self.dense1, self.bn, self.test_net, self.dense2)


class NestedTestModel2(Model):
    """A class with a functional model inside."""

    def __init__(self, num_classes=2):
        super().__init__(name="nested_model_2")
        self.num_classes = num_classes
        self.dense1 = Dense(_HIDDEN, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = BatchNormalization()
        self.test_net = self.get_functional_graph_model(_HIDDEN, 4)

    @staticmethod
    def get_functional_graph_model(input_dim, num_classes):
        """The model inside: a hidden layer, normalized, and a linear one."""
        inputs = Input(shape=(input_dim,))
        return Model(
            inputs, _through(inputs, Dense(_HIDDEN, activation="relu"), BatchNormalization(), Dense(num_classes))
        )

    def call(self, inputs):
        """What comes out of the last layer."""
        return _through(inputs, self.dense1, self.bn, self.test_net, self.dense2)


def get_nested_model_3(input_dim, num_classes):
    """A functional model with a class inside."""

    class Inner(Model):
        def __init__(self):
            super().__init__()
            self.dense1 = Dense(_HIDDEN, activation="relu")
            self.dense2 = Dense(5, activation="relu")
            self.bn = BatchNormalization()

        def call(self, inputs):
            return _through(inputs, self.dense1, self.dense2, self.bn)

    inputs = Input(shape=(input_dim,))
    outputs = _through(inputs, Dense(_HIDDEN, activation="relu"), BatchNormalization(), Inner(), Dense(num_classes))
    return Model(inputs, outputs, name="nested_model_3")


class CustomCallModel(Model):
    """A model whose `call` takes two tensors and an option that isn't a tensor."""

    def __init__(self):
        super().__init__()
        self.dense1 = Dense(1, activation="relu")
        self.dense2 = Dense(1, activation="softmax")

    def call(self, first, second, fiddle_with_output="no", training=True):
        """The sum of both branches, ten times as much where `fiddle_with_output` is "yes"."""
        both = self.dense1(first) + self.dense2(second)
        return 10.0 * both if fiddle_with_output == "yes" else both


class TrainingNoDefaultModel(Model):
    """A model that has to be told whether it trains."""

    def __init__(self):
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x, training):
        """A linear layer, whatever `training` is."""
        return self.dense1(x)


class TrainingMaskingModel(Model):
    """A model that takes a mask."""

    def __init__(self):
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x, training=False, mask=None):
        """A linear layer, whatever the mask is."""
        return self.dense1(x)
