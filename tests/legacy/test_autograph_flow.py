"""`autograph.pyct`: which statement may follow which, where values come from, and how long they are needed."""

from __future__ import annotations

import textwrap

import pytest

import tests.served  # noqa: F401

# isort: off
from tensorflow.python.autograph.core import converter, naming
from tensorflow.python.autograph.pyct import anno, ast_util, cfg, compiler, origin_info, parser, pretty_printer
from tensorflow.python.autograph.pyct import qual_names, transformer
# isort: on

CODE = """
def f(a, items):
    total = 0
    while a > 0:
        try:
            if a == 3:
                break
            total += a
        finally:
            a -= 1
    for each in items:
        total = each
    return total
"""


def tree(source=CODE):
    return parser.parse_str(textwrap.dedent(source))


def analyzed(source=CODE):
    info = transformer.EntityInfo("", None, (), {})
    program = converter.ProgramContext(converter.ConversionOptions(recursive=True), None)
    context = converter.EntityContext(naming.Namer({}), info, program)
    return converter.standard_analysis(tree(source), context, is_initial=True)


def names(found):
    return {str(name) for name in found}


class TestGraphs:
    def test_jumps_pass_what_is_done_at_last(self):
        node = tree()
        graph = cfg.build(node)[node]
        edges = {repr(n): {repr(after) for after in n.next} for n in graph.index.values()}
        assert edges["break"] == {"a -= 1"}
        assert edges["a -= 1"] == {"a > 0", "items"}
        assert edges["items"] == {"total = each", "return total"}
        assert names(map(repr, graph.exit)) == {"return total"} and not graph.error

    def test_statements_know_what_is_around_them(self):
        node = tree()
        graph = cfg.build(node)[node]
        loop = node.body[1]
        assert {repr(n) for n in graph.stmt_prev[loop]} == {"total = 0"}
        assert {repr(n) for n in graph.stmt_next[loop]} == {"items"}

    def test_walks_go_on_until_nothing_changes(self):
        class Counting(cfg.GraphVisitor):
            def init_state(self, node):
                return 0

            def visit_node(self, node):
                self.out[node] += 1
                return self.out[node] < 3

        (graph,) = cfg.build(tree("def f(a):\n  while a:\n    a -= 1")).values()
        walk = Counting(graph)
        walk.visit_forward()
        assert {repr(n): walk.out[n] for n in graph.index.values()}["a -= 1"] > 1


class TestNames:
    def test_where_values_come_from(self):
        node = analyzed()
        returned = node.body[-1].value
        assert len(anno.getanno(returned, anno.Static.DEFINITIONS)) == 3
        assert names(anno.getanno(node.body[1], anno.Static.DEFINED_VARS_IN)) == {"a", "items", "total"}

    def test_how_long_they_are_needed(self):
        node = analyzed()
        assert names(anno.getanno(node.body[1], anno.Static.LIVE_VARS_IN)) == {"a", "items", "total"}
        assert names(anno.getanno(node.body[1], anno.Static.LIVE_VARS_OUT)) == {"items", "total"}

    def test_methods_of_classes_in_functions_see_what_is_around(self):
        node = analyzed("def f(a):\n  class C:\n    def m(self):\n      return a\n  return C")
        read = node.body[0].body[0].body[0].value
        assert len(anno.getanno(read, anno.Static.DEFINITIONS)) == 1


class TestTools:
    def test_names_are_renamed_and_copies_are_clean(self):
        node = qual_names.resolve(tree("a.b = a.b.c"))
        renamed = ast_util.rename_symbols(node, {qual_names.from_str("a.b"): qual_names.QN("z")})
        assert compiler.ast_to_source(renamed, include_encoding_marker=False).strip() == "z = z.c"
        assert not anno.keys(ast_util.copy_clean(renamed).targets[0])

    def test_patterns(self):
        call = parser.parse_expression("super(A, self).f(1, 2)")
        assert ast_util.matches(call, "super(_).f(_)") and not ast_util.matches(call, "super(_).g(_)")

    def test_trees_that_differ_are_not_walked_together(self):
        with pytest.raises(ValueError, match="alike"):
            list(ast_util.parallel_walk(tree("f(a)"), tree("f(a, b)")))

    def test_lines_are_known(self):
        node, source = parser.parse_entity(analyzed, ())
        origin_info.resolve_entity(node, source, analyzed)
        origin = anno.getanno(node.body[-1], anno.Basic.ORIGIN)
        assert origin.function_name == "analyzed" and origin.source_code_line.strip().startswith("return")
        mapped = origin_info.create_source_map(node, compiler.ast_to_source(node, include_encoding_marker=False), "f")
        assert {origin.loc.lineno for origin in mapped.values()} >= {origin.loc.lineno}

    def test_trees_as_text(self):
        assert pretty_printer.fmt(tree("x = 'a'"), color=False).splitlines()[-1] == '| | s=u"a"'
