"""What `compile` and `fit` take for each output of a model: a dict by the outputs' names, or a list in their order."""

from __future__ import annotations


def from_dict(given, output_names, argument, default=None):
    """The entries of a dict in the order of the outputs; ValueError for a name that no output has."""
    unknown = sorted(set(given) - set(output_names), key=str)
    if unknown:
        raise ValueError(
            f"Unknown entries in {argument} dictionary: {unknown}. The model's outputs are {output_names}."
        )
    return [given.get(name, default) for name in output_names]


def from_list(given, output_names, argument):
    """The entries of a list; ValueError where there are more or fewer than outputs."""
    if len(given) != len(output_names):
        raise ValueError(
            f"A list as `{argument}` has one entry per model output. The outputs are {output_names}, and {argument} has "
            f"{len(given)}: {str(given)[:200]}"
        )
    return list(given)
