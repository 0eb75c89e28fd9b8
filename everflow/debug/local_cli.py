"""A debugger at the terminal: it stops before and after runs, takes commands, and shows what was dumped.

The commands themselves are in `commands.py`. One that is typed after a run says how the next one goes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile

from everflow.debug.commands import Answers, Exit, Refused
from everflow.debug.dumps import DebugDumpDir, has_inf_or_nan
from everflow.debug.watches import WatchOptions
from everflow.debug.wrappers import BaseDebugWrapperSession, add_watches, new_root
from everflow.framework import errors, nest
from everflow.protos import config_pb2
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from everflow.version import EVERFLOW_VERSION, VERSION

_CHOICES = """
How shall it go?
  run              with its tensors dumped
  run -n           without
  run -t TIMES     so many runs without stopping, the last of them dumped
  run -f FILTER    on and on, until a dumped tensor passes a filter:"""


def _names(things):
    return [thing if isinstance(thing, str) else getattr(thing, "name", repr(thing)) for thing in things]


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that stops at each run and lets one look at its tensors at the terminal.

    >>> sess = tf_debug.LocalCLIDebugWrapperSession(sess)
    >>> sess.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    """

    def __init__(
        self, sess, dump_root=None, log_usage=True, ui_type="curses", thread_name_filter=None, config_file_path=False
    ):
        super().__init__(sess, thread_name_filter)
        self._dump_root = None if dump_root is None else new_root("dump_root", dump_root)
        self._filters = {"has_inf_or_nan": has_inf_or_nan}
        self._plan: argparse.Namespace | None = None
        self._leaving = False
        self._welcomed = False

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Name a predicate of (datum, tensor), for `run -f NAME` and `lt -f NAME`."""
        self._filters[filter_name] = tensor_filter

    def invoke_run(self, fetches, feed_dict, options, run_metadata, is_callable_runner=False):
        if not self.decide(fetches, feed_dict):
            return self._plain_run(fetches, feed_dict, options, run_metadata)
        root = self.watch(options)
        error, result = None, None
        try:
            result = self._plain_run(fetches, feed_dict, options, run_metadata)
        except errors.OpError as e:
            error = e
        self.show(root, fetches, feed_dict, error)
        if error is not None:
            raise error
        return result

    def decide(self, fetches, feed_dict):
        """Whether this run is to be debugged; asks where it wasn't said before."""
        if self._leaving:
            sys.exit(1)
        if self._plan is None:
            self._say("run-start", fetches, feed_dict)
            self._print(self._description(fetches, feed_dict))
            self._ask(Answers(self._filters, self._description(fetches, feed_dict), feed_dict))
            if self._leaving:
                sys.exit(1)
        if self._plan.times > 1:
            self._plan.times -= 1
            return False
        if self._plan.no_debug:
            self._plan = None
            return False
        return True

    def watch(self, options):
        """Have a run dump its tensors; returns the folder they go to."""
        root = tempfile.mkdtemp(prefix="tfdbg_", dir=self._dump_root)
        plan = self._plan
        watched = WatchOptions(
            node_name_regex_whitelist=plan.node_name_filter,
            op_type_regex_whitelist=plan.op_type_filter,
            tensor_dtype_regex_whitelist=plan.tensor_dtype_filter,
        )
        add_watches(options, self.graph, watched, [f"file://{root}"])
        return root

    def show(self, root, fetches, feed_dict, error):
        """Show what a run has dumped, until the user says how to go on; the folder is gone afterwards."""
        try:
            dump = DebugDumpDir(root)
            dump.set_python_graph(self.graph)
            waited, left_out = self._plan.till_filter_pass, self._plan.filter_exclude_node_names
            if (
                waited
                and error is None
                and not dump.find(self._filters[waited], first_n=1, exclude_node_names=left_out)
            ):
                return
            self._say("run-end", fetches, feed_dict)
            if error is not None:
                self._print(["", "The run failed:", "", f"{type(error).__name__}: {error}", ""])
            answers = Answers(self._filters, self._description(fetches, feed_dict), feed_dict, dump)
            self._print(
                answers.answer(f"lt -f {waited}" + (f" -fenn {left_out}" if left_out else "") if waited else "lt")
            )
            self._ask(answers)
        finally:
            shutil.rmtree(root)

    # --- at the terminal

    def _say(self, moment, fetches, feed_dict):
        names, feeds = _names(nest.flatten(fetches)), _names(feed_dict or ())
        fetched = f"1 fetch ({names[0]})" if len(names) == 1 else f"{len(names)} fetches"
        fed = f"1 feed ({feeds[0]})" if len(feeds) == 1 else f"{len(feeds)} feeds"
        sys.stdout.write(f"{moment}: run #{self.run_call_count}: {fetched}; {fed}\n")

    def _description(self, fetches, feed_dict):
        lines = []
        if not self._welcomed:
            lines += ["", f"The debugger of Everflow {EVERFLOW_VERSION}, as TensorFlow {VERSION} has it", ""]
        rule = "=" * 38
        lines += [rule, f"Session.run() call #{self.run_call_count}:", "", "Fetch(es):"]
        lines += [f"  {name}" for name in _names(nest.flatten(fetches))]
        feeds = [f"  {name}" for name in _names(feed_dict or ())] or ["  (Empty)"]
        lines += ["", "Feed dict:", *feeds, rule, *_CHOICES.splitlines()]
        return [*lines, *(f"        {name}" for name in self._filters), "", "`help` tells more.", ""]

    @staticmethod
    def _print(lines):
        sys.stdout.write("\n".join(lines) + "\n\n")

    def _ask(self, answers):
        """Answer commands until one says how to go on."""
        self._welcomed = True
        while True:
            try:
                line = input("tfdbg> ").strip()
                found = answers.answer(line) if line else []
            except (Exit, EOFError):
                sys.stderr.write("Left from the debugger's command line: the program ends with sys.exit(1).\n")
                self._leaving = True
                return
            except (Refused, ValueError, LookupError) as e:
                self._print(str(e).splitlines())
                continue
            if isinstance(found, argparse.Namespace):
                self._plan = found
                return
            if found:
                self._print(found)


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
        if not self._wrapper.decide(args.fetches, args.feed_dict):
            return SessionRunArgs(None)
        options = config_pb2.RunOptions()
        self._root = self._wrapper.watch(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context, run_values):
        if self._root is not None:
            root, self._root = self._root, None
            args = run_context.original_args
            self._wrapper.show(root, args.fetches, args.feed_dict, None)
