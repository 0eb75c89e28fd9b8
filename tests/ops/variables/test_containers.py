"""Lists and dicts that are attributes: they stay lists and dicts, and can be saved while names keep their meaning."""

import collections
import copy
import json
import pickle

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.ops.variables import containers
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.containers import ListWrapper, _DictWrapper
from everflow.ops.variables.trackable import NoDependency, NotTrackable


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def _variable():
    return tf.Variable(1.0, use_resource=True)


def _saved(thing, tmp_path):
    path = tf.train.Checkpoint(x=thing).save(str(tmp_path / "model"))
    names = [name.partition("/.ATTR")[0] for name, _ in tf.train.list_variables(path)]
    return [name for name in names if name.startswith("x/")]


def test_attributes_are_wrapped():
    root = AutoTrackable()
    root.list, root.dict, root.tuple = [1], {"a": 1}, (1,)
    root.ordered = collections.OrderedDict(b=1)
    root.plain = NoDependency([1])
    assert type(root.list) is ListWrapper and type(root.dict) is _DictWrapper and type(root.plain) is list
    assert isinstance(root.list, list) and isinstance(root.ordered, collections.OrderedDict)
    assert type(root.tuple) is tuple
    held, root.other = root.list, root.list
    assert root.other is held
    assert [child.name for child in root._checkpoint_dependencies] == ["list", "dict", "ordered", "other"]


def test_objects_that_no_checkpoint_holds():
    class Hidden(NotTrackable, AutoTrackable):
        pass

    root = AutoTrackable()
    root.hidden = Hidden()
    assert [child.name for child in root._checkpoint_dependencies] == ["hidden"]
    with pytest.raises(NotImplementedError, match="hidden"):
        tf.train.Checkpoint(root=root).write("nowhere")


KEPT = [
    lambda held: held.append(_variable()),
    lambda held: held.extend([1, _variable()]),
    lambda held: held.__iadd__([2]),
    lambda held: held.__imul__(2),
    lambda held: held.__setitem__(0, 5),
]
MOVED = [
    lambda held: held.insert(0, 1),
    lambda held: held.pop(),
    lambda held: held.remove(1),
    lambda held: held.reverse(),
    lambda held: held.sort(key=id),
    lambda held: held.clear(),
    lambda held: held.__delitem__(0),
    lambda held: held.__setitem__(1, 3),
    lambda held: held.__setitem__(slice(0, 1), [3]),
    lambda held: held.__imul__(0),
]


@pytest.mark.parametrize("change", KEPT)
def test_a_list_that_grows_is_saved(change, tmp_path):
    held = ListWrapper([1, _variable()])
    change(held)
    assert "x/1" in _saved(held, tmp_path)


@pytest.mark.parametrize("change", MOVED)
def test_a_list_whose_elements_moved_is_not(change, tmp_path):
    held = ListWrapper([1, _variable()])
    change(held)
    for thing in (held, copy.copy(held), copy.deepcopy(held)):
        with pytest.raises(ValueError, match="Unable to save"):
            _saved(thing, tmp_path)


def test_plain_values_may_be_replaced(tmp_path):
    held = ListWrapper([1, 2])
    held[0], held[1:] = 3, [4, 5]
    held.reverse()
    assert held == [5, 4, 3] and _saved(held, tmp_path) == []


def test_the_programs_own_list(tmp_path):
    own = [_variable(), [1]]
    held = ListWrapper(own)
    held.append(2)
    assert len(own) == 3 and own[1] is held[1] and type(own[1]) is ListWrapper
    own.append(_variable())
    assert len(held) == 4
    with pytest.raises(ValueError, match="outside the wrapper"):
        _saved(held, tmp_path)


def test_a_wrapped_list_is_a_list():
    held = ListWrapper([1, 2])
    assert held + [3] == [1, 2, 3] and [0] + held == [0, 1, 2] and 2 * held == [1, 2, 1, 2]
    assert type(held + [3]) is ListWrapper and type(held[:1]) is list and repr(held) == "ListWrapper([1, 2])"
    assert held < [2] and 2 in held and held.index(2) == 1 and list(reversed(held)) == [2, 1]
    assert json.dumps(held) == "[1, 2]" and np.array(held).tolist() == [1, 2]
    assert tf.nest.map_structure(lambda x: x + 1, held) == [2, 3]
    assert pickle.loads(pickle.dumps(held)) == held
    with pytest.raises(TypeError, match="unhashable"):
        hash(held)


