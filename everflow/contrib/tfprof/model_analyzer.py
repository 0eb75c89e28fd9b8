"""What tf.profiler was at first: one function, its options as dicts."""

# ruff: noqa: F401  Names of tf.profiler are handed on.

from everflow.profiler import Profiler, advise
from everflow.profiler.context import ProfileContext
from everflow.profiler.options import ProfileOptionBuilder
from everflow.profiler.profiler import profile

_COMMON = {"max_depth": 10000, "order_by": "name", "account_displayed_op_only": True, "select": []}
_COMMON.update(dict.fromkeys(("min_bytes", "min_micros", "min_params", "min_float_ops"), 0))
_COMMON.update({f"{what}_regexes": [".*"] for what in ("account_type", "start_name", "show_name")})
_COMMON.update(trim_name_regexes=[], hide_name_regexes=[], output="stdout", dump_to_file="")
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {**_COMMON, "account_type_regexes": ["_trainable_variables"], "select": ["params"]}
FLOAT_OPS_OPTIONS = {**_COMMON, "min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}
PRINT_ALL_TIMING_MEMORY = {**_COMMON, "min_bytes": 1, "min_micros": 1, "select": ["micros", "bytes"]}
_CHECKERS = ("ExpensiveOperation", "AcceleratorUtilization", "Job", "Operation")
ALL_ADVICE = {f"{what}Checker": {} for what in _CHECKERS}


def print_model_analysis(
    graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=TRAINABLE_VARS_PARAMS_STAT_OPTIONS
):
    """Report the sizes of a graph's variables, or what else the options select; gives the numbers as a proto.

    >>> stats = tf.contrib.tfprof.model_analyzer.print_model_analysis(tf.get_default_graph())
    >>> stats.total_parameters
    """
    # Options of these early days may leave out what came later.
    options = {**ProfileOptionBuilder().build(), **tfprof_options}
    return profile(graph, run_meta=run_meta, op_log=op_log, cmd=tfprof_cmd, options=options)
