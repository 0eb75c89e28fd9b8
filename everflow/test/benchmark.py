"""tf.test.Benchmark: time ops and say how long they took."""

from __future__ import annotations

import inspect
import os
import re
import sys
import time

import numpy as np
from google.protobuf import text_format

from everflow.framework.nest import map_structure
from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.platform import logging
from everflow.protos import config_pb2, test_log_pb2
from everflow.runtime.timeline import Timeline


def benchmark_config():
    """A ConfigProto for timing: nothing is rewritten between the graph and what runs.

    Returns:
        A `tf.ConfigProto`.

    Example:
        >>> type(tf.test.benchmark_config()).__name__
        'ConfigProto'
    """
    config = config_pb2.ConfigProto()
    config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    return config


# All benchmarks that there are to run.
GLOBAL_BENCHMARK_REGISTRY: set[type] = set()


class Benchmark:
    """Subclasses have methods `benchmarkX` that call `run_op_benchmark` or `report_benchmark`.

    Example:
        >>> class Sums(tf.test.Benchmark):
        ...     def benchmarkSum(self):
        ...         self.report_benchmark(wall_time=0.1, name="sum")
        >>> issubclass(Sums, tf.test.Benchmark)
        True
    """

    def __init__(self):
        super().__init__()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            GLOBAL_BENCHMARK_REGISTRY.add(cls)

    @classmethod
    def is_abstract(cls):
        """Whether it is the base class rather than a benchmark to run."""
        return cls is Benchmark

    def _get_name(self, overwrite_name=None):
        if overwrite_name is not None:
            return f"{type(self).__name__}.{overwrite_name}"
        for frame in inspect.stack():
            if frame.function.startswith("benchmark") and frame.frame.f_locals.get("self") is self:
                return f"{type(self).__name__}.{frame.function}"
        raise ValueError("Unable to determine the method that called report_benchmark.")

    def evaluate(self, tensors):
        """The values of tensors, in the default session."""
        if executing_eagerly():
            return map_structure(lambda t: t.numpy(), tensors)
        return get_default_session().run(tensors)

    def report_benchmark(
        self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None
    ):
        """Log what was measured, and print it as an entry of a BenchmarkEntries message."""
        report_benchmark(self._get_name(name), iters, cpu_time, wall_time, throughput, extras, metrics)

    def run_op_benchmark(
        self,
        sess,
        op_or_tensor,
        feed_dict=None,
        burn_iters=2,
        min_iters=10,
        store_trace=False,
        store_memory_usage=True,
        name=None,
        extras=None,
        mbs=0,
    ):
        """Run an op, report and return the median time of a run in seconds. `mbs` megabytes a run give a throughput."""
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times.append(time.perf_counter() - start)
        extras = dict(extras or {})
        if store_trace or store_memory_usage:
            metadata = config_pb2.RunMetadata()
            options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
            sess.run(op_or_tensor, feed_dict, options=options, run_metadata=metadata)
            timeline = Timeline(metadata.step_stats)
            if store_trace:
                extras["full_trace_chrome_format"] = timeline.generate_chrome_trace_format()
            if store_memory_usage:
                for allocator, most in timeline.analyze_step_stats().allocator_maximums.items():
                    extras[f"allocator_maximum_num_bytes_{allocator}"] = most.num_bytes
        median = float(np.median(times))
        throughput = mbs / median if mbs else None
        self.report_benchmark(iters=min_iters, wall_time=median, extras=extras, name=name, throughput=throughput)
        measured = {"iters": min_iters, "throughput": throughput or 0.0, "wall_time": median}
        return {**measured, "extras": extras, "name": self._get_name(name)}


def report_benchmark(name, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, metrics=None):
    """Log what was measured, print it as a BenchmarkEntries message, and write that where `TEST_REPORT_FILE_PREFIX` says."""
    if not isinstance(extras or {}, dict):
        raise TypeError(f"extras must be a dictionary, not {extras!r}")
    shown = [-1 if value is None else value for value in (iters, wall_time, cpu_time, throughput)]
    words = "Benchmark [%s]: %d iterations, %g s (cpu %g s), throughput %g, extras %s, metrics %s"
    logging.info(words, name, *shown, extras, metrics)
    numbers = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
    entries = test_log_pb2.BenchmarkEntries(entry=[_entry(name, numbers, extras or {}, metrics or [])])
    sys.stdout.write(text_format.MessageToString(entries) + "\n")
    _write_report(name, entries)


def _entry(name, numbers, extras, metrics):
    """What was measured, as a message."""
    entry = test_log_pb2.BenchmarkEntry(name=name, **{k: v for k, v in numbers.items() if v is not None})
    for key, value in extras.items():
        if isinstance(value, int | float | np.number):
            entry.extras[key].double_value = value
        else:
            entry.extras[key].string_value = str(value)
    for metric in metrics:
        held = {key: value for key, value in metric.items() if value is not None}
        entry.metrics.add(**held | {key: {"value": held[key]} for key in held.keys() & {"min_value", "max_value"}})
    return entry


def _write_report(name, entries):
    """Write a measured benchmark to a file of its own, if the test program is to report."""
    prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
    if not prefix:
        return
    path = prefix + name.replace("/", "__")
    if os.path.exists(path):
        raise OSError(f"A benchmark named {name!r} has reported already: {path} is there")
    with open(path, "wb") as file:
        file.write(entries.SerializeToString())


def run_benchmarks(pattern):
    """Run the methods `benchmarkX` of all Benchmarks whose `module.Class.benchmarkX` matches; "all" is all of them."""
    pattern = "." if pattern == "all" else pattern
    for kind in sorted(GLOBAL_BENCHMARK_REGISTRY, key=lambda kind: kind.__name__):
        for name in dir(kind):
            if (
                name.startswith("benchmark")
                and callable(getattr(kind, name))
                and re.search(pattern, f"{kind.__module__}.{kind.__name__}.{name}")
            ):
                getattr(kind(), name)()
