"""`tensorflow.python.data.benchmarks.benchmark_base`: how long a dataset takes for its elements."""

from __future__ import annotations

import time

import numpy as np

from everflow.data import Options
from everflow.framework.nest import flatten
from everflow.runtime.session import Session
from everflow.test import Benchmark


class DatasetBenchmarkBase(Benchmark):
    """Benchmarks of datasets."""

    def run_benchmark(self, dataset, num_elements, iters=1, warmup=True):
        """The median time of an element in seconds, with no rewrite of the dataset.

        Args:
            dataset: The dataset.
            num_elements: How many of its elements to take.
            iters: How often.
            warmup: Whether to take one before, which is not measured.
        """
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        # Only the last of the elements is handed over: the rest is skipped where the dataset runs.
        dataset = dataset.with_options(options).skip(num_elements - 1)
        iterator = dataset.make_initializable_iterator()
        last = flatten(iterator.get_next())[0].op
        times = []
        for _ in range(iters):
            with Session() as sess:
                if warmup:
                    sess.run(iterator.initializer)
                    sess.run(last)
                sess.run(iterator.initializer)
                start = time.perf_counter()
                sess.run(last)
                times.append(time.perf_counter() - start)
        return float(np.median(times)) / num_elements

    def run_and_report_benchmark(self, dataset, num_elements, name, iters=5, extras=None, warmup=True):
        """The same, reported by a name."""
        took = self.run_benchmark(dataset, num_elements, iters, warmup)
        extras = {**(extras or {}), "num_elements": num_elements}
        self.report_benchmark(wall_time=took, iters=iters, name=name, extras=extras)
        return took
