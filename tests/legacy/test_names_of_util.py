"""Names of `python.util`: objects told apart as such, locks of groups, decorators that say what they are around."""

import gc
import threading

import pytest

import tests.served  # noqa: F401

# isort: split
from tensorflow.python.util import decorator_utils, lock_util, object_identity, tf_decorator


class Equal:
    """All of its objects are equal, and none can be hashed."""

    __hash__ = None

    def __eq__(self, other):
        return True


def test_equal_objects_are_told_apart():
    a, b = Equal(), Equal()
    table, found = object_identity.ObjectIdentityDictionary(), object_identity.ObjectIdentitySet([a, b, a])
    table[a], table[b] = 1, 2
    assert (table[a], table[b], len(table), len(found), Equal() in found) == (1, 2, 2, 2, False)
    del table[a]
    with pytest.raises(KeyError):
        table[a]
    found.discard(a)
    assert a not in found and [each is b for each in found] == [True]
    assert len(found.difference([b])) == 0 and len(found.intersection([a, b])) == 1


def test_objects_that_nobody_holds_leave():
    a = Equal()
    table, found = object_identity.ObjectIdentityWeakKeyDictionary(), object_identity.ObjectIdentityWeakSet([a])
    table[a] = 1
    assert len(table) == len(found) == 1
    del a
    gc.collect()
    assert len(table) == len(found) == 0


def test_groups_keep_others_out():
    lock, order = lock_util.GroupLock(num_groups=2), []

    def other():
        with lock.group(1):
            order.append("other")

    with lock.group(0), lock.group(0):
        thread = threading.Thread(target=other)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
    for wrong in (lambda: lock.acquire(2), lambda: lock_util.GroupLock(0)):
        with pytest.raises(ValueError):
            wrong()


def test_decorators_say_what_they_are_around():
    def decorated(function):
        return tf_decorator.make_decorator(function, lambda x: function(x) + 1)

    @decorated
    @decorated
    def target(x):
        return x

    found, innermost = tf_decorator.unwrap(target)
    assert [each.decorator_name for each in found] == ["decorated"] * 2 and innermost(1) == 1 and target(1) == 3

    def other(x):
        return -x

    assert tf_decorator.rewrap(target, innermost, other) is target and tf_decorator.unwrap(target)[1] is other
    assert tf_decorator.rewrap(other, other, innermost) is innermost
    made = tf_decorator.TFDecorator("named", other, "words", "spec")
    assert (made(2), made.decorator_doc, made.decorator_argspec, made.__name__) == (-2, "words", "spec", "other")


def test_notices_in_documentation():
    noted = decorator_utils.add_notice_to_docstring("Brief\n\nMore\n", "Do.", "None", "(old)", ["Gone."])
    assert noted == "Brief (old)\n\nWarning: Gone.\nDo.\n\nMore"
    assert decorator_utils.add_notice_to_docstring(None, "Do.", "None", "(old)", ["Gone."]).startswith("None\n")

    class Named:
        name = decorator_utils.classproperty(lambda cls: cls.__name__)

    assert Named.name == Named().name == "Named"
    assert decorator_utils.get_qualified_name(Equal.__eq__) == "Equal.__eq__"
    with pytest.raises(ValueError):
        decorator_utils.validate_callable(3, "old")
