"""The API reference: docstrings say what they should, agree with the shared table, and their examples are run."""

import collections

import pytest

import everflow as tf
from docsite import arguments, docstrings, documented, examples
from docsite.docstrings import Docstring
from everflow.framework.api_names import resolve

# Per cent of all public functions and classes whose docstrings lack nothing; whoever adds to them moves it.
DOCUMENTED = 96
MOST_USED_DOCUMENTED = 100


def per_cent(things):
    return 100 * sum(not documented.lacks(thing) for thing in things) / len(things)


def test_most_of_the_api_is_documented():
    assert per_cent(documented.things().values()) >= DOCUMENTED, documented.lacking()


def test_what_programs_use_most_is_documented():
    things = {name: resolve(tf, name) for name in documented.most_used()}
    lacking = {name: found for name, thing in things.items() if (found := documented.lacks(thing))}
    assert per_cent(things.values()) >= MOST_USED_DOCUMENTED, lacking


def test_docstrings_agree_with_the_shared_table():
    assert not docstrings.complete(write=False), "run `python -m docsite.docstrings --write`"


def test_what_many_say_of_an_argument_is_in_the_table():
    said = collections.Counter(
        (argument, what)
        for thing in documented.things().values()
        if docstrings.definition(thing)
        for argument, what in Docstring.parse(documented.own_docstring(thing) or "").args.items()
        if arguments.shared_by(thing).get(argument) != what
    )
    assert not [(argument, what) for (argument, what), times in said.items() if times > 10]


# In parts, which run on several processes.
@pytest.mark.parametrize("part", range(4))
def test_examples_print_what_they_show(part):
    wrong = {}
    for name, thing in list(documented.things().items())[part::4]:
        example = Docstring.parse(documented.own_docstring(thing) or "").example
        if example and (found := examples.wrong(example)):
            wrong[name] = found
    assert not wrong


def test_an_example_that_is_wrong_is_told():
    assert examples.wrong(">>> sess.run(tf.constant(2) * 3)\n7") == [
        "sess.run(tf.constant(2) * 3)\nshows\n7\nbut printed\nnp.int32(6)\n"
    ]
    assert examples.wrong(">>> tf.matmull") and not examples.wrong(">>> tf.__name__\n'everflow'")


def test_what_is_lacking_is_told():
    def documented_in_part(a, b):
        """Something.

        Args:
            a: What it takes.
        """
        raise ValueError(a, b)

    assert documented.lacks(documented_in_part) == [
        "the argument b",
        "what it returns",
        "that it raises ValueError",
        "an example",
    ]


def test_docstrings_are_read_and_written():
    doc = Docstring.parse(documented.own_docstring(tf.matmul))
    assert list(doc.args) == documented.parameters(tf.matmul) and doc.raises and doc.returns
    assert Docstring.parse(doc.format(0).strip('"')) == doc
