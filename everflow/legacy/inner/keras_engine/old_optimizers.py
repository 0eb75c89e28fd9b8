"""`keras.optimizers` inside TensorFlow's tree: optimizers that take `lr`, as Keras had them first, by the ways of today's."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.keras import backend as K
from everflow.keras.optimizers import adam as _adam
from everflow.keras.optimizers import adaptive, gradient_descent
from everflow.platform.signatures import REQUIRED, constructor, parameters

# Class, what it takes, and what its configuration has, as numbers that variables hold.
_KINDS = (
    (gradient_descent.SGD, "lr=0.01, momentum=0.0, decay=0.0, nesterov=False", {}),
    (adaptive.RMSprop, "lr=0.001, rho=0.9, epsilon=None, decay=0.0", {}),
    (adaptive.Adagrad, "lr=0.01, epsilon=None, decay=0.0", {"initial_accumulator_value": 0.0}),
    (adaptive.Adadelta, "lr=1.0, rho=0.95, epsilon=None, decay=0.0", {}),
    (_adam.Adam, "lr=0.001, beta_1=0.9, beta_2=0.999, epsilon=None, decay=0.0, amsgrad=False", {}),
    (_adam.Adamax, "lr=0.002, beta_1=0.9, beta_2=0.999, epsilon=None, decay=0.0", {}),
    (_adam.Nadam, "lr=0.002, beta_1=0.9, beta_2=0.999, epsilon=None, schedule_decay=0.004", {}),
)
_TODAY = {"lr": "learning_rate", "schedule_decay": "decay"}
_NOT_IN_VARIABLES = {("Adadelta", "rho"), ("Nadam", "schedule_decay")}
_EXACT = ("epsilon", "amsgrad", "nesterov")


def _kind(base: type, takes: str, settings: dict) -> type:
    arguments = parameters(takes)

    def start(self: Any, **given: Any) -> None:
        if "learning_rate" in given:
            raise TypeError(f"{base.__name__} of tensorflow.python.keras.optimizers takes `lr`, not `learning_rate`.")
        given["learning_rate"] = given.pop("lr")
        if given.get("epsilon", 0) is None:
            given["epsilon"] = K.epsilon()
        base.__init__(self, **given, **settings)  # type: ignore[misc]

    def get_config(self: Any) -> dict:
        today = base.get_config(self)  # type: ignore[attr-defined]
        config = {name: today[name] for name in ("clipnorm", "clipvalue") if name in today}
        for name in arguments:
            value = today[_TODAY.get(name, name)]
            plain = name in _EXACT or (base.__name__, name) in _NOT_IN_VARIABLES
            config[name] = value if plain else float(np.float32(value))
        return config

    members = {
        "__init__": constructor({**arguments, "**kwargs": REQUIRED}, start),
        "__module__": __name__,
        "__doc__": f"{base.__name__} with a rate by the name `lr`.",
        "get_config": get_config,
        "from_config": classmethod(lambda cls, config: cls(**config)),
    }
    return type(base.__name__, (base,), members)


SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam = (_kind(*each) for each in _KINDS)
sgd, rmsprop, adagrad, adadelta, adam, adamax, nadam = SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam
