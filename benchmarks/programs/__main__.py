"""Steps of small programs of well-known kinds, in milliseconds; beside another TensorFlow if you have one.

python -m benchmarks.programs                              all of them
python -m benchmarks.programs text_cnn dqn                 some
python -m benchmarks.programs --against old/bin/python     in turns with the TensorFlow 1.x of that interpreter
"""

import argparse
import importlib
import json
import subprocess
import sys
import time

import numpy as np

from benchmarks.programs import PROGRAMS


def milliseconds(tf, build, seconds):
    """What a step takes; of the steps, a quarter was quicker."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = build(tf)
        session.run(tf.global_variables_initializer())
        for _ in range(15):
            session.run(fetches, feeds)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            session.run(fetches, feeds)
            times.append(time.perf_counter() - start)
    return 1e3 * float(np.percentile(times, 25))


def elsewhere(python, name, seconds):
    """The same under another interpreter."""
    command = [python, "-m", "benchmarks.programs", name, "--tensorflow", "--seconds", str(seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout.decode().splitlines()[-1])[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="program", help=", ".join(PROGRAMS))
    parser.add_argument("--against", metavar="PYTHON", help="an interpreter that has TensorFlow 1.x")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each program")
    parser.add_argument("--tensorflow", action="store_true", help="use this interpreter's TensorFlow, and print JSON")
    options = parser.parse_args()
    tf = importlib.import_module("tensorflow" if options.tensorflow else "everflow")
    for name in options.names or PROGRAMS:
        ours = milliseconds(tf, PROGRAMS[name], options.seconds)
        if options.tensorflow:
            print(json.dumps({name: ours}))
        elif options.against:
            theirs = elsewhere(options.against, name, options.seconds)
            print(f"{name:25} {ours:8.2f} ms   TensorFlow {theirs:8.2f} ms   {theirs / ours:5.2f}x", flush=True)
        else:
            print(f"{name:25} {ours:8.2f} ms", flush=True)


if __name__ == "__main__":
    sys.exit(main())
