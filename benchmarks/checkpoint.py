"""How long saving and restoring a gigabyte of float variables takes, here and under another Python's TensorFlow.

python benchmarks/checkpoint.py [--other /path/to/python] [--megabytes 1024] [--repeats 3]

Saving here ends when the bytes are on the disk, TensorFlow's when the system has taken them: with a slow disk that is
what is measured. TMPDIR=/dev/shm leaves the disk out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

# Runs under TensorFlow's own Python as well, which may be an old one.
PROGRAM = """
import json, sys, time
import numpy as np
tf = __import__(sys.argv[1])
folder, megabytes, repeats = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
count = 16
shape = [megabytes * 1024 * 1024 // 4 // count // 256, 256]
variables = [tf.get_variable("v%d" % i, shape, initializer=tf.random_uniform_initializer(seed=i)) for i in range(count)]
saver = tf.train.Saver(variables, max_to_keep=1)
times = {"save": [], "restore": []}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    before = sess.run(variables[3][:5])
    for i in range(repeats):
        start = time.perf_counter()
        path = saver.save(sess, folder + "/model", global_step=i, write_meta_graph=False)
        times["save"].append(time.perf_counter() - start)
        start = time.perf_counter()
        saver.restore(sess, path)
        times["restore"].append(time.perf_counter() - start)
    assert (sess.run(variables[3][:5]) == before).all()
print("RESULT " + json.dumps(times))
"""


def measure(python: str, module: str, megabytes: int, repeats: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-c", PROGRAM, module, folder, str(megabytes), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    if done.returncode:
        raise SystemExit(done.stderr)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line[len("RESULT ") :])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--other", help="a Python with TensorFlow 1.15, to compare with")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    ours = measure(sys.executable, "everflow", args.megabytes, args.repeats)
    theirs = measure(args.other, "tensorflow", args.megabytes, args.repeats) if args.other else None
    for what in ("save", "restore"):
        line = f"{what:8} {min(ours[what]):6.2f} s"
        if theirs:
            line += (
                f"   TensorFlow {min(theirs[what]):6.2f} s   {min(theirs[what]) / min(ours[what]):.2f} times as fast"
            )
        print(line)


if __name__ == "__main__":
    main()
