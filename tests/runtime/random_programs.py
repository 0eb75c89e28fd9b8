"""Random programs, run by the planner and by the reference interpreter: both must show the same.

    python -m tests.runtime.random_programs --seeds 0 20000      prints the seeds whose programs differ, with the size
    they can be shrunk to

A program is drawn from a seed, move by move (`random_moves.py`); a smaller `size` is the same program with fewer moves.
Numbers are small integers wherever rewrites may add up or multiply in another order, so nearly all programs must agree
to the last bit.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import sys
from unittest import mock

import numpy as np

import everflow as tf
from everflow.runtime.plan import specialize
from tests.kernels.old_graphs import old_graph
from tests.runtime import random_inputs, random_moves

MOVES = 24


def config(executor: str = "", rewriting: bool = True, native: bool = False) -> tf.ConfigProto:
    """The configuration of a session; kernels take one thread, since several add up in an order of their own.

    With `native` all that can be is machine code; runs with a time limit are none, so these have none.
    """
    made = tf.ConfigProto(intra_op_parallelism_threads=1, operation_timeout_in_ms=0 if native else 20000)
    jit = tf.OptimizerOptions
    made.graph_options.optimizer_options.global_jit_level = jit.ON_1 if native else jit.OFF
    made.experimental.executor_type = executor
    made.graph_options.rewrite_options.disable_meta_optimizer = not rewriting
    return made


class Drawn:
    """A program: a graph, and what is run of it one after the other."""

    def __init__(self, seed: int, size: int = MOVES, op_type: str | None = None):
        """`op_type`: a program of ops of this type alone."""
        self.random = random.Random(seed)
        self.exact = True  # until something is drawn that rewrites may round in another way
        self.pool: list[tf.Tensor] = []
        self.values: dict[tf.Tensor, np.ndarray] = {}  # what a first run gave
        self.fetchable: list = []  # besides the pool: tensors of any kind, operations
        self.writes: list[tf.Operation] = []
        self.loops = 0  # that are being drawn
        self.variables: list = []
        self.last_write: dict[str, tf.Operation] = {}  # variable → what wrote it last: two writes always have an order
        self.written: set[str] = set()  # variables that the branches and loops being drawn write
        self.initializers: list[tf.Operation] = []
        self.feeds: dict[tf.Tensor, list] = {}  # placeholder → its dimensions, None for that of the batch
        self.fed_inside: list[tf.Tensor] = []  # tensors that may be fed although they are computed
        with old_graph().as_default() as self.graph:
            tf.set_random_seed(seed)
            with tf.Session(config=config("REFERENCE")) as self._trial:
                self.initialized = 0
                random_moves.begin(self)
                chosen = self.random.sample(random_moves.MOVES, self.random.randint(3, 9))
                if op_type is not None:
                    chosen = [functools.partial(random_moves.one_op, op_type=op_type)]
                for number in range(size):
                    self.random = random.Random(f"{seed} {number}")
                    self._move(self.random.choice(chosen))
        self.runs = self._draw_runs(random.Random(seed + 1))

    def _move(self, move) -> None:
        """Draw something more. What can't be built, or doesn't run, is no part of the program."""
        kept = [list(held) for held in (self.pool, self.fetchable, self.writes, self.fed_inside)]
        last_write, self.written = dict(self.last_write), set()
        before = self.writes[-1:] if self.random.random() < 0.2 else []
        try:
            with tf.control_dependencies(before):
                move(self)
        except (ValueError, TypeError, LookupError, AttributeError, tf.errors.OpError):
            self.pool, self.fetchable, self.writes, self.fed_inside = kept
            self.last_write = last_write

    # --- what moves use ----------------------------------------------------------------------

    def run(self, fetches):
        """What fetches are when everything fed is as at first; what is known already is not computed again."""
        if len(self.initializers) > self.initialized:
            self._trial.run(self.initializers[self.initialized :])
            self.initialized = len(self.initializers)
        return self._trial.run(fetches, self.values)

    def first_feeds(self) -> dict:
        rng = np.random.RandomState(0)
        return {key: numbers(rng, [3 if d is None else d for d in dims], key.dtype) for key, dims in self.feeds.items()}

    def add(self, tensor: tf.Tensor) -> tf.Tensor:
        """Take a tensor of numbers into the pool, brought back to small integers where it has left them."""
        value = np.asarray(self.run(tensor))
        self.fetchable.append(tensor)
        if value.size > 4096:
            return tensor
        if tensor.dtype.is_floating and (
            not np.isfinite(value).all() or np.any(value != np.round(value)) or np.any(np.abs(value) > 64)
        ):
            tensor = tf.clip_by_value(tf.round(tf.where(tf.is_finite(tensor), tensor, tf.zeros_like(tensor))), -8, 8)
            value = np.asarray(self.run(tensor))
        self.pool.append(tensor)
        self.values[tensor] = value
        return tensor

    def pick(self, dtype=None, accept=lambda value: True) -> tf.Tensor:
        """A tensor of the pool, rather a late one; raises ValueError where none is fit."""
        fit = [t for t in self.pool if (dtype is None or t.dtype.base_dtype == dtype) and accept(self.values[t])]
        if not fit:
            raise ValueError("nothing fits")
        return self.random.choice(fit[-6:] if self.random.random() < 0.6 else fit)

    def like(self, tensor: tf.Tensor) -> tf.Tensor:
        """A tensor of the same type and shape."""
        shape = self.values[tensor].shape
        return self.pick(tensor.dtype.base_dtype, lambda value: value.shape == shape)

    def after_writes(self, *variables):
        """A scope for what writes these variables, or any: after all earlier writes of them."""
        names = [v.name for v in variables] or list(self.last_write)
        return tf.control_dependencies([self.last_write[name] for name in names if name in self.last_write])

    def wrote(self, op: tf.Operation, *variables) -> None:
        """Take in an operation that writes variables, or those that branches and loops have written."""
        self.run(op)
        self.writes.append(op)
        self.last_write.update(dict.fromkeys([v.name for v in variables] or self.written, op))

    def inexact(self) -> None:
        self.exact = False

    # --- what is run -------------------------------------------------------------------------

    def _draw_runs(self, rng: random.Random) -> list:
        runs: list = []
        numbers_of = np.random.RandomState(rng.randrange(1000))
        for _ in range(3):
            candidates = self.pool + self.fetchable + self.writes
            fetches = [rng.choice(candidates) for _ in range(rng.randint(1, 6))]
            fetches += rng.sample(self.writes, min(len(self.writes), rng.randint(0, 3)))
            fetches += [rng.choice(fetches)] if rng.random() < 0.3 else []
            inside = rng.sample(self.fed_inside, 1) if self.fed_inside and rng.random() < 0.3 else []
            for batch in [3, 3, rng.choice([0, 1, 4]), 3][: rng.randint(1, 4)]:
                feeds = {
                    key: numbers(numbers_of, [batch if d is None else d for d in dims], key.dtype)
                    for key, dims in self.feeds.items()
                }
                feeds.update({t: numbers(numbers_of, self.values[t].shape, t.dtype) for t in inside})
                runs.append((fetches, feeds))
        return runs


def numbers(rng: np.random.RandomState, shape, dtype) -> np.ndarray:
    """Small integers of any dtype."""
    if dtype.base_dtype == tf.bool:
        return np.asarray(rng.rand(*shape) < 0.5)
    low = 0 if dtype.is_unsigned else -4
    return np.asarray(rng.randint(low, 5, size=shape)).astype(dtype.as_numpy_dtype)


# --- running and comparing --------------------------------------------------------------------


class Difference(AssertionError):
    """What one executor showed and the other did not."""


def execute(program: Drawn, options: tf.ConfigProto) -> list:
    """All runs: for each what was fetched, or the type of its error; last what the variables are.

    After an error a new session goes on: what of a failed run was done before is left open.
    """
    outcomes: list = []
    scribbled: list = []
    sess = _started(program, options)
    for fetches, feeds in program.runs:
        before = {key: value.copy() for key, value in feeds.items()}
        try:
            results = sess.run(fetches, feeds)
        except tf.errors.OpError as e:
            outcomes.append(type(e))
            sess.close()
            sess = _started(program, options)
            continue
        outcomes.append([np.array(r, copy=True) if isinstance(r, np.ndarray) else r for r in results])
        for key, value in feeds.items():
            if value.tobytes() != before[key].tobytes():
                raise Difference(f"what was fed to {key.name} has changed")
        scribbled += [
            _scribble(r) for r in results if isinstance(r, np.ndarray) and not any(r is v for v in feeds.values())
        ]
    outcomes.append([_or_error(sess, variable) for variable in program.variables])
    sess.close()
    if any(set(array.tobytes()) - {77} for array in scribbled if array.dtype != object):
        raise Difference("an array that was fetched before was written by a later run")
    return outcomes


def _started(program: Drawn, options: tf.ConfigProto) -> tf.Session:
    sess = tf.Session(graph=program.graph, config=options)
    sess.run(program.initializers)
    return sess


def _scribble(array: np.ndarray) -> np.ndarray:
    """Write over an array, as whoever fetched it may."""
    if array.dtype != object:
        array = array.reshape(-1).view(np.uint8)  # the same memory: what is fetched is contiguous
    array[...] = b"77" if array.dtype == object else 77
    return array


def _or_error(sess, fetch):
    try:
        return sess.run(fetch)
    except tf.errors.OpError as e:
        return type(e)


def compare(
    seed: int, size: int = MOVES, rewriting: bool = True, op_type: str | None = None, native: bool = False
) -> None:
    """Raise a Difference where planner and reference do not agree on a program. Elementary functions of machine code
    are not those of the kernels: their last bits may differ.
    """
    program = Drawn(seed, size, op_type)
    tolerance = 0.0 if (program.exact or not rewriting) and not native else 1e-4
    expected = execute(program, config("REFERENCE"))
    # Plans for known shapes are made when they pay, so by the clock; here it is for every other program at once.
    with mock.patch.object(specialize, "WORTH", 0.0 if seed % 2 == 0 else math.inf):
        found = execute(program, config(rewriting=rewriting, native=native))
    names = [[getattr(f, "name", f) for f in fetches] for fetches, _ in program.runs] + [program.variables]
    for run, (one, other) in enumerate(zip(expected, found, strict=True)):
        if isinstance(one, list) and isinstance(other, list):
            for position, (a, b) in enumerate(zip(one, other, strict=True)):
                if not same(a, b, tolerance):
                    raise Difference(
                        f"run {run}, {names[run][position]}: {_short(a)} is expected, the planner has {_short(b)}"
                    )
        elif one != other:
            if not _may_differ(program, run, one, other, rewriting):
                raise Difference(f"run {run}: {_short(one)} is expected, the planner has {_short(other)}")
            if isinstance(other, list):
                return  # from here on one has begun anew, and the other has gone on


def _may_differ(program: Drawn, run: int, expected, found, rewriting: bool) -> bool:
    """Where several nodes fail, any of them may be told. A plan may leave out a pure node that would fail, if nobody
    needs what it computes:
    the elements of a tensor of which only the static shape is asked, what a Switch hands on to nobody."""
    if not isinstance(expected, type):
        return False
    if isinstance(found, type):
        return found in _errors(program, run)
    fetches, feeds = program.runs[run]
    failing = _failing_op(program, fetches, feeds)
    with tf.Session(graph=program.graph, config=config(rewriting=rewriting)) as sess:
        plan = sess._executor.compile([program.graph.as_graph_element(f) for f in fetches], list(feeds))
    return failing is not None and failing not in {node.op for node in plan.program.nodes() if node.op is not None}


def _failing_op(program: Drawn, fetches, feeds):
    """The operation that fails first by the reference."""
    with _started(program, config("REFERENCE")) as sess:
        try:
            sess.run(fetches, feeds)
        except tf.errors.OpError as e:
            return e.op
    return None


def same(one, other, tolerance: float) -> bool:
    """Whether two fetched values are equal, bit for bit where `tolerance` is 0; all NaN count as one."""
    if isinstance(one, type) or isinstance(other, type) or one is None or other is None:
        return one == other
    a, b = np.asarray(one), np.asarray(other)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc" or (a.dtype.kind == "V"):
        return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    if tolerance:
        return np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return bool(np.all((np.isnan(a) & np.isnan(b)) | (a == b)))


def _errors(program: Drawn, run: int) -> set:
    """The types of all errors that a run's fetches raise one by one: where several nodes fail, any of them may be told."""
    fetches, feeds = program.runs[run]
    with tf.Session(graph=program.graph, config=config("REFERENCE")) as sess:
        sess.run(program.initializers)
        found = set()
        for node in program.graph.get_operations():
            for fetch in [f for f in fetches if getattr(f, "op", f) is node]:
                try:
                    sess.run(fetch, feeds)
                except tf.errors.OpError as e:
                    found.add(type(e))
    return found


