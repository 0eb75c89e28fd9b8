"""tensorflow.python.debug.wrappers.local_cli_wrapper: a session that asks before each run how it shall go, and shows
afterwards what was dumped, or what took how long.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from everflow.debug import requests
from everflow.debug.dumps import DebugDumpDir, has_inf_or_nan
from everflow.debug.wrappers import BaseDebugWrapperSession, new_root
from everflow.legacy.inner.debug import analyzer, cli_config, cli_shared, command_parser, names, profile_analyzer
from everflow.legacy.inner.debug.base_ui import USER_LEFT, BaseUI
from everflow.legacy.inner.debug.commands import CommandLineExit, get_tensorflow_version_lines
from everflow.legacy.inner.debug.rich_text import MAIN_MENU_KEY, Menu, MenuItem, RichTextLines
from everflow.legacy.inner.debug.user_interfaces import get_ui

_ACTIONS = requests.OnRunStartAction
_FILTERS = ("node_name", "op_type", "tensor_dtype")


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session around another one, with a user interface before and after each run."""

    def __init__(
        self,
        sess: Any,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: str | None = None,
    ) -> None:
        super().__init__(sess, thread_name_filter)
        self._dump_root = new_root("dump_root", dump_root) if dump_root else tempfile.mkdtemp(prefix="tfdbg_")
        self._ui_type = ui_type
        self._config = cli_config.CLIConfig(config_file_path=config_file_path or None)
        self._initialize_argparsers()
        self._tensor_filters: dict[str, Callable] = {}
        self.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
        self._active_tensor_filter: str | None = None
        self._active_filter_exclude_node_names: str | None = None
        self._is_run_start, self._passes_through = True, False
        self._skip_debug, self._run_through_times = False, 1
        self._run_start_response: Any = None
        self._run_cli: BaseUI | None = None
        self._init_command, self._title, self._title_color = "run_info", "", "blue_on_white"

    def _initialize_argparsers(self) -> None:
        run = argparse.ArgumentParser(description="Go on with the run.", usage=argparse.SUPPRESS)
        run.add_argument("-t", "--times", type=int, default=1, help="go through so many runs, and debug the last one")
        run.add_argument("-n", "--no_debug", action="store_true", help="run without dumps")
        run.add_argument("-f", "--till_filter_pass", type=str, default="", help="run until a tensor passes this filter")
        run.add_argument("-fenn", "--filter_exclude_node_names", type=str, default="", help="nodes that it leaves out")
        for what in _FILTERS:
            run.add_argument(f"--{what}_filter", type=str, default="", help=f"dump only where the {what} matches")
        run.add_argument("-p", "--profile", action="store_true", help="run and see how long nodes take")
        self._argparsers = {
            "run": run,
            "run_info": argparse.ArgumentParser(description="Tell about the run.", usage=argparse.SUPPRESS),
            "print_feed": command_parser.get_print_tensor_argparser("Print a value that is fed."),
        }

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable) -> None:
        """Name a predicate of (datum, tensor), for `run -f NAME` and `lt -f NAME`."""
        self._tensor_filters[filter_name] = tensor_filter

    # --- around a run

    def on_run_start(self, request: Any) -> Any:
        self._is_run_start = True
        self._update_run_calls_state(
            request.run_call_count, request.fetches, request.feed_dict, is_callable_runner=request.is_callable_runner
        )
        if self._active_tensor_filter:
            return self._run_start_response
        self._exit_if_requested_by_user()
        if self._run_start_response is None:
            self._prep_cli_for_run_start()
            self._run_start_response = self._launch_cli()
            self._exit_if_requested_by_user()
        self._passes_through = self._run_through_times > 1
        if self._passes_through:
            self._run_through_times -= 1
        elif self._run_start_response.action == _ACTIONS.NON_DEBUG_RUN and not self._skip_debug:
            self._run_start_response.action = _ACTIONS.DEBUG_RUN
            self._run_start_response.debug_urls = self._get_run_debug_urls()
        return self._run_start_response

    def on_run_end(self, request: Any) -> Any:
        self._is_run_start = False
        if request.performed_action == _ACTIONS.DEBUG_RUN:
            self._look_at_dump(request)
        elif request.performed_action == _ACTIONS.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self.graph, request.run_metadata)
            self._run_start_response = self._launch_cli()
        elif not self._passes_through:
            self._run_start_response = None
        return requests.OnRunEndResponse()

    def _look_at_dump(self, request: Any) -> None:
        graphs = request.run_metadata.partition_graphs if request.run_metadata is not None else None
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs)
        dump.set_python_graph(self.graph)
        name, left_out = self._active_tensor_filter, self._active_filter_exclude_node_names
        if name:
            if not dump.find(self._tensor_filters[name], first_n=1, exclude_node_names=left_out):
                self._remove_dump_root()
                return
            self._active_tensor_filter = self._active_filter_exclude_node_names = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, name, left_out if name else None)
        self._run_start_response = self._launch_cli()
        self._remove_dump_root()

    def _remove_dump_root(self) -> None:
        if os.path.isdir(self._dump_root):
            shutil.rmtree(self._dump_root)

    def _exit_if_requested_by_user(self) -> None:
        if self._run_start_response == USER_LEFT:
            sys.stderr.write("Left from the debugger's command line: the program ends with sys.exit(1).\n")
            sys.exit(1)

    # --- user interfaces

    def _prep_cli_for_run_start(self) -> None:
        """What asks how a run shall go."""
        self._run_cli = get_ui(self._ui_type, config=self._config)
        self._init_command, self._title, self._title_color = "run_info", "run-start: ", "blue_on_white"

    def _prep_debug_cli_for_run_end(
        self,
        debug_dump: DebugDumpDir,
        tf_error: Any,
        passed_filter: str | None,
        passed_filter_exclude_node_names: str | None,
    ) -> None:
        """What shows a dump."""
        self._run_cli = analyzer.create_analyzer_ui(
            debug_dump, self._tensor_filters, ui_type=self._ui_type, config=self._config
        )
        self._title, self._title_color = "run-end: ", "black_on_white"
        self._init_command = "lt"
        if tf_error:
            self._run_cli.set_help_intro(cli_shared.get_error_intro(tf_error))
            self._init_command, self._title_color = "help", "red_on_white"
        elif passed_filter is not None:
            self._init_command += f" -f {passed_filter}"
            if passed_filter_exclude_node_names:
                self._init_command += f" --filter_exclude_node_names {passed_filter_exclude_node_names}"

    def _prep_profile_cli_for_run_end(self, py_graph: Any, run_metadata: Any) -> None:
        """What shows how long nodes took."""
        self._run_cli = profile_analyzer.create_profiler_ui(
            py_graph, run_metadata, ui_type=self._ui_type, config=self._config
        )
        self._init_command, self._title, self._title_color = "lp", "run-end (profiler mode): ", "black_on_white"

    def _launch_cli(self) -> Any:
        """Let the user look; says how the next run shall go."""
        if self._run_cli is None:
            raise ValueError("There is no user interface yet")
        self._register_this_run_info(self._run_cli)
        return self._run_cli.run_ui(
            init_command=self._init_command, title=self._title + self._run_description, title_color=self._title_color
        )

    def _register_this_run_info(self, curses_cli: BaseUI) -> None:
        """Give a user interface the commands on the run."""
        for command, handler, alias in (
            ("run", self._run_handler, "r"),
            ("run_info", self._run_info_handler, "ri"),
            ("print_feed", self._print_feed_handler, "pf"),
        ):
            help_text = self._argparsers[command].format_help()
            curses_cli.register_command_handler(command, handler, help_text, prefix_aliases=[alias])
        curses_cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        if self._feed_dict:
            fed = [names.get_graph_element_name(key) for key in self._feed_dict]
            curses_cli.register_tab_comp_context(["print_feed", "pf"], fed)

    def _update_run_calls_state(
        self, run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
    ) -> None:
        self._feed_dict = feed_dict
        told = (run_call_count, fetches, feed_dict)
        self._run_description = cli_shared.get_run_short_description(*told, is_callable_runner=is_callable_runner)
        self._run_info = cli_shared.get_run_start_intro(
            *told, self._tensor_filters, is_callable_runner=is_callable_runner
        )

    # --- commands

    def _run_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The command `run`."""
        parsed = self._argparsers["run"].parse_args(args)
        if parsed.profile:
            raise CommandLineExit(exit_token=requests.OnRunStartResponse(_ACTIONS.PROFILE_RUN, []))
        self._skip_debug, self._run_through_times = parsed.no_debug, parsed.times
        dumps = not (parsed.no_debug or parsed.times > 1)
        if parsed.till_filter_pass:
            if parsed.till_filter_pass not in self._tensor_filters:
                return cli_shared.error(f'tensor filter "{parsed.till_filter_pass}" does not exist.')
            if dumps:
                self._active_tensor_filter = parsed.till_filter_pass
                self._active_filter_exclude_node_names = parsed.filter_exclude_node_names
        raise CommandLineExit(
            exit_token=requests.OnRunStartResponse(
                _ACTIONS.DEBUG_RUN if dumps else _ACTIONS.NON_DEBUG_RUN,
                self._get_run_debug_urls() if dumps else [],
                **{f"{what}_regex_whitelist": getattr(parsed, f"{what}_filter") or None for what in _FILTERS},
            )
        )

    def _get_run_debug_urls(self) -> list[str]:
        """Where dumps go."""
        return [f"file://{self._dump_root}"]

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True  # dumps are removed after each run

    def _run_info_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The command `run_info`."""
        output = RichTextLines([])
        if self.run_call_count == 1:
            output.extend(cli_shared.get_tfdbg_logo())
            output.extend(get_tensorflow_version_lines())
        output.extend(self._run_info)
        if not self._is_run_start and MAIN_MENU_KEY not in output.annotations:
            menu = Menu()
            menu.append(MenuItem("list_tensors", "lt"))
            menu.append(MenuItem("help", "help"))
            output.annotations[MAIN_MENU_KEY] = menu
        return output

    def _print_feed_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        """The command `print_feed`."""
        parsed = self._argparsers["print_feed"].parse_args(args)
        if not self._feed_dict:
            return cli_shared.error("Nothing is fed in this run.")
        name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        for key, value in self._feed_dict.items():
            if names.get_graph_element_name(key) == name:
                return cli_shared.format_tensor(
                    value,
                    f"{name} (feed)",
                    cli_shared.numpy_printoptions_from_screen_info(screen_info),
                    print_all=parsed.print_all,
                    tensor_slicing=slicing,
                    highlight_options=cli_shared.parse_ranges_highlight(parsed.ranges),
                    include_numeric_summary=parsed.numeric_summary,
                )
        return cli_shared.error(f"{name} is not fed in this run")
