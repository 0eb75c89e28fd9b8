"""tensorflow.python.keras.model_subclassing_test_util: small models that are classes, for tests."""

from __future__ import annotations

from typing import Any

from everflow.keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, Input
from everflow.keras.models import Model

_WIDTH, _INNER_CLASSES = 32, 4


class _Optional(Model):
    """A model with dropout and batch normalization where they are asked for."""

    def _add_optional(self, use_bn: bool, use_dp: bool) -> None:
        self.use_bn, self.use_dp = use_bn, use_dp
        if use_dp:
            self.dp = Dropout(0.5)
        if use_bn:
            self.bn = BatchNormalization(axis=-1)


class SimpleTestModel(_Optional):
    """Two dense layers, the last one a softmax."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: int = 10) -> None:
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.dense1 = Dense(_WIDTH, activation="relu")
        self.dense2 = Dense(num_classes, activation="softmax")
        self._add_optional(use_bn, use_dp)

    def call(self, x: Any) -> Any:
        """The probabilities of classes."""
        x = self.dense1(x)
        x = self.dp(x) if self.use_dp else x
        x = self.bn(x) if self.use_bn else x
        return self.dense2(x)


class SimpleConvTestModel(Model):
    """A convolution and a softmax."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.conv1 = Conv2D(_WIDTH, (3, 3), activation="relu")
        self.flatten = Flatten()
        self.dense1 = Dense(num_classes, activation="softmax")

    def call(self, x: Any) -> Any:
        """The probabilities of classes."""
        return self.dense1(self.flatten(self.conv1(x)))


class MultiIOTestModel(_Optional):
    """Two inputs through one layer, and an output for each."""

    def __init__(self, use_bn: bool = False, use_dp: bool = False, num_classes: tuple[int, int] = (2, 3)) -> None:
        super().__init__(name="test_model")
        self.num_classes = num_classes
        self.dense1 = Dense(_WIDTH, activation="relu")
        self.dense2, self.dense3 = (Dense(count, activation="softmax") for count in num_classes)
        self._add_optional(use_bn, use_dp)

    def call(self, inputs: Any) -> list:
        """Both outputs."""
        first, second = (self.dense1(x) for x in inputs)
        first = self.dp(first) if self.use_dp else first
        second = self.bn(second) if self.use_bn else second
        return [self.dense2(first), self.dense3(second)]


class _Nested(Model):
    """A dense layer, batch normalization, the model inside, and a dense layer."""

    def _build_around(self, num_classes: int) -> None:
        self.num_classes = num_classes
        self.dense1 = Dense(_WIDTH, activation="relu")
        self.dense2 = Dense(num_classes, activation="relu")
        self.bn = BatchNormalization()

    def call(self, inputs: Any) -> Any:
        """What the last layer gives."""
        return self.dense2(self.test_net(self.bn(self.dense1(inputs))))


class NestedTestModel1(_Nested):
    """A model with one inside that is a class, too."""

    def __init__(self, num_classes: int = 2) -> None:
        super().__init__(name="nested_model_1")
        self._build_around(num_classes)
        self.test_net = SimpleTestModel(num_classes=_INNER_CLASSES, use_bn=True, use_dp=True)


class NestedTestModel2(_Nested):
    """A model with a functional one inside."""

    def __init__(self, num_classes: int = 2) -> None:
        super().__init__(name="nested_model_2")
        self._build_around(num_classes)
        self.test_net = self.get_functional_graph_model(_WIDTH, _INNER_CLASSES)

    @staticmethod
    def get_functional_graph_model(input_dim: int, num_classes: int) -> Model:
        """The model inside."""
        inputs = Input(shape=(input_dim,))
        hidden = BatchNormalization()(Dense(_WIDTH, activation="relu")(inputs))
        return Model(inputs, Dense(num_classes)(hidden))


def get_nested_model_3(input_dim: int, num_classes: int) -> Model:
    """A functional model with one inside that is a class."""

    class Inner(Model):
        """Two dense layers and batch normalization."""

        def __init__(self) -> None:
            super().__init__()
            self.dense1 = Dense(_WIDTH, activation="relu")
            self.dense2 = Dense(5, activation="relu")
            self.bn = BatchNormalization()

        def call(self, inputs: Any) -> Any:
            return self.bn(self.dense2(self.dense1(inputs)))

    inputs = Input(shape=(input_dim,))
    hidden = BatchNormalization()(Dense(_WIDTH, activation="relu")(inputs))
    return Model(inputs, Dense(num_classes)(Inner()(hidden)), name="nested_model_3")


class CustomCallModel(Model):
    """A model whose call takes more than inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1, activation="relu")
        self.dense2 = Dense(1, activation="softmax")

    def call(self, first: Any, second: Any, fiddle_with_output: str = "no", training: bool = True) -> Any:
        """The sum of what both inputs give; ten times that if `fiddle_with_output` is "yes"."""
        total = self.dense1(first) + self.dense2(second)
        return 10.0 * total if fiddle_with_output == "yes" else total


class TrainingNoDefaultModel(Model):
    """A model whose call has to be told whether it trains."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x: Any, training: Any) -> Any:
        """What the layer gives."""
        return self.dense1(x)


class TrainingMaskingModel(Model):
    """A model whose call may be given a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.dense1 = Dense(1)

    def call(self, x: Any, training: Any = False, mask: Any = None) -> Any:
        """What the layer gives."""
        return self.dense1(x)
