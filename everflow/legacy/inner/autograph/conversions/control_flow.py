"""`converters.control_flow`: branches and loops as calls, with functions for what is in them."""

from __future__ import annotations

from everflow.legacy.inner.autograph import activity, converters, templates, trees
from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph.lang import directives
from everflow.legacy.inner.autograph.trees import nodes


class ControlFlowTransformer(converters.Base):
    """The walk to branches and loops, the innermost first.

    Names that a block assigns and that are needed after it are results of its function. What it assigns of other things
    (`a.b`, `a[i]`) stays in place; a pair of functions reads and writes all of it.
    """

    def visit_If(self, node):
        self.generic_visit(node)
        body, orelse = (
            anno.getanno(node, key) for key in (activity.NodeAnno.BODY_SCOPE, activity.NodeAnno.ORELSE_SCOPE)
        )
        assigned = body.modified | orelse.modified
        names = _sorted(name for name in assigned if name.is_simple() and name in _noted(node, "LIVE_VARS_OUT"))
        state = _lasting(assigned)
        reserved = body.referenced | orelse.referenced | assigned
        given = {k: self._new(k, reserved) for k in ("get_state", "set_state", "if_true", "if_false", "cond")}
        given |= {"test": node.test, "then": node.body or [nodes.Pass()], "otherwise": node.orelse or [nodes.Pass()]}
        # What a branch changes is its own variable, which begins with the value that it has outside.
        known = _noted(node, "DEFINED_VARS_IN") & _noted(node, "LIVE_VARS_IN") & assigned
        defined = {str(name) for name in known if name.is_simple()}
        start = ", ".join(f"{name}={name}" for name in sorted(defined | set(names)))
        result = ", ".join(names) if names else "()"
        text = f"""
cond = test
def if_true({start}):
  then
  return {result}
def if_false({start}):
  otherwise
  return {result}
{", ".join(names) + " = " if names else ""}ag__.if_stmt(
    cond, if_true, if_false, get_state, set_state, {_texts(names)}, {_texts(state)})
"""
        return self._undefined(node, names) + templates.replace(_of_state(state) + text, **given)

    def visit_While(self, node):
        return self._loop(
            node,
            """
def loop_test({names}):
  return test
{result}ag__.while_stmt(loop_test, loop_body, get_state, set_state, {values}, {texts}, {state}{options})
""",
            test=node.test,
        )

    def visit_For(self, node):
        further = anno.getanno(node, "extra_test", None)
        test = "None" if further is None else "loop_test"
        text = "" if further is None else "\ndef loop_test({names}):\n  return test\n"
        text += (
            "\n{result}ag__.for_stmt(items, "
            + test
            + ", loop_body, get_state, set_state, {values}, {texts}, {state}{options})\n"
        )
        given = {} if further is None else {"test": further}
        scope = anno.getanno(node, activity.NodeAnno.BODY_SCOPE)
        each = self._new("iterates", scope.referenced | scope.modified)
        node.body = [*templates.replace("target = each", target=node.target, each=each), *node.body]
        return self._loop(node, text, each, items=node.iter, **given)

    def _loop(self, node, text, *first, **given):
        scope = anno.getanno(node, activity.NodeAnno.BODY_SCOPE)
        assigned = set(scope.modified)
        for noted in (activity.NodeAnno.COND_SCOPE, activity.NodeAnno.ITERATE_SCOPE):
            assigned |= anno.getanno(node, noted, scope).modified
        needed = _noted(node, "LIVE_VARS_IN") | _noted(node, "LIVE_VARS_OUT")
        names = _sorted(name for name in assigned if name.is_simple() and name in needed)
        state = _lasting(assigned)
        given |= {
            k: self._new(k, scope.referenced | assigned) for k in ("get_state", "set_state", "loop_body", "loop_test")
        }
        node = self.generic_visit(node)
        result = "".join(f"{name}, " for name in names)
        told = anno.getanno(node, converters.AgAnno.DIRECTIVES, {}).get(directives.set_loop_options, {})
        text = text.format(
            names=", ".join(names),
            result=f"{result.strip()} = " if names else "",
            values=f"({result})",
            texts=_texts(names),
            state=_texts(state),
            options=", opts=options" if told else "",
        )
        if told:
            given["options"] = nodes.Dict([trees.constant(key) for key in told], list(told.values()))
        parameters = ", ".join((*first, *names))
        text = f"{_of_state(state)}\ndef loop_body({parameters}):\n  body\n  return ({result})\n{text}"
        made = templates.replace(text, body=node.body or [nodes.Pass()], **given)
        return self._undefined(node, names) + made + list(node.orelse)

    def _new(self, root, reserved):
        return self.ctx.namer.new_symbol(root, reserved)

    @staticmethod
    def _undefined(node, names):
        """What stands for names that have no value before a statement."""
        defined = {str(name) for name in _noted(node, "DEFINED_VARS_IN")}
        return [
            statement
            for name in names
            if name not in defined
            for statement in templates.replace("name = ag__.Undefined(text)", name=name, text=trees.constant(name))
        ]


def _noted(node, key):
    return set(anno.getanno(node, getattr(anno.Static, key), ()))


def _sorted(names):
    return tuple(sorted(map(str, names)))


def _lasting(assigned):
    """Parts of things that a block assigns, where the things themselves come from outside of it."""
    return _sorted(name for name in assigned if name.is_composite() and not name.support_set & assigned)


def _texts(names):
    return "(" + "".join(f"{name!r}, " for name in names) + ")"


def _of_state(paths):
    """The functions that read and write parts of things."""
    if not paths:
        return "\ndef get_state():\n  return ()\ndef set_state(_):\n  pass\n"
    parts = "".join(f"{path}, " for path in paths)
    return f"\ndef get_state():\n  return ({parts})\ndef set_state(values):\n  ({parts}) = values\n"


def transform(node, ctx):
    """The code without branches and loops."""
    return ControlFlowTransformer(ctx).visit(node)
