"""How layers of `tf.layers` get their variables here: as model variables, under contrib's names for them."""

from __future__ import annotations

import functools

from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.outputs import get_variable_collections
from everflow.platform.signatures import options_of

# What layers with variables take for them, and for their outputs.
COLLECTED = {"reuse": None, "variables_collections": None, "outputs_collections": None, "trainable": True}


def layer_variable(name, shape, dtype, initializer, collections, trainable, kind=None, **options):
    """A model variable in the collections a layer was given, by kind (mostly its name) where these are a dict."""
    options.update(collections=get_variable_collections(collections, kind or name), trainable=trainable)
    return model_variable(name, shape=shape, dtype=dtype, initializer=initializer, **options)


def model_variable_getter(rename=None):
    """A custom getter: {"kernel": "weights"} makes `scope/kernel` the model variable `scope/weights`."""
    return functools.partial(_model_variable, rename=rename or {})


# What a variable scope hands a getter that model variables take, too.
_SETTINGS = set(options_of(model_variable, ["device", "custom_getter"]))


def _model_variable(getter, name, *, rename, **given):
    scope, slash, short = name.rpartition("/")
    settings = {key: value for key, value in given.items() if key in _SETTINGS}
    return model_variable(scope + slash + rename.get(short, short), custom_getter=getter, **settings)
