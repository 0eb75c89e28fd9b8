"""One measurement, in a process of its own: a program under Everflow, TensorFlow or torch, as a line of JSON.

python -m benchmarks.measure everflow text_cnn --seconds 2 [--arguments '{"batch": 8}'] [--callers 4]

It runs under the Python 3.7 of an old TensorFlow as well.
"""

import argparse
import importlib
import json
import os
import resource
import threading
import time

import numpy as np

from benchmarks.programs import PROGRAMS, STREAMS

# Steps and seconds before the clock starts, and the most seconds until plans have become machine code.
WARM_STEPS, WARM_SECONDS, COMPILING_SECONDS = 30, 1.0, 30.0


class Steps:
    """A program that is ready to run: its steps, how large its graph is, and how long the first one took."""

    def __init__(self, module, name, arguments, threads):
        start = time.perf_counter()
        if module == "torch":
            self.step, self.nodes = importlib.import_module("benchmarks.by_hand").BY_HAND[name](), 0
        else:
            self.step, self.nodes = _session_step(importlib.import_module(module), name, arguments, threads)
        self.building = time.perf_counter() - start
        start = time.perf_counter()
        self.step()
        self.first = time.perf_counter() - start


def _session_step(tf, name, arguments, threads):
    graph = tf.Graph()
    with graph.as_default():
        fetches, feeds = {**PROGRAMS, **STREAMS}[name](tf, **arguments)
        initial = tf.global_variables_initializer()
    config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    session = tf.Session(graph=graph, config=config)
    session.run(initial)
    return lambda: session.run(fetches, feeds), len(graph.get_operations())


def _is_compiling(module):
    """Whether the steps are on their way to become machine code: on a machine that has not seen them before."""
    return module == "everflow" and not importlib.import_module("everflow.native.background").BACKGROUND.is_idle


def timed(module, step, seconds):
    """The seconds that each step took."""
    begin, count, passed = time.perf_counter(), 0, 0.0
    while count < WARM_STEPS or passed < WARM_SECONDS or (passed < COMPILING_SECONDS and _is_compiling(module)):
        step()
        count, passed = count + 1, time.perf_counter() - begin
    times, end = [], time.perf_counter() + seconds
    while len(times) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


def steps_a_second(step, seconds, callers):
    """How many steps several threads take together that run the same session at once."""
    counts, end = [0] * callers, time.perf_counter() + seconds

    def call(number):
        while time.perf_counter() < end:
            step()
            counts[number] += 1

    threads = [threading.Thread(target=call, args=(n,)) for n in range(callers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def megabytes():
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def load(module):
    """Have all of a module in memory that every program needs."""
    loaded = importlib.import_module(module)
    if module == "torch":
        loaded.zeros(1) + 1
    else:
        with loaded.Graph().as_default(), loaded.Session() as session:
            session.run(loaded.constant(1.0))


def measure(module, name, seconds, arguments, callers, threads):
    start = time.perf_counter()
    load(module)
    before = megabytes()
    steps = Steps(module, name, arguments, threads)
    until_first = time.perf_counter() - start
    times = timed(module, steps.step, seconds)
    quarter, median, three_quarters = np.percentile(times, [25, 50, 75])
    found = {
        "quarter": 1e3 * quarter,
        "median": 1e3 * median,
        "three_quarters": 1e3 * three_quarters,
        "nodes": steps.nodes,
        "building": steps.building,
        "first": steps.first,
        "until_first": until_first,  # from loading the library on
        "megabytes": megabytes() - before,
        "peak": megabytes(),  # of the whole process
    }
    if callers:
        found["steps_a_second"] = steps_a_second(steps.step, seconds, callers)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", choices=["everflow", "tensorflow", "torch"])
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--arguments", type=json.loads, default={}, help="of the program, as JSON")
    parser.add_argument("--callers", type=int, default=0, help="threads that run the session at once")
    parser.add_argument("--threads", type=int, default=0, help="of kernels; 0: as many as the library likes")
    options = parser.parse_args()
    if options.threads:
        os.environ["OMP_NUM_THREADS"] = str(options.threads)  # before anything is loaded that has threads
    found = measure(
        options.module, options.program, options.seconds, options.arguments, options.callers, options.threads
    )
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
