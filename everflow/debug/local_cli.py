"""A debugger at the terminal: before and after each run it asks what to do, and shows dumped tensors.

Commands: `run` (and `run -f FILTER`, `run -t TIMES`, `run -n` without debugging), `lt` lists tensors (`lt -f FILTER`, `lt -n NAME`), `pt TENSOR` prints
one, `ni NODE` tells of a node, `li`/`lo` list its inputs and users, `exit` ends the program, `help` shows this.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile

import numpy as np

from everflow.debug.dumps import DebugDumpDir, has_inf_or_nan
from everflow.debug.watches import WatchOptions
from everflow.debug.wrappers import BaseDebugWrapperSession, add_watches
from everflow.framework import errors
from everflow.protos import config_pb2
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class Exit(Exception):
    """The user has had enough."""


class Console:
    """What one sees and types."""

    def __init__(self, filters):
        self.filters = filters

    def say(self, text):
        sys.stdout.write(text + "\n")

    def ask(self, prompt):
        """The words of a command; the end of the input means exit."""
        try:
            return shlex.split(input(prompt)) or ["help"]
        except EOFError:
            raise Exit from None

    def before_run(self, count, fetches, feeds):
        """Ask how to run: (debug or not, filter to wait for, how many runs without asking)."""
        self.say(f"Session.run() call #{count}: fetches {fetches}; feeds {list(feeds or ())}")
        while True:
            command, *words = self.ask("tfdbg> ")
            if command in ("run", "r"):
                times = int(words[words.index("-t") + 1]) if "-t" in words else 1
                name = words[words.index("-f") + 1] if "-f" in words else None
                if name is not None and name not in self.filters:
                    self.say(f'ERROR: There is no tensor filter named "{name}"; there are {", ".join(self.filters)}')
                    continue
                return "-n" not in words, name, times
            self.other(command, words, None)

    def after_run(self, dump, error, filter_name=None):
        """Show what was dumped, until the user goes on."""
        if error is not None:
            self.say(f"The run failed: {error}")
        self.list_tensors(dump, filter_name, None)
        while True:
            command, *words = self.ask("tfdbg> ")
            if command in ("run", "r", "continue", "c"):
                return
            self.other(command, words, dump)

    def other(self, command, words, dump):
        if command in ("exit", "quit"):
            raise Exit
        if dump is None or command == "help":
            self.say(__doc__.partition("Commands: ")[2].strip())
            return
        try:
            self.look(command, words, dump)
        except (ValueError, LookupError, IndexError) as e:
            self.say(f"ERROR: {e}")

    def look(self, command, words, dump):
        if command in ("lt", "list_tensors"):
            options = dict(zip(words[::2], words[1::2], strict=False))
            self.list_tensors(dump, options.get("-f"), options.get("-n"))
        elif command in ("pt", "print_tensor"):
            name, _, slot = words[0].partition(":")
            for value in dump.get_tensors(name, int(slot or 0), "DebugIdentity"):
                self.say(f"Tensor {words[0]}\n{np.array2string(value) if isinstance(value, np.ndarray) else value}")
        elif command in ("ni", "node_info"):
            name = words[-1].partition(":")[0]
            self.say(
                f"Node {name}\n  Op: {dump.node_op_type(name)}\n  Device: {dump.node_device(name)}\n  Inputs: {dump.node_inputs(name)}"
            )
        elif command in ("li", "list_inputs"):
            self.say("\n".join(dump.transitive_inputs(words[-1].partition(":")[0])))
        elif command in ("lo", "list_outputs"):
            self.say("\n".join(dump.node_recipients(words[-1].partition(":")[0])))
        else:
            self.say(f'ERROR: No such command "{command}"')

    def list_tensors(self, dump, filter_name, pattern):
        data = dump.dumped_tensor_data if filter_name is None else dump.find(self.filters[filter_name])
        for datum in data:
            if pattern is None or re.match(pattern, datum.node_name):
                self.say(f"[{(datum.timestamp - dump.t0) / 1000:.3f}] {dump.node_op_type(datum.node_name):<20} {datum.tensor_name}")


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that stops at each run and lets one look at its tensors at the terminal.

    >>> sess = tf_debug.LocalCLIDebugWrapperSession(sess)
    >>> sess.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    """

    def __init__(self, sess, dump_root=None, log_usage=True, ui_type="curses", thread_name_filter=None, config_file_path=False):
        super().__init__(sess, thread_name_filter)
        self._dump_root = dump_root
        self._filters = {"has_inf_or_nan": has_inf_or_nan}
        self._console = Console(self._filters)
        self._unasked = 0
        self._waiting_for = None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Name a predicate of (datum, tensor), for `run -f NAME` and `lt -f NAME`."""
        self._filters[filter_name] = tensor_filter

    def invoke_run(self, fetches, feed_dict, options, run_metadata):
        debug = self._decide(fetches, feed_dict)
        if not debug:
            return super().invoke_run(fetches, feed_dict, options, run_metadata)
        root = tempfile.mkdtemp(prefix="tfdbg_", dir=self._dump_root)
        try:
            add_watches(options, self.graph, WatchOptions(), [f"file://{root}"])
            error, result = None, None
            try:
                result = super().invoke_run(fetches, feed_dict, options, run_metadata)
            except errors.OpError as e:
                error = e
            self._show(root, error)
            if error is not None:
                raise error
            return result
        finally:
            shutil.rmtree(root)

    def _decide(self, fetches, feed_dict):
        if self._waiting_for is not None:
            return True
        if self._unasked > 0:
            self._unasked -= 1
            return False
        try:
            debug, self._waiting_for, times = self._console.before_run(self.run_call_count, fetches, feed_dict)
        except Exit:
            sys.exit(1)
        self._unasked = times - 1
        return debug

    def _show(self, root, error):
        dump = DebugDumpDir(root)
        dump.set_python_graph(self.graph)
        waited = self._waiting_for
        if waited is not None and error is None and not dump.find(self._filters[waited], first_n=1):
            return
        self._waiting_for = None
        try:
            self._console.after_run(dump, error, waited)
        except Exit:
            sys.exit(1)


class LocalCLIDebugHook(SessionRunHook):
    """The same for monitored sessions and estimators."""

    def __init__(self, ui_type="curses", dump_root=None, thread_name_filter=None, config_file_path=None):
        self._dump_root = dump_root
        self._thread_name_filter = thread_name_filter
        self._filters: dict = {}
        self._wrapper = None
        self._root = None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Name a predicate of (datum, tensor)."""
        self._filters[filter_name] = tensor_filter
        if self._wrapper is not None:
            self._wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context):
        if self._wrapper is None:
            self._wrapper = LocalCLIDebugWrapperSession(
                run_context.session, dump_root=self._dump_root, thread_name_filter=self._thread_name_filter
            )
            for name, predicate in self._filters.items():
                self._wrapper.add_tensor_filter(name, predicate)
        self._wrapper.increment_run_call_count()
        args = run_context.original_args
        if not self._wrapper._decide(args.fetches, args.feed_dict):
            return SessionRunArgs(None)
        self._root = tempfile.mkdtemp(prefix="tfdbg_", dir=self._dump_root)
        options = config_pb2.RunOptions()
        add_watches(options, run_context.session.graph, WatchOptions(), [f"file://{self._root}"])
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context, run_values):
        if self._root is not None:
            try:
                self._wrapper._show(self._root, None)
            finally:
                shutil.rmtree(self._root)
                self._root = None
