"""TensorBoard itself over the log directory of examples/tensorboard_tour.py: every kind of data arrives in its tab."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest

import everflow

pytest.importorskip("tensorboard")
ROOT = pathlib.Path(everflow.__file__).parent.parent


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory):
    path = tmp_path_factory.mktemp("tour")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "https_proxy": "http://127.0.0.1:1"}
    flags = [f"--logdir={path}/logs", f"--data_dir={path}/mnist", "--max_steps=100"]
    command = [sys.executable, "-m", "everflow", "run", "examples/tensorboard_tour.py", *flags]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300)
    return path / "logs"


@pytest.fixture(scope="module")
def get(log_dir):
    """A function that fetches a path, with its query, from a TensorBoard that has read both runs."""
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        f"--logdir={log_dir}",
        "--host=127.0.0.1",
        "--port=0",
        "--load_fast=false",
    ]
    server = subprocess.Popen(command, cwd=log_dir, stderr=subprocess.PIPE, text=True)
    try:
        # The server names its port once it listens.
        address = next(
            found[0] for found in (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in server.stderr) if found
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def fetch(path, **query):
            with opener.open(f"{address}data/{path}?{urllib.parse.urlencode(query)}", timeout=60) as response:
                return response.read()

        # Runs are listed before all of their events are read; what the program wrote last tells the end of it.
        deadline = time.time() + 60
        while "steps" not in json.loads(fetch("plugin/scalars/tags")).get("train", {}) or b"sureness" not in fetch(
            "plugin/audio/tags"
        ):
            assert time.time() < deadline
            time.sleep(0.2)
        yield fetch
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_runs(get):
    assert sorted(json.loads(get("runs"))) == ["test", "train"]


def test_plugins_have_data(get):
    listing = json.loads(get("plugins_listing"))
    for plugin in ("scalars", "histograms", "distributions", "images", "audio", "text", "graphs"):
        assert listing[plugin]["enabled"], plugin


def test_scalars(get):
    points = json.loads(get("plugin/scalars/scalars", run="train", tag="cross_entropy_1"))
    steps, values = [point[1] for point in points], [point[2] for point in points]
    assert steps == sorted(steps) and steps[0] == 1 and steps[-1] == 99
    assert values[-1] < values[0] / 2
    assert json.loads(get("plugin/scalars/scalars", run="train", tag="steps"))[0][1:] == [100, 100.0]


def test_histograms(get):
    for _, _, bins in json.loads(get("plugin/histograms/histograms", run="train", tag="layer1/activations")):
        assert sum(count for _, _, count in bins) == 100 * 100  # units by images
        assert all(left <= right for left, right, _ in bins)


def test_images(get):
    tags = json.loads(get("plugin/images/tags"))["test"]
    assert sum(tag.startswith("input_reshape/input/") for tag in tags) == 10
    found = json.loads(get("plugin/images/images", run="test", tag="input_reshape/input/image/0", sample=0))
    png = get(f"plugin/images/individualImage?{found[0]['query']}&")
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24]) == (28, 28)


def test_audio(get):
    found = json.loads(get("plugin/audio/audio", run="test", tag="probes/sureness/audio/0", sample=0))
    assert found[0]["contentType"] == "audio/wav"
    wave = get(f"plugin/audio/individualAudio?{found[0]['query']}&")
    assert wave.startswith(b"RIFF") and len(wave) == 44 + 2 * 8000


def test_text(get):
    last = json.loads(get("plugin/text/text", run="test", tag="probes/answers"))[-1]
    assert last["step"] == 90
    assert len(re.findall(r"\d read as \d", last["text"])) == 8


def test_graph_and_run_metadata(get):
    info = json.loads(get("plugin/graphs/info"))["train"]
    assert info["run_graph"] and info["tags"]["step099"]["profile"]
    graph = get("plugin/graphs/graph", run="train").decode()
    assert 'name: "layer1/Wx_plus_b/MatMul"' in graph
    metadata = get("plugin/graphs/run_metadata", run="train", tag="step099").decode()
    assert 'node_name: "layer1/Wx_plus_b/MatMul"' in metadata or 'node_name: "layer1/Wx_plus_b/add"' in metadata


def test_projector(get):
    assert json.loads(get("plugin/projector/runs")) == ["test"]
    embedding = json.loads(get("plugin/projector/info", run="test"))["embeddings"][0]
    assert embedding["tensorName"] == "digits" and embedding["tensorShape"] == [200, 784]
    labels = get("plugin/projector/metadata", run="test", name="digits").split()
    assert len(labels) == 200 and set(labels) <= {b"%d" % digit for digit in range(10)}
    assert len(get("plugin/projector/tensor", run="test", name="digits")) == 200 * 784 * 4
