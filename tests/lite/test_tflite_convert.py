"""The command line: flags of tflite_convert, as a tool and as a subcommand."""

import numpy as np
import pytest

import everflow as tf
from everflow.cli import main as everflow_command
from everflow.tools.tflite_convert import main


@pytest.fixture
def frozen(tmp_path):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.nn.relu(tf.matmul(x, tf.constant(np.random.RandomState(0).randn(4, 300), tf.float32)), name="y")
    tf.train.write_graph(tf.get_default_graph(), str(tmp_path), "frozen.pb", as_text=False)
    return tmp_path


def source(folder):
    return [
        f"--graph_def_file={folder / 'frozen.pb'}",
        "--input_arrays=x",
        "--output_arrays=y",
        f"--output_file={folder / 'm.tflite'}",
    ]


def test_tool(frozen):
    assert main([*source(frozen), "--input_shapes=3,4"]) == 0
    assert tf.lite.Interpreter(str(frozen / "m.tflite")).get_output_details()[0]["shape"].tolist() == [3, 300]
    size = (frozen / "m.tflite").stat().st_size
    assert main([*source(frozen), "--post_training_quantize"]) == 0
    assert (frozen / "m.tflite").stat().st_size < size / 2
    flags = [
        "--inference_type=QUANTIZED_UINT8",
        "--mean_values=128",
        "--std_dev_values=127",
        "--default_ranges_min=0",
        "--default_ranges_max=6",
    ]
    assert main([*source(frozen), *flags]) == 0
    assert tf.lite.Interpreter(str(frozen / "m.tflite")).get_input_details()[0]["dtype"] is np.uint8
    assert main([*source(frozen), "--output_format=GRAPHVIZ_DOT"]) == 0
    assert (frozen / "m.tflite").read_bytes().startswith(b"digraph")


def test_mistakes(frozen, capsys):
    assert main([*source(frozen), "--mean_values=1"]) == 1
    assert "must be used together" in capsys.readouterr().err
    assert main([*source(frozen)[:1], f"--output_file={frozen / 'm.tflite'}"]) == 1
    assert "are required" in capsys.readouterr().err


def test_subcommand(frozen, capsys):
    assert everflow_command(["tflite", *source(frozen)]) == 0
    assert "bytes in" in capsys.readouterr().out
    assert everflow_command(["tflite", "--saved_model_dir", str(frozen), "--output_file", str(frozen / "n")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_inspect(frozen, capsys):
    assert (
        main(
            [
                *source(frozen),
                "--inference_type=QUANTIZED_UINT8",
                "--mean_values=128",
                "--std_dev_values=127",
                "--default_ranges_min=0",
                "--default_ranges_max=6",
            ]
        )
        == 0
    )
    assert everflow_command(["inspect", str(frozen / "m.tflite")]) == 0
    told = capsys.readouterr().out
    assert "1 operator, 4 tensors" in told and "FULLY_CONNECTED" in told and "(0.00787402, 128)" in told