@pytest.mark.parametrize("change", [lambda d: d.update(b=_variable()), lambda d: d.__setitem__("a", _variable())])
def test_a_dict_whose_keys_are_set_is_saved(change, tmp_path):
    held = _DictWrapper({"a": _variable(), 1: 2})
    change(held)
    assert "x/a" in _saved(held, tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.setdefault("q", _variable()),
        lambda d: d.__setitem__(1, _variable()),
    ],
)
def test_a_dict_that_lost_keys_is_not(change, tmp_path):
    held = _DictWrapper({"a": _variable()})
    change(held)
    with pytest.raises(ValueError, match="Unable to save"):
        _saved(held, tmp_path)


def test_a_wrapped_dict_is_a_dict(tmp_path):
    held = _DictWrapper({"a": 1, "b": [2]})
    assert held == {"a": 1, "b": [2]} and dict(held) == held and {**held} == held and list(held) == ["a", "b"]
    assert type(held["b"]) is ListWrapper and str(held).startswith("{'a': 1") and repr(held).startswith("DictWrapper(")
    assert json.loads(json.dumps(held)) == held and type(held.copy()) is _DictWrapper
    assert tf.nest.map_structure(lambda x: x + 1, _DictWrapper({"a": 1})) == {"a": 2}
    held["c"] = NoDependency(_variable())
    assert isinstance(held["c"], tf.Variable) and _saved(held, tmp_path) == []
    del held["c"]
    assert "c" not in held


def test_layers_and_variables_inside():
    dense = tf.keras.layers.Dense
    held = ListWrapper([dense(1), {"a": dense(2)}, [dense(3)]])
    assert [layer.units for layer in held.layers] == [1, 2, 3]
    for layer in held.layers:
        layer(tf.ones([1, 1]))
    assert len(held.trainable_weights) == len(held.weights) == 6
    held.trainable = False
    assert held.trainable_weights == [] and len(held.non_trainable_weights) == 6


def test_lists_that_only_grow():
    assert type([_variable()] + containers.List()) is containers.List
    assert type(containers.Mapping(a=[_variable()])["a"]) is ListWrapper
    with pytest.raises(containers._UntrackableError, match="Got 1"):
        containers.List([1])


def test_nest_takes_them_for_lists():
    tf.nest.assert_same_structure([1], ListWrapper([1]))
    tf.nest.assert_same_structure(ListWrapper([1]), [1])

    class Own(list):
        pass

    with pytest.raises(TypeError):
        tf.nest.assert_same_structure([1], Own([1]))


def test_layers_in_a_list_of_a_model_are_the_models():
    class Several(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = containers.List([tf.keras.layers.Dense(2)])
            self.parts.append(tf.keras.layers.Dense(1, kernel_regularizer=tf.reduce_sum))

        def call(self, x):
            for part in self.parts:
                x = part(x)
            return x

    model = Several()
    model(tf.ones([1, 3]))
    assert len(model.layers) == 2 and len(model.weights) == 4 and len(model.losses) == 1


def test_modules_and_keras_layers_wrap_what_they_hold(tmp_path):
    module, model = tf.Module(), tf.keras.Model()
    for holder in (module, model):
        holder.several = [_variable()]
        holder.named = {"a": _variable()}
        assert type(holder.several) is ListWrapper and type(holder.named) is _DictWrapper
    assert _saved(module, tmp_path) == ["x/named/a", "x/several/0"]
    model.several.insert(0, _variable())
    with pytest.raises(ValueError, match="Unable to save"):
        model.save_weights(str(tmp_path / "weights"))


def test_layers_in_containers_make_resources():
    with tf.Graph().as_default():
        layer, alone = tf.layers.Dense(1), tf.layers.Dense(1)
        held = containers.List([layer])
        for each in (layer, alone):
            each(tf.ones([1, 2]))
        assert len(held.variables) == 2
        assert [hasattr(each.kernel, "handle") for each in (layer, alone)] == [True, False]
