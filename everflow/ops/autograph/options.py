"""How a call is to be converted, as programs that drive the conversion themselves say it."""

from __future__ import annotations

import ast

from everflow.ops.autograph.conversion import converted
from everflow.ops.autograph.features import Feature, asked_for


class AutoGraphError(Exception):
    """What went wrong while a function was converted."""


class ConversionOptions:
    """Whether called functions are converted too, whether the user asked for it, and the features asked for beyond the
    usual.
    """

    def __init__(
        self, recursive=False, user_requested=False, internal_convert_user_code=True, optional_features=Feature.ALL
    ):
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        self.optional_features = frozenset(
            [optional_features] if isinstance(optional_features, Feature) else optional_features or ()
        )

    def as_tuple(self):
        """All of it in one value that can be compared."""
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __hash__(self):
        return hash(self.as_tuple())

    def __eq__(self, other):
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def __repr__(self):
        return f"ConversionOptions{self.as_tuple()}"

    def uses(self, feature):
        """Whether a feature is asked for."""
        return feature in asked_for(self.optional_features)

    def call_options(self):
        """The options for functions that a function converted with these calls."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)

    def to_ast(self):
        """An expression of Python's that makes these options where `ag__` is AutoGraph."""
        features = ", ".join(
            f"ag__.Feature.{feature.name}" for feature in sorted(self.optional_features, key=lambda f: f.name)
        )
        flags = f"recursive={self.recursive}, user_requested={self.user_requested}"
        flags += f", internal_convert_user_code={self.internal_convert_user_code}"
        return ast.parse(f"ag__.ConversionOptions({flags}, optional_features=({features},))", mode="eval").body


def converted_call(f, options, args, kwargs, caller_fn_scope=None):
    """Call a function as the conversion calls it; `caller_fn_scope` is of no use here."""
    del caller_fn_scope
    function = (
        f
        if not options.internal_convert_user_code
        else converted(f, options.recursive, asked_for(options.optional_features))
    )
    return function(*args, **(kwargs or {}))
