"""`debug.wrappers.local_cli_wrapper`: a session that asks before runs and shows afterwards what they did."""

from __future__ import annotations

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: off
from tensorflow.python.debug.cli import cli_config, debugger_cli_common, ui_factory
from tensorflow.python.debug.wrappers import local_cli_wrapper
# isort: on


class _Session(local_cli_wrapper.LocalCLIDebugWrapperSession):
    """One whose user types `commands`: words of `run` or `print_feed`; None leaves."""

    def __init__(self, sess, folder, commands):
        super().__init__(
            sess, dump_root=str(folder / "dumps"), ui_type="readline", config_file_path=str(folder / "config")
        )
        self.folder, self.commands, self.seen, self.answers = folder, commands, [], []

    def _prep_debug_cli_for_run_end(self, debug_dump, tf_error, passed_filter, passed_filter_exclude_node_names):
        super()._prep_debug_cli_for_run_end(debug_dump, tf_error, passed_filter, passed_filter_exclude_node_names)
        self.seen.append((self.run_call_count, debug_dump.size > 0, type(tf_error).__name__, passed_filter))

    def _prep_profile_cli_for_run_end(self, py_graph, run_metadata):
        self.seen.append((self.run_call_count, "profile", bool(run_metadata.step_stats.dev_stats)))

    def _launch_cli(self):
        config = cli_config.CLIConfig(config_file_path=str(self.folder / "config"))
        self._register_this_run_info(ui_factory.get_ui("readline", config=config))
        while True:
            command = self.commands.pop(0)
            if command is None:
                return debugger_cli_common.EXPLICIT_USER_EXIT
            name, *args = command.split()
            try:
                handler = self._run_handler if name == "run" else self._print_feed_handler
                self.answers.append(handler(args).lines[0])
            except debugger_cli_common.CommandLineExit as left:
                return left.exit_token


@pytest.fixture
def ran(tmp_path):
    def run(*commands, runs=2):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [None], name="x")
            y = tf.reshape(x, [2], name="y")
            debugged = _Session(sess, tmp_path, list(commands))
            debugged.add_tensor_filter("large", lambda datum, tensor: datum.node_name == "y" and tensor.max() > 1.5)
            debugged.results = [
                debugged.run(y, {x: [i, i + 1.0][: 1 if runs == "wrong" else 2]})
                for i in range(1 if runs == "wrong" else runs)
            ]
            return debugged

    return run


def test_every_run_is_looked_at(ran):
    debugged = ran("run", "run", "run")
    assert debugged.seen == [(1, True, "NoneType", None), (2, True, "NoneType", None)]
    assert debugged.results[1].tolist() == [1.0, 2.0]


def test_runs_that_are_not(ran):
    assert not ran("run -n", "run -n").seen


def test_many_runs_at_once(ran, tmp_path):
    assert [run for run, *_ in ran("run -t 3", "run", "run", runs=4).seen] == [3, 4]


def test_until_a_filter_passes(ran):
    debugged = ran("run -f small", "run -f large", "run", "run", runs=3)
    assert debugged.answers == ['ERROR: tensor filter "small" does not exist.']
    assert debugged.seen[0] == (2, True, "NoneType", "large")


def test_a_run_that_fails(ran):
    debugged = ran("run", "run", runs="wrong")
    assert debugged.seen == [(1, True, "InvalidArgumentError", None)]
    assert isinstance(debugged.results[0], tf.errors.InvalidArgumentError)


def test_how_long_it_took(ran):
    assert ran("run -p", "run", "run").seen[0] == (1, "profile", True)


def test_what_is_fed(ran):
    answers = ran("print_feed x:0", "print_feed y:0", "run", "run", runs=1).answers
    assert answers[0].startswith('Tensor "x:0 (feed)"') and "y:0 is not fed" in answers[1]


def test_leaving(ran):
    with pytest.raises(SystemExit):
        ran(None)


def test_a_folder_that_is_in_use(tmp_path):
    (tmp_path / "full").write_text("")
    with tf.Session() as sess, pytest.raises(ValueError, match="non-empty"):
        local_cli_wrapper.LocalCLIDebugWrapperSession(sess, dump_root=str(tmp_path))


def test_a_run_is_traced_while_it_is_dumped(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        debugged = _Session(sess, tmp_path, ["run", "run"])
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        debugged.run(tf.random.uniform([2]), options=options, run_metadata=metadata)
        assert metadata.step_stats.dev_stats
