"""tf.logging."""

import logging
import pathlib
import subprocess
import sys

import everflow as tf

ROOT = pathlib.Path(__file__).parents[2]


def test_levels(caplog):
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        assert tf.logging.get_verbosity() == 20
        tf.logging.debug("no")
        tf.logging.info("one %d", 1)
        tf.logging.log(tf.logging.WARN, "two")
        tf.logging.log_if(tf.logging.ERROR, "three", True)
        tf.logging.log_if(tf.logging.ERROR, "no", False)
        tf.logging.fatal("four")
    finally:
        tf.logging.set_verbosity(before)
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("INFO", "one 1"),
        ("WARNING", "two"),
        ("ERROR", "three"),
        ("CRITICAL", "four"),
    ]
    assert {r.filename for r in caplog.records} == {"test_logging.py"}
    assert logging.getLogger("tensorflow").name == caplog.records[0].name


def test_counted(caplog):
    for i in range(5):
        tf.logging.log_every_n(tf.logging.ERROR, "every %d", 2, i)
    for i in range(5):
        tf.logging.log_first_n(tf.logging.ERROR, "first %d", 2, i)
    assert [r.getMessage() for r in caplog.records] == ["every 0", "every 2", "every 4", "first 0", "first 1"]


def test_what_is_logged_under_app_run_comes_once(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import everflow as tf\nfrom absl import logging\n\n\ndef main(_):\n"
        "    tf.logging.warning('ours')\n    logging.warning('of absl')\n\n\ntf.app.run()\n"
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.count("ours") == 1 and "WARNING:tensorflow:ours\n" in done.stderr
    assert "program.py:7] of absl\n" in done.stderr
