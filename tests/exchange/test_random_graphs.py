"""Random programs as text (`random_graphs`): planned and by the reference interpreter they show the same. Beside
TensorFlow they are compared by `python -m tests.exchange.random_graphs`.
"""

import os

import pytest

import everflow as tf
import tests.served  # noqa: F401  Programs import tensorflow.
from tests.exchange.random_graphs.__main__ import OPTIMIZED, compare
from tests.exchange.random_graphs.comparing import difference
from tests.exchange.random_graphs.families import FAMILIES
from tests.exchange.random_graphs.showing import show
from tests.exchange.random_graphs.writing import written

SEEDS = {"estimators": 1, "keras": 2}


def by(executor):
    config = tf.ConfigProto()
    config.experimental.executor_type = executor
    return config


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_show_the_same_planned_and_by_the_reference(family):
    for seed in range(SEEDS.get(family, 3)):
        program = written(FAMILIES[family], seed).as_json()
        assert difference(show(tf, program, by("REFERENCE")), show(tf, program, by(""))) is None, program["lines"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_is_one_program(family):
    texts = [written(FAMILIES[family], seed).lines for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_differences_are_found():
    program = written(FAMILIES["arithmetic"], 0).as_json()
    shown = show(tf, program)
    assert difference(shown, shown) is None
    other = {**shown, "nodes": [*shown["nodes"][:-1], shown["nodes"][-1] + "x"]}
    assert difference(shown, other)[0] == "nodes"
    assert difference(shown, {**shown, "errors": [["x", "TypeError"]]})[0] == "errors"
    key = next(k for k, v in shown["values"].items() if isinstance(v, dict) and v["numbers"])
    assert difference(shown, {**shown, "values": {**shown["values"], key: "InvalidArgumentError"}})[0] == "values"


def test_the_last_digit_of_a_float_as_text_is_open():
    def text(*words):
        value = {"dtype": "text", "shape": [len(words)], "numbers": list(words)}
        return {"errors": [], "nodes": [], "values": {"v": value}}

    assert difference(text("4.589456", "-nan"), text("4.589457", "nan")) is None
    assert difference(text("12"), text("13"))[0] == "values"
    assert difference(text("4.5 m"), text("4.6 m"))[0] == "values"


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("family", FAMILIES)
def test_beside_tensorflow(family, tmp_path):
    programs = [written(FAMILIES[family], seed) for seed in range(10)]
    found = compare(os.environ["EVERFLOW_ORACLE"], programs, tmp_path)
    assert {name: words for name, words in found.items() if words[0] != OPTIMIZED} == {}
