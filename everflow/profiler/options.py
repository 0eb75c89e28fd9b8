"""ProfileOptionBuilder: what a profile counts, shows and where it goes, as the dictionary that `profile` takes."""

from __future__ import annotations

import copy


class ProfileOptionBuilder:
    """Options of a profile, set one after the other.

    Args:
        options: Options to begin with.

    Example:
        >>> options = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
        >>> options.with_empty_output().build()["output"]
        'none'
    """

    def __init__(self, options=None):
        self._options = copy.deepcopy(options) if options is not None else _preset(max_depth=100, select=["micros"])

    @staticmethod
    def trainable_variables_parameter():
        """The sizes of trainable variables."""
        return _preset(account_type_regexes=["_trainable_variables"], account_displayed_op_only=True, select=["params"])

    @staticmethod
    def float_operation():
        """The float operations of nodes that have any."""
        return _preset(min_float_ops=1, order_by="float_ops", account_displayed_op_only=True, select=["float_ops"])

    @staticmethod
    def time_and_memory(
        min_micros=1,
        min_bytes=1,
        min_accelerator_micros=0,
        min_cpu_micros=0,
        min_peak_bytes=0,
        min_residual_bytes=0,
        min_output_bytes=0,
    ):
        """The times and memory of nodes that took at least so much."""
        return _preset(
            min_micros=min_micros,
            min_bytes=min_bytes,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            order_by="micros",
            account_displayed_op_only=True,
            select=["micros", "bytes"],
        )

    def build(self):
        """The options as a dictionary of its own."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth):
        """Show at most so many levels of the tree."""
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        """Show only nodes with at least so much memory."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        """Show only nodes that took at least so long."""
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params):
        """Show only nodes with at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        """Show only op types that occur at least so often."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        """Show only nodes with at least so many float operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Count only nodes with a type (op type, device or mark) that one of the patterns matches."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None, trim_name_regexes=None
    ):
        """Patterns of the names where the tree starts, that are shown, that are hidden, and below which it ends."""
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{name: copy.copy(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true):
        """Whether totals count only what is shown."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self):
        """Print nothing."""
        return self._with(output="none")

    def with_stdout_output(self):
        """Print to the standard output."""
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        """Print to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        """Write a timeline that Chrome's tracing page shows."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        """Write a file for pprof, of the code view."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute):
        """Order nodes by name, or the largest first: params, float_ops, micros, bytes, occurrence, ..."""
        return self._with(order_by=attribute)

    def select(self, attributes):
        """What to show of each node."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step):
        """Which step to show; -1 is the average of all."""
        return self._with(step=step)

    def _with(self, **changes):
        self._options.update(changes)
        return self


def _preset(**changes):
    options = {
        "max_depth": 10000,
        "min_bytes": 0,
        "min_micros": 0,
        "min_params": 0,
        "min_float_ops": 0,
        "min_occurrence": 0,
        "order_by": "name",
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": False,
        "select": [],
        "step": -1,
        "output": "stdout",
    }
    return {**options, **changes}
