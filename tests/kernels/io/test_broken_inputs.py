"""Broken files, rows and messages come to what TensorFlow 1.15.5 makes of them: `broken_inputs.json` has that."""

import json
from pathlib import Path

import pytest

import everflow as tf
from tests.kernels.io import broken_inputs

WANTED = json.loads(Path(__file__).with_name("broken_inputs.json").read_text())


@pytest.mark.parametrize("group", broken_inputs.GROUPS)
def test_broken_inputs(group):
    assert json.loads(json.dumps(broken_inputs.run(tf, group))) == WANTED[group]
