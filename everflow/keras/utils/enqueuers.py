"""Workers, threads or processes, that make batches ahead of the training that takes them."""

from __future__ import annotations

import abc
import functools
import itertools
import multiprocessing
import queue
import random
import threading
import time

import numpy as np

from everflow.keras.utils.worker_pools import Processes, Threads, running_pools

# What workers make batches of, by number; processes get a copy when they are started.
_shared: dict = {}
_numbers = itertools.count()


def _begin_process(shared, seed):
    _shared.update(shared)
    if seed is not None:
        np.random.seed((seed + multiprocessing.current_process().ident) % 2**32)


def _item(uid, index):
    return _shared[uid][index]


_generator_lock = threading.Lock()


def _next(uid):
    # A generator can't be run by two threads at once.
    with _generator_lock:
        return next(_shared[uid])


def terminate_keras_multiprocessing_pools(grace_period=0.1, use_sigkill=False):
    """End the processes of all workers; with `use_sigkill`, also those that don't end within the grace period.

    Args:
        grace_period: How many seconds they have to end.
        use_sigkill: Whether they are killed then.

    Returns:
        None.

    Example:
        >>> tf.keras.experimental.terminate_keras_multiprocessing_pools()
    """
    pools = list(running_pools)
    for pool in pools:
        pool.terminate()
    deadline = time.monotonic() + grace_period
    for process in [process for pool in pools for process in pool.processes]:
        process.join(max(0, deadline - time.monotonic()))
        if use_sigkill and process.is_alive():
            process.kill()


class SequenceEnqueuer(abc.ABC):
    """Base of enqueuers: `start` them, take batches from `get`, then `stop`.

    Args:
        sequence: The `Sequence`, or generator.
        use_multiprocessing: Whether processes do it; else threads.

    Example:
        >>> issubclass(tf.keras.utils.OrderedEnqueuer, tf.keras.utils.SequenceEnqueuer)
        True
    """

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.uid = next(_numbers)
        self.workers = 0
        self.queue = None
        self.run_thread = None
        self.stop_signal = None
        self._random_seed = None

    def is_running(self):
        """Whether it was started and not stopped."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def _make_pool(self, workers):
        if not self.use_multiprocessing:
            return Threads(workers)
        return Processes(workers, functools.partial(_begin_process, {self.uid: self.sequence}, self._random_seed))

    def start(self, workers=1, max_queue_size=10):
        """Start workers; no more than `max_queue_size` batches wait."""
        _shared[self.uid] = self.sequence
        self.workers = workers
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def stop(self, timeout=None):
        """Stop workers, waiting for those at work."""
        self.stop_signal.set()
        with self.queue.mutex:
            self.queue.queue.clear()
            self.queue.unfinished_tasks = 0
            self.queue.not_full.notify_all()
        self.run_thread.join(timeout)
        _shared.pop(self.uid, None)

    def _put(self, job):
        """Queue a job; False where everything was stopped meanwhile."""
        while not self.stop_signal.is_set():
            try:
                self.queue.put(job, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def _drain(self):
        """Wait until all batches of an epoch were taken."""
        while self.queue.unfinished_tasks and not self.stop_signal.is_set():
            time.sleep(0.001)

    def _jobs(self):
        """The jobs in the queue, as long as it is filled."""
        while self.is_running():
            try:
                yield self.queue.get(timeout=0.1)
            except queue.Empty:
                continue

    @abc.abstractmethod
    def _run(self):
        """Fill the queue."""
        raise NotImplementedError

    @abc.abstractmethod
    def get(self):
        """A generator of batches."""
        raise NotImplementedError


class OrderedEnqueuer(SequenceEnqueuer):
    """Batches of a `Sequence`, in order, or shuffled anew in each epoch.

    Args:
        sequence: The `Sequence`, or generator.
        use_multiprocessing: Whether processes do it; else threads.
        shuffle: Whether the order is changed at random, anew for each epoch.

    Example:
        >>> class Squares(tf.keras.utils.Sequence):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index ** 2
        >>> enqueuer = tf.keras.utils.OrderedEnqueuer(Squares())
        >>> enqueuer.start(workers=1)
        >>> batches = enqueuer.get()
        >>> [next(batches) for _ in range(3)]
        [0, 1, 4]
        >>> enqueuer.stop()
    """

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self):
        numbers = list(range(len(self.sequence)))
        while not self.stop_signal.is_set():
            if self.shuffle:
                random.shuffle(numbers)
            pool = self._make_pool(self.workers)
            try:
                for i in numbers:
                    if not self._put(pool.submit(_item, self.uid, i)):
                        return
                self._drain()
            finally:
                pool.terminate() if self.stop_signal.is_set() else pool.close()
            if self.stop_signal.is_set():
                return
            self.sequence.on_epoch_end()

    def get(self):
        try:
            for job in self._jobs():
                try:
                    batch = job.result()
                finally:
                    self.queue.task_done()
                if batch is not None:
                    yield batch
        except Exception:
            self.stop()
            raise


class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator.

    Args:
        sequence: The `Sequence`, or generator.
        use_multiprocessing: Whether processes do it; else threads.
        random_seed: A seed for the processes' random numbers.

    Example:
        >>> enqueuer = tf.keras.utils.GeneratorEnqueuer(iter([1, 2, 3]))
        >>> enqueuer.start(workers=1, max_queue_size=2)
        >>> next(enqueuer.get())
        1
        >>> enqueuer.stop()
    """

    def __init__(self, sequence, use_multiprocessing=False, random_seed=None):
        super().__init__(sequence, use_multiprocessing)
        self._random_seed = random_seed

    def _run(self):
        pool = self._make_pool(self.workers)
        try:
            while self._put(pool.submit(_next, self.uid)):
                pass
        finally:
            pool.terminate()

    def get(self):
        try:
            for job in self._jobs():
                batch = job.result()
                self.queue.task_done()
                if batch is not None:
                    yield batch
        except StopIteration:
            # The end of the generator; jobs that were queued before it may still give batches.
            while not self.queue.empty():
                job = self.queue.get()
                if job.exception() is None:
                    yield job.result()
            self.stop_signal.set()
        except Exception as error:
            self.stop()
            if "generator already executing" in str(error):
                raise RuntimeError(
                    "Your generator is NOT thread-safe: several threads (use_multiprocessing=False, workers > 1) take from it at once."
                ) from error
            raise
