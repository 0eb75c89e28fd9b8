"""How a call is to be converted."""

import ast

import pytest

import everflow as tf

autograph = tf.contrib.autograph


Feature = autograph.Feature


def test_converted_call():
    def absolute(x):
        if x > 0:
            return x
        return -x

    options = autograph.ConversionOptions(recursive=True, optional_features=None)
    assert not options.uses(Feature.LISTS) and autograph.ConversionOptions().uses(Feature.LISTS)
    assert options.call_options() == options and hash(options) == hash(options.call_options())
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(autograph.converted_call(absolute, options, (tf.constant(-3),), None)) == 3
    assert autograph.converted_call(absolute, options, (), {"x": -2}) == 2


@pytest.mark.parametrize(
    "options",
    [{}, {"recursive": True, "user_requested": True}, {"optional_features": (Feature.LISTS, Feature.NAME_SCOPES)}],
)
def test_an_expression_makes_the_options_again(options):
    made = autograph.ConversionOptions(**options)
    code = compile(ast.fix_missing_locations(ast.Expression(made.to_ast())), "<options>", "eval")
    assert eval(code, {"ag__": autograph}) == made
    assert made != autograph.ConversionOptions(internal_convert_user_code=False) and made != 3


def test_all_features_are_each_of_them():
    everything = autograph.ConversionOptions(optional_features=Feature.ALL)
    assert all(everything.uses(feature) for feature in Feature)
    assert not any(autograph.ConversionOptions(optional_features=()).uses(feature) for feature in Feature)


def test_code_that_is_not_to_be_converted():
    def absolute(x):
        return x if x > 0 else -x

    options = autograph.ConversionOptions(internal_convert_user_code=False)
    with tf.Graph().as_default(), pytest.raises(TypeError):
        autograph.converted_call(absolute, options, (tf.constant(1),), {})
