"""tf.flags: absl's flags, with two habits of TensorFlow 1.

Reading a value parses sys.argv where nobody has yet, and the arguments of DEFINE_* have their old names too.
"""

from __future__ import annotations

import functools
import logging
import sys

from absl import flags as _absl_flags
from absl.flags import *  # noqa: F403  the module is absl's, but for what is below

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class _ParsingFlagValues:
    """absl's FLAGS; a value read before anybody parsed makes it parse the command line."""

    def __init__(self, values: _absl_flags.FlagValues):
        object.__setattr__(self, "_values", values)

    def __getattribute__(self, name):
        if name in ("__dict__", "__class__"):
            return object.__getattribute__(self, name)
        values = object.__getattribute__(self, "_values")
        if name == "_parse_flags":  # what programs of TensorFlow 1.0-1.4 call
            return lambda args=None: values(sys.argv if args is None else args)
        # absl's own methods and private parts don't need a parsed command line.
        if not hasattr(type(values), name) and not name.startswith("_") and not values.is_parsed():
            values(sys.argv)
        return getattr(values, name)

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "_values"), name, value)

    def __delattr__(self, name):
        delattr(object.__getattribute__(self, "_values"), name)

    def __getitem__(self, name):
        return object.__getattribute__(self, "_values")[name]

    def __setitem__(self, name, flag):
        object.__getattribute__(self, "_values")[name] = flag

    def __contains__(self, name):
        return name in object.__getattribute__(self, "_values")

    def __iter__(self):
        return iter(object.__getattribute__(self, "_values"))

    def __len__(self):
        return len(object.__getattribute__(self, "_values"))

    def __dir__(self):
        return dir(object.__getattribute__(self, "_values"))

    def __call__(self, argv, known_only=False):
        return object.__getattribute__(self, "_values")(argv, known_only=known_only)

    def __str__(self):
        return str(object.__getattribute__(self, "_values"))

    __repr__ = __str__


FLAGS = _ParsingFlagValues(_absl_flags.FLAGS)  # type: ignore[assignment]


def _takes_old_names(define):
    @functools.wraps(define)
    def wrapper(*args, **kwargs):
        if not _OLD_NAMES.keys().isdisjoint(kwargs):
            logging.warning(
                "The argument names flag_name, default_value and docstring are old; use name, default and help."
            )
            kwargs = {_OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
        return define(*args, **kwargs)

    _absl_flags.disclaim_key_flags()  # so that --help shows the flags of the program, not of this module
    return wrapper


DEFINE_string = _takes_old_names(_absl_flags.DEFINE_string)
DEFINE_boolean = _takes_old_names(_absl_flags.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _takes_old_names(_absl_flags.DEFINE_float)
DEFINE_integer = _takes_old_names(_absl_flags.DEFINE_integer)
