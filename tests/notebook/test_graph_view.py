"""The picture of a graph: what is in the page."""

import html
import json
import re
import shutil
import subprocess

import pytest

import everflow as tf
from everflow.notebook import graph_view

pytestmark = pytest.mark.usefixtures("own_graph")


def document():
    text = graph_view.page(tf.get_default_graph())
    return html.unescape(re.search(r'srcdoc="(.*?)" sandbox="allow-scripts"', text, re.S)[1])


def data():
    return json.loads(re.search(r"const graph = (.*?);\n", document())[1])


def test_nodes_and_edges():
    with tf.name_scope("a"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.control_dependencies([tf.no_op(name="before")]):
        tf.identity(x, name="y")
    found = data()
    assert ["a/x", "Placeholder", "(?, 2)"] in found["nodes"]
    assert found["edges"] == [["a/x", "y", 0], ["before", "y", 1]]


def test_the_page_needs_nothing_from_elsewhere():
    tf.constant(1.0)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", document()) and " src=" not in document()


def test_large_graphs_are_cut(monkeypatch):
    monkeypatch.setattr(graph_view, "_MOST", 5)
    for scope in "ab":
        with tf.name_scope(scope):
            for _ in range(4):
                tf.constant(1.0)
    assert [node[:2] for node in data()["nodes"]] == [["a", "scope"], ["b", "scope"]]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_is_javascript(tmp_path):
    (tmp_path / "view.js").write_text(document().partition("<script>")[2].partition("</script>")[0])
    subprocess.run(["node", "--check", str(tmp_path / "view.js")], check=True)
