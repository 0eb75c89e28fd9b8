"""`autograph.pyct` and `autograph.converters` as libraries use them: source in, source out."""

from __future__ import annotations

import ast
import textwrap
import types

import pytest

import tests.served  # noqa: F401
from everflow.legacy.inner.autograph import sources, trees

from tensorflow.python.autograph.converters import break_statements, continue_statements, return_statements  # isort: skip
from tensorflow.python.autograph.core import converter, naming  # isort: skip
from tensorflow.python.autograph.pyct import anno, compiler, inspect_utils, parser, qual_names, templates, transformer  # isort: skip
from tensorflow.python.autograph.pyct.common_transformers import anf  # isort: skip
from tensorflow.python.autograph.pyct.static_analysis import activity, annos  # isort: skip

QN = qual_names.QN


def context():
    info = transformer.EntityInfo(source_code="", source_file=None, future_features=(), namespace={})
    program = converter.ProgramContext(options=converter.ConversionOptions(recursive=True), autograph_module=None)
    return converter.EntityContext(namer=naming.Namer({}), entity_info=info, program_ctx=program)


def tree(source):
    return parser.parse_str(textwrap.dedent(source))


def text(node):
    return compiler.ast_to_source(node, include_encoding_marker=False)


def converted(module, source, **options):
    made = context()
    return text(module.transform(converter.standard_analysis(tree(source), made, is_initial=True), made, **options))


def lines(source):
    return text(tree(source))


class TestNames:
    def test_a_name_knows_its_parts(self):
        name = QN(QN(QN("a"), attr="b"), subscript=QN("i"))
        assert str(name) == "a.b[i]"
        assert {str(n) for n in name.owner_set} == {"a", "a.b"}
        assert {str(n) for n in name.support_set} == {"a", "i"}
        assert name.parent == QN(QN("a"), attr="b") and name.ssf() == "a_b_sub_i"
        assert not name.is_simple() and name.has_subscript() and not name.has_attr()

    def test_literals_between_brackets_are_names_too(self):
        assert str(qual_names.from_str("a['k']")) == "a['k']" and str(qual_names.from_str("a[3].b")) == "a[3].b"

    def test_what_cannot_be_a_name_is_refused(self):
        with pytest.raises(ValueError, match="one name"):
            _ = QN("a").parent
        with pytest.raises(ValueError, match="not in both"):
            QN(QN("a"), attr="b", subscript=QN("c"))
        with pytest.raises(ValueError, match="QN itself"):
            QN("a", attr="b")

    def test_every_name_of_a_tree_is_noted(self):
        node = qual_names.resolve(tree("x = a.b[c] + d()[1] + e[1:2]"))
        found = {str(anno.getanno(n, anno.Basic.QN)) for n in trees.nodes.walk(node) if anno.hasanno(n, anno.Basic.QN)}
        assert found == {"x", "a", "a.b", "c", "a.b[c]", "d", "e"}

    def test_new_names_are_free(self):
        namer = naming.Namer({"a": 1, "tf__f": 2})
        assert [namer.new_symbol("a", ()), namer.new_symbol("a", ()), namer.new_symbol("b", {"b"})] == [
            "a_1",
            "a_2",
            "b_1",
        ]
        assert namer.function_name("f") == "tf__f_1" and namer.class_name("m.foo") == "TfMFoo"
        with pytest.raises(ValueError, match="strings or QNs"):
            namer.new_symbol("c", (3,))


class TestNotes:
    def test_notes_are_put_copied_and_taken_away(self):
        first, second = tree("a = 1"), tree("b = 2")
        anno.setanno(first, "k", 1)
        anno.copyanno(first, second, "k")
        anno.copyanno(first, second, "none")
        assert anno.keys(second) == {"k"} and anno.getanno(second, "z", 5) == 5
        anno.dup(second, {"k": "l"})
        anno.delanno(second, "k")
        assert anno.keys(second) == {"l"} and "b = 2" in text(second)
        with pytest.raises(KeyError):
            anno.getanno(second, "k")


