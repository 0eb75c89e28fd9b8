"""HParams: values, types, text and JSON."""

import pytest

import everflow as tf

HParams = tf.contrib.training.HParams


def made():
    return HParams(rate=0.1, layers=[1, 2], name="x", deep=True, steps=3)


def test_values_are_attributes():
    hparams = made()
    assert (hparams.rate, hparams.layers, hparams.get("steps"), hparams.get("other", 7)) == (0.1, [1, 2], 3, 7)
    assert "rate" in hparams
    assert "other" not in hparams
    assert str(hparams) == "rate=0.1,layers=[1, 2],name=x,deep=True,steps=3"


def test_text_overrides():
    hparams = made().parse("rate=2,layers=[4,5,6],name=a=b,deep=false")
    assert hparams.values() == {"rate": 2.0, "layers": [4, 5, 6], "name": "a=b", "deep": False, "steps": 3}


@pytest.mark.parametrize(
    "text",
    [
        "other=1",
        "steps=x",
        "steps=1.5",
        "steps=[1]",
        "layers=3",
        "deep=maybe",
        "steps=1,steps=2",
        "steps",
        "layers[0]=[1]",
    ],
)
def test_text_that_does_not_fit(text):
    with pytest.raises(ValueError):
        made().parse(text)


def test_values_with_an_index():
    assert tf.contrib.training.parse_values("a=1,b[2]=3", {"a": int, "b": float}) == {"a": 1, "b": {2: 3.0}}


@pytest.mark.parametrize(("name", "value"), [("steps", "q"), ("steps", 1.5), ("deep", 1), ("name", 3), ("layers", 3)])
def test_types_are_kept(name, value):
    with pytest.raises(ValueError):
        made().set_hparam(name, value)


def test_json_and_messages_go_there_and_back():
    hparams = made()
    assert (
        HParams(rate=0.0, layers=[0], name="", deep=False, steps=0).parse_json(hparams.to_json()).values()
        == hparams.values()
    )
    hparams.rate = 0.5
    assert HParams.from_proto(hparams.to_proto()).values() == hparams.values()


def test_names_that_are_taken():
    with pytest.raises(ValueError, match="reserved"):
        made().add_hparam("parse", 1)