def _short(value) -> str:
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, list):
        return "a result"
    text = repr(np.asarray(value))
    return text if len(text) < 600 else text[:600] + "..."


def shrunk(seed: int, failure: type = Exception, rewriting: bool = True) -> int:
    """The smallest size at which a seed fails."""
    for size in range(MOVES + 1):
        try:
            compare(seed, size, rewriting)
        except failure:
            return size
    return MOVES


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 1000), metavar=("FIRST", "END"))
    parser.add_argument("--size", type=int, default=MOVES)
    parser.add_argument("--without-rewriting", action="store_true", help="compare plans that no rule has changed")
    parser.add_argument("--native", action="store_true", help="compare plans with machine code in them")
    parser.add_argument("--ops", action="store_true", help="programs of one op type each, for every op type")
    options = parser.parse_args(arguments)
    failed = 0
    if options.ops:
        for op_type in random_inputs.op_types():
            try:
                compare(options.seeds[0], options.size, not options.without_rewriting, op_type, options.native)
            except Exception as e:
                failed += 1
                print(f"{op_type}: {type(e).__name__}: {e}", flush=True)
        return failed > 0
    for seed in range(*options.seeds):
        try:
            compare(seed, options.size, not options.without_rewriting, native=options.native)
        except Exception as e:
            failed += 1
            print(f"seed {seed}: {type(e).__name__}: {e}", flush=True)
            print(f"    begins at size {shrunk(seed, Exception, not options.without_rewriting)}", flush=True)
    print(f"{failed} of {len(range(*options.seeds))} programs differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
