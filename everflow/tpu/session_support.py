"""What watches over the workers of a TPU's cluster: heartbeats, and what to do when a worker is about to go."""

from __future__ import annotations

import threading

from everflow.framework import dtypes, errors
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import device
from everflow.ops.array import placeholder
from everflow.platform import logging
from everflow.protos import event_pb2
from everflow.train.saver import Saver
from everflow.train.session_run_hook import SessionRunHook


class CoordinatorResetError(errors.AbortedError):
    """Training shall begin again from the last checkpoint."""

    def __init__(self):
        super().__init__(None, None, "The session is to be closed, and training to go on from the last checkpoint.")


def all_worker_devices(session):
    """The CPU devices of all workers but the coordinator."""
    return [d.name for d in session.list_devices() if ":CPU:" in d.name and "coordinator" not in d.name]


class WorkerHeartbeatManager:
    """Asks workers whether they are well, and tells them what to do. The nodes of it run on a TPU's workers only."""

    def __init__(self, session, devices, heartbeat_ops, request_placeholder):
        self._session, self._request_placeholder = session, request_placeholder
        # Of each worker its device, and the op that asks it.
        self._workers = list(zip(devices, heartbeat_ops, strict=True))

    @staticmethod
    def from_devices(session, devices):
        """A manager whose nodes are on these devices."""
        if not devices:
            logging.error("There are no devices to ask")
        with session.graph.as_default():
            request = placeholder(dtypes.string, name="worker_heartbeat_request", shape=[])
            ops = []
            for name in devices:
                with device(name):
                    ops.append(raw.WorkerHeartbeat(request=request))
        return WorkerHeartbeatManager(session, devices, ops, request)

    def _ask(self, message):
        """What all workers answer to a message."""
        ops = [op for _, op in self._workers]
        return self._session.run(ops, {self._request_placeholder: message.SerializeToString()})

    def num_workers(self):
        return len(self._workers)

    def configure(self, message):
        """Tell the workers how to be watched; `message` is a WorkerHeartbeatRequest."""
        self._ask(message)

    def ping(self, request=None, timeout_in_ms=5000):
        """The answers of all workers."""
        answers = self._ask(event_pb2.WorkerHeartbeatRequest() if request is None else request)
        return [event_pb2.WorkerHeartbeatResponse.FromString(answer) for answer in answers]

    def lame_workers(self):
        """A manager of the workers that are not well."""
        lame = [
            worker
            for worker, answer in zip(self._workers, self.ping(), strict=True)
            if answer.health_status != event_pb2.OK
        ]
        parts = [name for name, _ in lame], [op for _, op in lame]
        return WorkerHeartbeatManager(self._session, *parts, self._request_placeholder)

    def shutdown(self, wait_time_in_ms=60000):
        """Tell the workers to end."""
        if self._workers:
            self.configure(
                event_pb2.WorkerHeartbeatRequest(
                    shutdown_mode=event_pb2.WAIT_FOR_COORDINATOR,
                    watchdog_config=event_pb2.WatchdogConfig(timeout_ms=wait_time_in_ms),
                )
            )


class ShutdownLameWorkers:
    """Ends the workers that are not well."""

    def __call__(self, run_context, all_workers, lame_workers):
        lame_workers.shutdown()


class ShutdownAllWorkers:
    """Ends all workers; training is to begin again."""

    def __call__(self, run_context, all_workers, lame_workers):
        all_workers.shutdown()


class ResetComputation:
    """Ends all workers and the session, so that training goes on from the last checkpoint."""

    def __call__(self, run_context, all_workers, lame_workers):
        all_workers.shutdown()
        raise CoordinatorResetError()


class GracefulShutdownHook(SessionRunHook):
    """Saves a checkpoint when a worker is about to go, and then does what it was told to."""

    def __init__(self, checkpoint_prefix, saver=None, on_shutdown_hooks=None):
        self._saver = saver
        self._checkpoint_prefix = checkpoint_prefix
        self._on_shutdown_hooks = on_shutdown_hooks or []
        self._workers = None
        self._heartbeat_supported = False

    def after_create_session(self, training_session, coord):
        devices = all_worker_devices(training_session)
        # A graph that is final takes no nodes: the heartbeat is drawn into a session of its own on a cluster.
        if len(devices) > 1 and not training_session.graph.finalized:
            self._workers = WorkerHeartbeatManager.from_devices(training_session, devices)
            self._heartbeat_supported = True
        else:
            logging.warning("There are no workers with heartbeats: they are not watched")

    def saver(self):
        """The saver that was given, or the graph's."""
        if self._saver is None:
            self._saver = Saver()
        return self._saver

    def after_run(self, run_context, run_values):
        if not self._heartbeat_supported:
            return
        lame = self._workers.lame_workers()
        if lame.num_workers():
            logging.info("A worker is about to go: a checkpoint is saved")
            self.saver().save(run_context.session, self._checkpoint_prefix)
            for hook in self._on_shutdown_hooks:
                hook(run_context, self._workers, lame)


class WatchdogManager(threading.Thread):
    """Asks the workers of a session at intervals whether they are well, so that they know it lives."""

    def __init__(self, session, devices=None, ping_interval=60, shutdown_timeout=3600):
        super().__init__(daemon=True)
        self._session = session
        self._manager = WorkerHeartbeatManager.from_devices(session, devices or all_worker_devices(session))
        self._interval = ping_interval
        self._timeout = shutdown_timeout
        self._stopped = threading.Event()

    def configure_and_run(self):
        """Tell the workers how long to wait for a sign, and begin."""
        self._manager.configure(
            event_pb2.WorkerHeartbeatRequest(
                watchdog_config=event_pb2.WatchdogConfig(timeout_ms=self._timeout * 1000),
                shutdown_mode=event_pb2.WAIT_FOR_COORDINATOR,
            )
        )
        self.start()

    def run(self):
        while not self._stopped.wait(self._interval):
            self._manager.ping()

    def stop(self):
        """End the thread."""
        self._stopped.set()
        self.join()


def start_worker_watchdog(session, devices=None, ping_interval=60, shutdown_timeout=3600):
    """Begin to watch over a session's workers."""
    manager = WatchdogManager(session, devices, ping_interval, shutdown_timeout)
    manager.configure_and_run()
    return manager