class TestTemplates:
    @pytest.mark.parametrize(
        ("template", "replacements", "wanted"),
        [
            ("a = b", {"a": "x", "b": ["y"]}, "x = y"),
            ("a, b = c", {"a": QN("x"), "b": QN(QN("y"), attr="z"), "c": "w"}, "x, y.z = w"),
            ("x.name = 1", {"name": "y"}, "x.y = 1"),
            ("f(args)", {"args": ["a", "b"]}, "f(a, b)"),
            ("lambda args: e", {"args": ["x", "y"], "e": "x"}, "lambda x, y: x"),
            ("def f(args): body", {"f": "g", "args": ["x"], "body": [trees.nodes.Pass()]}, "def g(x):\n  pass"),
        ],
    )
    def test_names_stand_for_nodes(self, template, replacements, wanted):
        (made,) = templates.replace(template, **replacements)
        assert text(made).strip() == lines(wanted).strip()

    def test_an_expression(self):
        assert text(templates.replace_as_expression("c.var.name", name=QN("q"))).strip() == "c.var.q"
        with pytest.raises(ValueError, match="expression"):
            templates.replace_as_expression("x = 1")


class TestJumps:
    def test_break_becomes_a_flag(self):
        source = "def f(x):\n  while x > 0:\n    if x == 3:\n      break\n    x -= 1\n  return x"
        made = converted(break_statements, source)
        assert "break_ = False" in made and "ag__.and_(lambda: x > 0, lambda: ag__.not_(break_))" in made

    def test_what_follows_continue_is_guarded(self):
        source = "def f(x):\n  for i in x:\n    if i:\n      continue\n    a(i)"
        guarded = "def f(x):\n  for i in x:\n    continue_ = False\n    if i:\n      continue_ = True\n    if ag__.not_(continue_):\n      a(i)"
        assert converted(continue_statements, source) == lines(guarded)

    def test_one_return_is_left(self):
        source = "def f(x):\n  if x:\n    return 1\n  y = 2\n  return y"
        wanted = "def f(x):\n  if x:\n    d = True\n    r = 1\n  else:\n    y = 2\n    d = True\n    r = y\n  return r"
        wanted = wanted.replace("d =", "do_return =").replace("r =", "retval_ =").replace("return r", "return retval_")
        assert converted(return_statements, source, default_to_null_return=False) == lines(wanted)

    def test_converted_functions_give_what_they_gave(self):
        source = """
        def f(xs):
            total = 0
            while xs:
                x = xs.pop()
                if x == 1:
                    continue
                if x > 6:
                    return -1
                if x > 4:
                    break
                total += x
            return total
        """
        made, node = context(), tree(source)
        for converting in (break_statements, continue_statements, return_statements):
            node = converting.transform(converter.standard_analysis(node, made), made)
        before, after = (compiler.ast_to_object(given)[0] for given in (tree(source), node))
        after.ag__ = types.SimpleNamespace(
            and_=lambda first, second: first() and second(),
            not_=lambda value: not value,
            retval=lambda value: value,
            UndefinedReturnValue=object,
        )
        for xs in ([1, 2, 3], [7, 5, 2], [7], [7, 3, 1, 4], []):
            assert after.f(list(xs)) == before.f(list(xs))


class TestNormalForm:
    def normal(self, source, **options):
        return text(anf.transform(qual_names.resolve(tree(source)), context(), **options))

    def test_parts_become_variables(self):
        made = self.normal("def f(x):\n  return a(b(x) + 1, k=c.d)")
        wanted = "def f(x):\n  tmp_1001 = b(x)\n  tmp_1002 = tmp_1001 + 1\n  tmp_1003 = c.d\n  tmp_1004 = a(tmp_1002, k=tmp_1003)\n  return tmp_1004"
        assert made == lines(wanted)

    def test_rules_say_which(self):
        nodes = trees.nodes
        rules = [
            (anf.ASTEdgePattern(nodes.If, "test", anf.ANY), anf.REPLACE),
            (anf.ASTEdgePattern(anf.ANY, anf.ANY, nodes.Call), anf.LEAVE),
        ]
        made = self.normal("def f(x):\n  if x > g(1):\n    y = g(h(2)) + 3", config=rules)
        assert made == lines("def f(x):\n  tmp_1001 = x > g(1)\n  if tmp_1001:\n    y = g(h(2)) + 3")

    @pytest.mark.parametrize(
        "value", ["a(x) and b(x)", "a(x) if b else c", "[a(i) for i in x]", "lambda: a(b(1))", "1 < a(2) < 3"]
    )
    def test_what_may_not_be_computed_beforehand_is_refused(self, value):
        with pytest.raises(ValueError):
            self.normal(f"def f(x):\n  return {value}")


