"""tf itself: versions, namespaces, and what a missing name says. And that importing it is cheap."""

import importlib.util
import subprocess
import sys

import pytest

import everflow as tf
from everflow.framework.api_names import MISSING_CONTRIB, in_tensorflow
from everflow.framework.lazy_names import imported_names


def test_versions():
    assert tf.__version__ == tf.VERSION == tf.version.VERSION == "1.15.5"
    assert tf.version.EVERFLOW_VERSION == "0.1.0"
    assert tf.GRAPH_DEF_VERSION == 134


def test_a_missing_feature_and_a_wrong_name_differ():
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_thing'$"):
        tf.no_such_thing  # noqa: B018
    assert in_tensorflow("nn.relu") and not in_tensorflow("nn.rely")


def test_every_listed_name_is_there():
    for name in imported_names(tf.__file__):
        assert getattr(tf, name) is not None, name


def test_star_import():
    names = {}
    exec("from everflow import *", names)
    assert names["constant"] is tf.constant and names["gfile"] is tf.gfile and "_names" not in names


def test_namespaces_show_in_dir():
    assert {"nn", "train", "gfile", "float32"} <= set(dir(tf))


def test_compat():
    assert tf.compat.v1 is tf
    assert tf.compat.as_bytes("a") == b"a" and tf.compat.as_text(b"a") == "a" and tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError):
        tf.compat.as_bytes(None)
    assert tf.compat.forward_compatible(2019, 8, 20) and not tf.compat.forward_compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2030, 1, 1):
        assert tf.compat.forward_compatible(2029, 1, 1)
    import everflow.compat.v1 as v1

    assert v1 is tf


def test_import_is_light():
    code = "import sys, everflow; print([m for m in ('torch', 'fsspec', 'PIL', 'grpc', 'h5py', 'absl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_drawing_a_graph_needs_no_torch():
    code = "import sys, everflow as tf; tf.constant(1.0) + 2.0; tf.get_default_graph().as_graph_def(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_switches_to_tensorflow_1_are_on():
    tf.disable_v2_behavior()
    assert not tf.control_flow_v2_enabled()


def test_compiled_libraries_are_refused(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_op_library(str(tmp_path / "none.so"))
    (tmp_path / "ops.so").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError):
        tf.load_op_library(str(tmp_path / "ops.so"))


def test_logger():
    assert tf.get_logger().name == "tensorflow"


def test_contrib_tells_missing_parts_from_misspelt_ones():
    with pytest.raises(AttributeError, match="'bigtable' .*doesn't have it yet"):
        _ = tf.contrib.bigtable
    with pytest.raises(AttributeError, match="Did you mean timeseries"):
        _ = tf.contrib.timeseris
    assert not [name for name in MISSING_CONTRIB if importlib.util.find_spec(f"everflow.contrib.{name}")]
