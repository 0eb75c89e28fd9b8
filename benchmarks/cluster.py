"""What a step costs on parameter servers and workers, here and under another Python's TensorFlow, in turns; and how fast
a large tensor moves between two tasks, beside a plain gRPC stream of as many bytes.

python benchmarks/cluster.py [--other /path/to/python] [--rounds 3] [--seconds 4] [--megabytes 100]

Every task is a process on this machine. The step is that of examples/parameter_server.py (its model, Adam), run by
`Session.run` in one worker, or in two that go at their own pace.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys

from everflow.cli.launch import free_addresses

# Runs under TensorFlow's own Python as well, which may be an old one.
PROGRAM = """
import json, sys, time
import numpy as np
tf = __import__(sys.argv[1])
cluster, job, index, what, seconds, megabytes = json.loads(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5], float(sys.argv[6]), int(sys.argv[7])
server = tf.train.Server(tf.train.ClusterSpec(cluster), job, index)
if job == "ps":
    sys.stdin.read()
    __import__("os")._exit(0)

def dense(x, name, size, activation=None):
    return tf.layers.dense(x, size, activation, kernel_initializer=tf.glorot_uniform_initializer(seed=1), name=name)

def example():
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
        x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
        logits = dense(dense(dense(x, "hidden1", 32, tf.nn.relu), "hidden2", 32, tf.nn.relu), "arms", 3)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
    random = np.random.RandomState(index)
    fed = {x: random.randn(64, 2).astype(np.float32), y: random.randint(3, size=64)}
    return [loss, step, train], fed

def large():
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [megabytes * 1024 * 256], initializer=tf.zeros_initializer(), use_resource=True)
        read = v.read_value()
    with tf.device("/job:worker/task:0"):
        return tf.slice(tf.identity(read), [0], [1]), {}

fetches, fed = globals()[what]()
config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index])
with tf.Session(server.target, config=config) as sess:
    if index == 0:
        sess.run(tf.global_variables_initializer())
    else:
        while len(sess.run(tf.report_uninitialized_variables())):
            time.sleep(0.1)
    for _ in range(3 if what == "large" else 50):
        sess.run(fetches, fed)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        sess.run(fetches, fed)
        times.append(time.perf_counter() - start)
print("RESULT " + json.dumps(times))
sys.stdout.flush()
"""
# A stream of chunks as gRPC alone carries it between two processes.
STREAM = """
import concurrent.futures, json, sys, time
import grpc
megabytes, chunk = int(sys.argv[1]), 1 << 20
options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
if len(sys.argv) == 2:
    piece = bytes(chunk)
    def chunks(request, context):
        for _ in range(megabytes):
            yield piece
    handler = grpc.method_handlers_generic_handler("s", {"Stream": grpc.unary_stream_rpc_method_handler(chunks)})
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), options=options)
    server.add_generic_rpc_handlers((handler,))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
else:
    call = grpc.insecure_channel("127.0.0.1:" + sys.argv[2], options=options).unary_stream("/s/Stream")
    times = []
    for _ in range(12):
        start = time.perf_counter()
        assert sum(len(piece) for piece in call(b"")) == megabytes * chunk
        times.append(time.perf_counter() - start)
    print("RESULT " + json.dumps(times[2:]))
"""
_ENVIRONMENT = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


def _result(process: subprocess.Popen) -> list[float]:
    printed, complaints = process.communicate()
    found = [line for line in printed.splitlines() if line.startswith("RESULT ")]
    if not found:
        raise SystemExit(complaints)
    return json.loads(found[-1][len("RESULT ") :])


def measure(python: str, module: str, what: str, servers: int, workers: int, args: argparse.Namespace) -> list[float]:
    """The seconds of each step of each worker."""
    addresses = free_addresses(servers + workers)
    cluster = {"ps": addresses[:servers], "worker": addresses[servers:]}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = {}
    for job, tasks in cluster.items():
        for index in range(len(tasks)):
            arguments = [module, json.dumps(cluster), job, str(index), what, str(args.seconds), str(args.megabytes)]
            command = [python, "-W", "ignore", "-c", PROGRAM, *arguments]
            processes[job, index] = subprocess.Popen(command, text=True, env=_ENVIRONMENT, **pipes)
    try:
        return [t for (job, _), process in processes.items() if job == "worker" for t in _result(process)]
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def measure_stream(args: argparse.Namespace) -> list[float]:
    """The seconds that a plain gRPC stream takes for as many bytes as the large tensor has."""
    command = [sys.executable, "-c", STREAM, str(args.megabytes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        port = server.stdout.readline().strip()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return _result(subprocess.Popen([*command, port], text=True, **pipes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", help="a Python with TensorFlow 1.15, to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--only", choices=("example", "large"))
    args = parser.parse_args()
    pythons = {"everflow": sys.executable, **({"tensorflow": args.other} if args.other else {})}
    cases = {
        "example, 1 server, 1 worker": ("example", 1, 1),
        "example, 2 servers, 1 worker": ("example", 2, 1),
        "example, 2 servers, 2 workers": ("example", 2, 2),
        f"{args.megabytes} MB read": ("large", 1, 1),
    }
    cases = {name: case for name, case in cases.items() if args.only in (None, case[0])}
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(args.rounds):
        for name, case in cases.items():
            for module, python in pythons.items():
                found.setdefault((name, module), []).extend(measure(python, module, *case, args))
            if case[0] == "large":
                found.setdefault((name, "gRPC stream"), []).extend(measure_stream(args))
    for (name, module), times in found.items():
        ours = statistics.median(found[name, "everflow"])
        ratio = statistics.median(times) / ours
        print(
            f"{name:30} {module:12} median {1e3 * statistics.median(times):8.2f} ms  least {1e3 * min(times):8.2f} ms"
            f"  {ratio:5.2f} of ours"
        )


if __name__ == "__main__":
    main()
