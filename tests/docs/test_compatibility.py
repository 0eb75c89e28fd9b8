"""The page of what is there: it names what is missing, with reasons that are still needed."""

import pytest

import everflow as tf
from docsite import compatibility, reasons
from everflow.framework.api_names import resolve


@pytest.mark.parametrize(
    ("table", "missing"),
    [
        (reasons.MISSING_NAMES, compatibility.missing_names),
        (reasons.MISSING_OP_TYPES, compatibility.missing_op_types),
    ],
    ids=["names", "op types"],
)
def test_reasons_are_those_of_what_is_missing(table, missing):
    used = {compatibility.reason(table, name) for name in missing()}
    assert None not in used, "something is missing without a reason"
    assert set(table) == used, "a reason is left over from what is there by now"


def test_what_differs_is_there():
    assert [name for name in reasons.DIFFERS if resolve(tf, name) is None] == []


def test_ops_of_planning_have_no_kernel():
    from everflow.kernels import registry

    assert not reasons.PLANNED & set(registry.names())


def test_the_page_says_it():
    page = compatibility.page()
    assert "| needs a TPU |" in page and "`tf.nn`" in page and "`MatMul`" in page
    assert "*`load_op_library`*" in page
