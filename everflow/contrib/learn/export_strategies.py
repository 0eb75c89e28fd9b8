"""Export strategies: what an `Experiment` exports after an evaluation, and how many exports are kept."""

from __future__ import annotations

import collections
import os

from everflow.contrib.learn.serving import build_parsing_serving_input_fn
from everflow.estimator.arguments import fn_args, named
from everflow.estimator.estimator import Estimator
from everflow.estimator.export.receivers import build_parsing_serving_input_receiver_fn
from everflow.estimator.exporter import remove_old_exports
from everflow.feature_column.parsing import make_parse_example_spec
from everflow.platform.signatures import inserted, options_of, takes


class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A folder's name, and `export_fn(estimator, export_path, checkpoint_path, eval_result)`.

    The function may have fewer arguments. It returns the path it wrote to, or None.
    """

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Call the function with those arguments that it names."""
        given = {"checkpoint_path": checkpoint_path, "eval_result": eval_result}
        given["strip_default_attrs"] = self.strip_default_attrs
        if "eval_result" not in fn_args(self.export_fn):
            given.pop("eval_result")
        return self.export_fn(estimator, export_path, **named(self.export_fn, **given))


def make_export_strategy(
    serving_input_fn,
    default_output_alternative_key=None,
    assets_extra=None,
    as_text=False,
    exports_to_keep=5,
    strip_default_attrs=None,
):
    """A strategy that writes SavedModels and keeps the newest `exports_to_keep` of them."""

    def export_fn(estimator, export_dir_base, checkpoint_path=None, strip_default_attrs=False):
        options = {"assets_extra": assets_extra, "as_text": as_text, "checkpoint_path": checkpoint_path}
        options["strip_default_attrs"] = bool(strip_default_attrs)
        if isinstance(estimator, Estimator):
            if default_output_alternative_key is not None:
                raise ValueError("default_output_alternative_key is not for a tf.estimator.Estimator")
        else:
            options["default_output_alternative_key"] = default_output_alternative_key
        written = estimator.export_savedmodel(export_dir_base, serving_input_fn, **options)
        remove_old_exports(export_dir_base, exports_to_keep)
        return written

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


@takes(inserted(options_of(make_export_strategy), exports_to_keep={"target_core": False}))
def make_parsing_export_strategy(feature_columns, **given):
    """A strategy whose models take serialized Examples, parsed as the columns want them."""
    spec = make_parse_example_spec(feature_columns)
    for_core = given.pop("target_core")
    build = build_parsing_serving_input_receiver_fn if for_core else build_parsing_serving_input_fn
    return make_export_strategy(build(spec), **given)


def export_all(strategies, estimator, eval_result, checkpoint_path=None):
    """Let strategies export into their folders below the model's; the paths that were written."""
    base = os.path.join(estimator.model_dir, "export")
    return [
        s.export(estimator, os.path.join(base, s.name), checkpoint_path=checkpoint_path, eval_result=eval_result)
        for s in strategies
    ]


def checked(strategies):
    """Strategies as a tuple; ValueError for what is none."""
    strategies = (
        () if strategies is None else (strategies,) if isinstance(strategies, ExportStrategy) else tuple(strategies)
    )
    for strategy in strategies:
        if not isinstance(strategy, ExportStrategy):
            raise ValueError(f"Each of export_strategies must be an ExportStrategy, found {strategy}")
    return strategies