class TestActivity:
    def test_statements_say_what_they_read_and_write(self):
        node = tree("def f(x):\n  a = x + b.c\n  a += 1\n  w = [u for u in v]\n  z = lambda s: s + t\n  del a")
        node = activity.resolve(qual_names.resolve(node), context())
        scopes = [anno.getanno(statement, anno.Static.SCOPE) for statement in node.body]
        read = [{str(n) for n in scope.read} for scope in scopes]
        assert read == [{"x", "b", "b.c"}, {"a"}, {"v"}, {"t"}, {"a"}]
        assert [{str(n) for n in s.modified} for s in scopes] == [{"a"}, {"a"}, {"w"}, {"z"}, set()]

    def test_blocks_have_scopes(self):
        node = activity.resolve(qual_names.resolve(tree("if g(a):\n  h = 1\nelse:\n  l = m")), context())
        assert {str(n) for n in anno.getanno(node, annos.NodeAnno.COND_SCOPE).read} == {"g", "a"}
        assert {str(n) for n in anno.getanno(node, annos.NodeAnno.BODY_SCOPE).modified} == {"h"}
        assert {str(n) for n in anno.getanno(node, annos.NodeAnno.ORELSE_SCOPE).read} == {"m"}


class TestSources:
    def test_functions_become_trees_and_modules(self):
        node, source = parser.parse_entity(context, inspect_utils.getfutureimports(context))
        assert "\ndef context():" in source and isinstance(node, trees.nodes.FunctionDef)
        assert inspect_utils.getfutureimports(context) == ("annotations",)
        module, _, origins = compiler.ast_to_object(tree("def double(x):\n  return x * 2"), include_source_map=True)
        assert module.double(4) == 8 and origins == {}

    def test_one_statement_or_expression_is_wanted(self):
        with pytest.raises(ValueError, match="one statement"):
            parser.parse_str("a = 1\nb = 2")
        with pytest.raises(ValueError, match="one expression"):
            parser.parse_expression("a = 1")

    def test_functions_are_asked_about(self):
        assert inspect_utils.getmethodclass(TestSources().test_functions_are_asked_about) is TestSources
        assert inspect_utils.getmethodclass(TestSources.test_functions_are_asked_about) is TestSources
        assert inspect_utils.getmethodclass(context) is None
        assert inspect_utils.isbuiltin(len) and inspect_utils.isbuiltin(range) and not inspect_utils.isbuiltin(context)
        assert inspect_utils.getqualifiedname({"s": sources}, sources.islambda) == "s.islambda"

    def test_a_walk_keeps_state_by_block(self):
        class Depth:
            level = 0

        walk = transformer.Base(context())
        stack = walk.state[Depth]
        stack.level = 1
        stack.enter()
        assert stack.level == 2  # how many there are, as the stack's own names come first
        stack.exit()
        with pytest.raises(ValueError, match="visit_block"):
            walk.visit([tree("a = 1")])
        statements = walk.visit_block([tree("a = 1"), tree("b = 2")], after_visit=lambda node: (node, None))
        assert [text(s).strip() for s in statements] == ["a = 1", "b = 2"]


class TestOldNodes:
    """Trees of gast 0.2, the release that TensorFlow 1.15 asks for: names for parameters, `Num` and `Str`, `Index`."""

    @pytest.mark.parametrize(
        "source",
        [
            "def f(a, b=1, *c, d=None, **e):\n    return (a[1], b[1:2, 0], 'x', True, ..., b'y')",
            "try:\n    f()\nexcept E as e:\n    g(e)",
            "with a as b:\n    x = lambda y: y",
        ],
    )
    def test_they_go_there_and_back(self, source):
        carried = trees.from_python(ast.parse(source))
        assert not any(isinstance(node, (ast.arg, ast.Constant)) for node in ast.walk(carried))
        again = [trees.to_python(statement) for statement in carried.body]
        assert "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in again) == ast.unparse(ast.parse(source))
