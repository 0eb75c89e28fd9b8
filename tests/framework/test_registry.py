"""Shape rules and gradients by op type: each is registered once, and found when a graph asks."""

import pytest

import everflow as tf
from everflow.framework import registry


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Rules that a test adds are gone afterwards."""
    registry.load_all()
    monkeypatch.setattr(registry, "_shape_rules", dict(registry._shape_rules))
    monkeypatch.setattr(registry, "_gradients", dict(registry._gradients))


def test_one_shape_rule_for_a_type():
    registry.shape_rule("MineA", "MineB")(rule := lambda op: [])
    assert registry.find_shape_rule("MineA") is registry.find_shape_rule("MineB") is rule
    assert registry.find_shape_rule("NobodyHasARuleForThis") is None
    with pytest.raises(ValueError, match="'MineA' has a shape rule already"):
        registry.shape_rule("MineA")(rule)


def test_one_gradient_for_a_type():
    function = tf.RegisterGradient("Mine")(lambda op, grad: grad)
    assert registry.find_gradient("Mine") is function
    tf.NotDifferentiable("Others")
    assert registry.find_gradient("Others") is None
    with pytest.raises(LookupError, match="NobodyHasOne"):
        registry.find_gradient("NobodyHasOne")
    for again in ("Mine", "Others", "Neg"):  # the last one is the library's own
        with pytest.raises(KeyError, match=again):
            tf.RegisterGradient(again)(function)
        with pytest.raises(KeyError, match=again):
            tf.NotDifferentiable(again)


@pytest.mark.parametrize("register", [tf.RegisterGradient, tf.NotDifferentiable])
def test_a_type_is_named_by_text(register):
    with pytest.raises(TypeError):
        register(3)


def test_a_gradient_of_ones_own_is_used():
    @tf.RegisterGradient("TenTimes")
    def ten_times(op, grad):
        return 10.0 * grad

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.constant(2.0)
        with graph.gradient_override_map({"Identity": "TenTimes"}):
            y = tf.identity(x)
        assert sess.run(tf.gradients(y, x)[0]) == 10.0


def test_families_are_loaded_when_a_rule_is_not_known(monkeypatch):
    class Late:
        loads = 0

        def load(self):
            self.loads += 1
            registry._shape_rules.setdefault("Late", lambda op: [])
            registry._gradients.setdefault("Late", None)

    late = Late()
    monkeypatch.setattr(registry, "_families", [])
    registry.add_families(late)
    assert registry.find_shape_rule("Neg") is not None and late.loads == 0
    assert registry.find_shape_rule("Late") is not None and registry.find_gradient("Late") is None
    assert late.loads == 1
