"""tf.test.Benchmark: time ops and say how long they took."""

from __future__ import annotations

import inspect
import time

import numpy as np

from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.platform import logging
from everflow.protos import config_pb2


def benchmark_config():
    """A ConfigProto for timing: nothing is rewritten between the graph and what runs."""
    config = config_pb2.ConfigProto()
    config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
    return config


class Benchmark:
    """Subclasses have methods `benchmarkX` that call `run_op_benchmark` or `report_benchmark`."""

    def __init__(self):
        super().__init__()

    @classmethod
    def is_abstract(cls):
        """Whether it is the base class rather than a benchmark to run."""
        return cls is Benchmark

    def _name(self, overwrite_name=None):
        if overwrite_name is not None:
            return f"{type(self).__name__}.{overwrite_name}"
        for frame in inspect.stack():
            if frame.function.startswith("benchmark") and frame.frame.f_locals.get("self") is self:
                return f"{type(self).__name__}.{frame.function}"
        raise ValueError("Unable to determine the method that called report_benchmark.")

    def evaluate(self, tensors):
        """The values of tensors, in the default session."""
        if executing_eagerly():
            from everflow.framework.nest import map_structure

            return map_structure(lambda t: t.numpy(), tensors)
        return get_default_session().run(tensors)

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None):
        """Log what was measured."""
        given = {
            "iters": iters,
            "wall_time": wall_time,
            "cpu_time": cpu_time,
            "throughput": throughput,
            "extras": extras,
            "metrics": metrics,
        }
        logging.info(
            "Benchmark [%s] %s", self._name(name), ", ".join(f"{key}: {value}" for key, value in given.items() if value is not None)
        )

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
            sess.run(
                op_or_tensor, feed_dict, options=config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE), run_metadata=metadata
            )
            if store_trace:
                from everflow.runtime.timeline import Timeline

                extras["full_trace_chrome_format"] = Timeline(metadata.step_stats).generate_chrome_trace_format()
            if store_memory_usage:
                stats = (memory for device in metadata.step_stats.dev_stats for node in device.node_stats for memory in node.memory)
                extras["allocator_maximum_num_bytes"] = sum(memory.peak_bytes for memory in stats)
        extras["wall_time_mean"], extras["wall_time_stdev"] = float(np.mean(times)), float(np.std(times))
        median = float(np.median(times))
        throughput = mbs / median if mbs else None
        self.report_benchmark(iters=min_iters, wall_time=median, extras=extras, name=name, throughput=throughput)
        return {"iters": min_iters, "extras": extras, "name": self._name(name), "throughput": throughput or 0.0, "wall_time": median}
