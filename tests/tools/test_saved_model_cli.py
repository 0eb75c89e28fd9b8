"""`saved_model_cli show --all` lists the functions of a saved object."""

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.tools import saved_model_cli


def test_functions_are_shown(tmp_path, capsys):
    with eager_mode():
        root = AutoTrackable()
        root.f = tf.function(lambda x, rest=(1, 2.5), flag=True: x)
        root.f(tf.constant(1.0))
        tf.saved_model.save(root, str(tmp_path / "model"))
    saved_model_cli.show(
        saved_model_cli.create_parser().parse_args(["show", "--dir", str(tmp_path / "model"), "--all"])
    )
    shown = capsys.readouterr().out
    assert "Defined Functions:\n  Function Name: 'f'\n    Option #1\n      Callable with:" in shown
    assert "Argument #1\n          x: TensorSpec(shape=(), dtype=tf.float32, name='x')" in shown
    assert "Argument #2\n          DType: tuple\n          Value: [1, 2.5, \b\b]" in shown
    assert "Argument #3\n          DType: bool\n          Value: True" in shown
