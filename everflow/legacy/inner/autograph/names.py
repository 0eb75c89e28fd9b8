"""`pyct.qual_names` and `core.naming`: names with attributes and subscripts as values, and names that are free."""

from __future__ import annotations

import enum
import itertools
from typing import NamedTuple

from everflow.legacy.inner.autograph import annotations as anno
from everflow.legacy.inner.autograph import sources, trees
from everflow.legacy.inner.autograph.trees import nodes


class Symbol(NamedTuple):
    """A name by itself."""

    name: str


class StringLiteral(NamedTuple):
    """A string between brackets."""

    value: str

    def __str__(self):
        return repr(self.value)

    __repr__ = __str__


class NumberLiteral(NamedTuple):
    """A number between brackets."""

    value: float

    def __str__(self):
        return str(self.value)

    __repr__ = __str__


class QN:
    """A qualified name: `a`, `a.b`, `a.b[c]`. Equal names are equal, so that sets of them say what code reads and writes."""

    def __init__(self, base, attr=None, subscript=None):
        if attr is not None and subscript is not None:
            raise ValueError(f"a name ends in an attribute or in a subscript, not in both: {attr!r}, {subscript!r}")
        self._has_attr, self._has_subscript = attr is not None, subscript is not None
        if self._has_attr or self._has_subscript:
            if not isinstance(base, QN):
                raise ValueError(f"what has an attribute or a subscript is a QN itself, not {base!r}")
            self._parent, self.qn = base, (base, attr if self._has_attr else subscript)
        elif isinstance(base, (str, StringLiteral, NumberLiteral)):
            assert not isinstance(base, str) or not set(".[]") & set(base), (
                f"{base!r} isn't one name: build it part by part"
            )
            self._parent, self.qn = None, (base,)
        else:
            raise ValueError(f"a name by itself is a string or a literal, not {type(base).__name__}")

    def is_symbol(self):
        """Whether it is one identifier."""
        return isinstance(self.qn[0], str)

    def is_simple(self):
        """Whether it has one part."""
        return len(self.qn) == 1

    def is_composite(self):
        """Whether it has several."""
        return len(self.qn) > 1

    def has_subscript(self):
        """Whether it ends in brackets."""
        return self._has_subscript

    def has_attr(self):
        """Whether it ends in an attribute."""
        return self._has_attr

    @property
    def parent(self):
        """The name without its last part."""
        if self._parent is None:
            raise ValueError(f'"{self.qn[0]}" is one name, which has nothing before it')
        return self._parent

    @property
    def owner_set(self):
        """All names that this one is a part of."""
        owners, name = set(), self
        while name.is_composite():
            name = name.parent
            owners.add(name)
        return owners

    @property
    def support_set(self):
        """The simple names that must be there for this one to mean something."""
        if not self.is_composite():
            return {self}
        roots = set(self.parent.support_set)
        return roots | self.qn[-1].support_set if self._has_subscript else roots

    def __hash__(self):
        return hash((self.qn, self._has_attr, self._has_subscript))

    def __eq__(self, other):
        return isinstance(other, QN) and (self.qn, self._has_attr, self._has_subscript) == (
            other.qn,
            other.has_attr(),
            other.has_subscript(),
        )

    def __str__(self):
        if self._has_subscript:
            return f"{self.qn[0]}[{self.qn[1]}]"
        return ".".join(map(str, self.qn))

    __repr__ = __str__

    def ssf(self):
        """It as an identifier: `a.b[c]` is `a_b_sub_c`."""
        first, *rest = (part.ssf() if isinstance(part, QN) else part for part in self.qn)
        return first + "".join(("_sub_" if self._has_subscript else "_") + part for part in rest)

    def ast(self):
        """Its node. What it is for, reading or writing, is left to whoever puts it somewhere."""
        if self._has_subscript:
            return trees.subscript(self.parent.ast(), self.qn[1].ast(), None)
        if self._has_attr:
            return nodes.Attribute(self.parent.ast(), self.qn[1], None)
        base = self.qn[0]
        return trees.name(base) if isinstance(base, str) else trees.constant(base.value)


class QnResolver(nodes.NodeTransformer):
    """Notes on every name of a tree which one it is."""

    def visit_Name(self, node):
        return self._noted(node, lambda: QN(node.id))

    def visit_Attribute(self, node):
        return self._noted(node, lambda: self._part(node, attr=node.attr))

    def visit_Subscript(self, node):
        return self._noted(node, lambda: self._part(node, subscript=self._index(node)))

    def _noted(self, node, name):
        """The node, its parts noted, and itself if it has a name."""
        self.generic_visit(node)
        found = name()
        if found is not None:
            anno.setanno(node, anno.Basic.QN, found)
        return node

    @staticmethod
    def _part(node, **part):
        """The name of a part of something, where both have one."""
        owner = anno.getanno(node.value, anno.Basic.QN, None)
        return None if owner is None or None in part.values() else QN(owner, **part)

    @staticmethod
    def _index(node):
        index = trees.index_of(node)
        if index is None:
            return None
        if trees.is_constant(index):
            value = trees.constant_value(index)
            if isinstance(value, (str, int, float)):
                return QN(StringLiteral(value) if isinstance(value, str) else NumberLiteral(value))
        return anno.getanno(index, anno.Basic.QN, None)


def resolve(node):
    """The tree with its names noted."""
    return QnResolver().visit(node)


def from_str(qn_str):
    """The name that an expression such as `"a.b[1]"` is."""
    return anno.getanno(resolve(sources.parse_expression(qn_str)), anno.Basic.QN)


class _NamingStyle(enum.Enum):
    SNAKE = 1
    CAMEL = 2


class Namer:
    """Makes names that nothing else has."""

    def __init__(self, global_namespace):
        self.global_namespace = global_namespace
        self.generated_names = set()

    def _as_symbol_name(self, fqn, style=_NamingStyle.SNAKE):
        parts = [str(part).replace(".", "_") for part in fqn] if isinstance(fqn, (list, tuple)) else fqn.split(".")
        if style is _NamingStyle.CAMEL:
            return "".join(part[:1].upper() + part[1:] for part in parts)
        return "_".join(parts)

    def class_name(self, original_fqn):
        """The name of a class made from this one."""
        return self._free("Tf" + self._as_symbol_name(original_fqn, _NamingStyle.CAMEL), ())

    def function_name(self, original_fqn):
        """The name of a function made from this one."""
        return self._free("tf__" + self._as_symbol_name(original_fqn), ())

    def new_symbol(self, name_root, reserved_locals):
        """A name that begins so; neither global, nor made before, nor one of `reserved_locals`."""
        reserved = set()
        for name in reserved_locals:
            if not isinstance(name, (str, QN)):
                raise ValueError(f"reserved names are strings or QNs, not {name!r}")
            reserved.add(str(name))
        made = self._free(name_root, reserved)
        self.generated_names.add(made)
        return made

    def _free(self, root, reserved):
        stem, _, last = root.rpartition("_")
        stem = stem if stem and last.isdigit() else root
        for made in itertools.chain((root, stem), (f"{stem}_{number}" for number in itertools.count(1))):
            if made not in self.global_namespace and made not in reserved and made not in self.generated_names:
                return made
