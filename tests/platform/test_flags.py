"""tf.flags and tf.app, each in a process of its own: flags are global."""

import subprocess
import sys
import textwrap


def run(code, *argv):
    text = "import everflow as tf\n" + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", text, *argv], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


DEFINE = """
    flags = tf.app.flags
    flags.DEFINE_integer("n", 3, "a number")
    flags.DEFINE_boolean("b", True, "a switch")
    flags.DEFINE_string(flag_name="s", default_value="x", docstring="text")
    FLAGS = flags.FLAGS
"""


def test_reading_parses_the_command_line():
    code = DEFINE + "    print(FLAGS.n, FLAGS.b, FLAGS.s, tf.flags.FLAGS is FLAGS)"
    assert run(code, "--n=5", "--nob")[1] == "5 False x True\n"


def test_an_unknown_flag_or_value_raises():
    code = DEFINE + "    FLAGS.n"
    assert "UnrecognizedFlagError" in run(code, "--what=5")[2]
    assert "IllegalFlagValueError" in run(code, "--n=z")[2]
    assert "AttributeError" in run(DEFINE + "    FLAGS.nothing")[2]


def test_setting_and_asking():
    code = (
        DEFINE
        + """
    FLAGS.n = 9
    print("n" in FLAGS, FLAGS["n"].value, FLAGS.n, FLAGS.flag_values_dict()["s"], FLAGS.is_parsed(), len(FLAGS) > 3, "n" in list(FLAGS))
    try:
        flags.DEFINE_integer("n", 1, "again")
    except flags.DuplicateFlagError:
        print("twice")
"""
    )
    assert run(code)[1] == "True 9 9 x True True True\ntwice\n"


def test_app_run():
    code = (
        DEFINE
        + """
    def main(argv):
        print(argv[1:], FLAGS.n)
        return 4
    tf.app.run()
"""
    )
    assert run(code, "--n=7", "--unknown=1", "rest")[:2] == (4, "['--unknown=1', 'rest'] 7\n")
    status, shown, _ = run(code, "--help")
    assert status == 1 and "a number" in shown


def test_app_run_with_main_and_argv():
    code = DEFINE + "    tf.app.run(main=lambda argv: print(argv, FLAGS.n), argv=['program', '--n=8', 'x'])"
    assert run(code)[:2] == (0, "['program', 'x'] 8\n")
