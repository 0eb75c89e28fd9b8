"""Python 2's statements and literals as Python 3 writes them, line by line: `print x`, `except E, e`, `0777`, backticks.

Nothing of Python 3 reads Python 2, its tokenizer included, so a pattern here takes a program apart. Every line stays where
it is, and so do the lines that errors name.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<space>    [ \t\f]+ | \\\r?\n )
  | (?P<comment>  \#[^\r\n]* )
  | (?P<newline>  \r?\n | \r )
  | (?P<string>   [uUbBrR]{0,2} (?: \"{3} (?:\\.|[^\\])*? \"{3} | '{3} (?:\\.|[^\\])*? '{3}
                                  | \" (?:\\.|[^\\\"\n])* \" | ' (?:\\.|[^\\'\n])* ' ) )
  | (?P<number>   (?: 0[xX][0-9a-fA-F]+ | 0[bB][01]+ | 0[oO][0-7]+
                    | (?: \d+\.\d* | \.\d+ | \d+ ) (?: [eE][+-]?\d+ )? ) [lLjJ]? )
  | (?P<name>     [^\W\d]\w* )
  | (?P<sign>     \*\*=? | //=? | >>=? | <<=? | <> | [-+*/%&|^=<>!]= | . )
    """,
    re.VERBOSE | re.DOTALL,
)
# What begins a statement that has others behind its colon.
_COMPOUND = frozenset("if elif else for while try except finally with def class".split())
_TAB = 8
_STAYS = 'end=" "'


class Token(NamedTuple):
    kind: str
    text: str


def read(source: bytes | str) -> str:
    """The text of a program; without a word on its encoding it is UTF-8, or where it can't be, Latin-1."""
    if isinstance(source, str):
        return source
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        return source.decode("latin-1")


def _tokens(text: str) -> list[Token]:
    return [Token(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text)]


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """The simple statements and the heads of compound ones, each with what comes before its first word and its end."""
    depth, lambdas, held, first = 0, 0, [], ""
    for token in tokens:
        held.append(token)
        if token.kind == "name":
            first = first or token.text
            lambdas += token.text == "lambda" and not depth
        elif token.kind == "sign":
            first = first or token.text
            depth += (token.text in "([{") - (token.text in ")]}")
        elif token.kind in ("string", "number"):
            first = first or token.text
        ends = token.kind == "newline" or token.text == ";"
        if token.text == ":" and token.kind == "sign" and not depth:
            ends = not lambdas and first in _COMPOUND
            lambdas -= bool(lambdas)
        if ends and not depth:
            yield held
            held, first, lambdas = [], "", 0
    yield held


def _inside(tokens: list[Token]) -> tuple[int, int]:
    """Where a statement's words begin and end, without space, comments and its end."""
    skipped = ("space", "comment", "newline")
    begin = next((i for i, t in enumerate(tokens) if t.kind not in skipped), len(tokens))
    end = len(tokens) - (bool(tokens) and tokens[-1].text in (";", ":"))
    while end > begin and tokens[end - 1].kind in skipped:
        end -= 1
    return begin, end


def _text(tokens: list[Token]) -> str:
    return "".join(token.text for token in tokens)


def _parts(tokens: list[Token], separators: tuple[str, ...] = (",",)) -> list[list[Token]]:
    """The tokens between separators that are inside no bracket."""
    depth, parts = 0, [[]]
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
        if not depth and token.text in separators and token.kind in ("sign", "name"):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _blank(tokens: list[Token]) -> bool:
    return all(token.kind in ("space", "comment", "newline") for token in tokens)


def _in_one_bracket(tokens: list[Token]) -> bool:
    """Whether all is inside one pair of parentheses."""
    depth, words = 0, [t for t in tokens if t.kind not in ("space", "comment", "newline")]
    for i, token in enumerate(words):
        depth += (token.text == "(") - (token.text == ")")
        if not depth and i < len(words) - 1:
            return False
    return bool(words) and words[0].text == "("


def _print(rest: list[Token]) -> str | None:
    words = [t for t in rest if t.kind != "space"]
    if words and (words[0].text in ("=", ".", ",") or words[0].text.endswith("=")):
        return None  # a name of the program's own
    file = ""
    if words and words[0].text == ">>":
        target, *more = _parts(rest[rest.index(words[0]) + 1 :])
        file, rest = f"file={_text(target).strip()}", [t for part in more for t in (Token("sign", ","), *part)][1:]
    elif _in_one_bracket(rest):
        inner = rest[rest.index(words[0]) + 1 : -1]
        called = len(_parts(inner)) == 1 or len(_parts(inner, ("=", "*"))) > 1  # as a function, in both Pythons or in 3
        return None if called else f"print({_text(rest).strip()})"
    parts = _parts(rest)
    stays = len(parts) > 1 and _blank(parts[-1])
    shown = ",".join(map(_text, parts[:-1] if stays else parts)).strip()
    return f"print({', '.join(filter(None, (shown, file, _STAYS if stays else '')))})"


def _raise(rest: list[Token]) -> str | None:
    kind, *more = (_text(part).strip() for part in _parts(rest))
    if not more:
        return None
    value = more[0] if more[0].startswith("(") else f"({more[0]})"
    return f"raise {kind}{value}" + (f".with_traceback({more[1]})" if len(more) > 1 else "")


def _except(rest: list[Token]) -> str | None:
    parts = _parts(rest)
    return f"except {_text(parts[0]).strip()} as {_text(parts[1]).strip()}" if len(parts) == 2 else None


def _exec(rest: list[Token]) -> str | None:
    if _in_one_bracket(rest):
        return None
    code, *where = _parts(rest, ("in",))
    names = ", ".join(_text(part).strip() for part in where)
    return f"exec({_text(code).strip()}{', ' + names if names else ''})"


_STATEMENTS = {"print": _print, "raise": _raise, "except": _except, "exec": _exec}


def _literals(token: Token) -> Token:
    """A number, string or sign as Python 3 writes it."""
    if token.kind == "number":
        text = token.text.rstrip("lL")
        return Token("number", f"0o{text[1:]}" if re.fullmatch(r"0[0-7]*[1-7][0-7]*", text) else text)
    if token.kind == "string":
        return Token("string", re.sub(r"^[uU](?=[rR])", "", token.text))
    return Token("sign", "!=") if token.text == "<>" else token


def _without_backticks(tokens: list[Token]) -> list[Token]:
    opened, found = False, []
    for token in tokens:
        if token.text == "`" and token.kind == "sign":
            opened = not opened
            found += [Token("name", "repr"), Token("sign", "(")] if opened else [Token("sign", ")")]
        else:
            found.append(token)
    return found


def _without_tuple_parameters(tokens: list[Token]) -> list[Token]:
    """`lambda (k, v): v` as `lambda _k_v: (lambda k, v: v)(*_k_v)`."""
    for at, token in enumerate(tokens):
        after = next((i for i in range(at + 1, len(tokens)) if tokens[i].kind != "space"), None)
        if token.text != "lambda" or after is None or tokens[after].text != "(":
            continue
        close = _closing(tokens, after)
        colon = next(i for i in range(close, len(tokens)) if tokens[i].text == ":")
        end = _end_of_expression(tokens, colon + 1)
        inner = tokens[after + 1 : close]
        name = "_" + "_".join(t.text for t in inner if t.kind == "name")
        made = f"lambda {name}: (lambda {_text(inner)}:{_text(tokens[colon + 1 : end])})(*{name})"
        return _without_tuple_parameters([*tokens[:at], *_tokens(made), *tokens[end:]])
    return tokens


def _closing(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}") if tokens[i].kind == "sign" else 0
        if not depth:
            return i
    return len(tokens) - 1


def _end_of_expression(tokens: list[Token], begin: int) -> int:
    depth = 0
    for i in range(begin, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
            if depth < 0 or (not depth and tokens[i].text in ",;"):
                return i
        elif tokens[i].kind == "newline" and not depth:
            return i
    return len(tokens)


def _converted(statement: list[Token], prints: bool) -> str:
    begin, end = _inside(statement)
    word = statement[begin].text if begin < end else ""
    if word in _STATEMENTS and (word != "print" or prints):
        made = _STATEMENTS[word](statement[begin + 1 : end])
        if made is not None:
            lost = _text(statement[begin:end]).count("\n") - made.count("\n")
            return _text(statement[:begin]) + made + _text(statement[end:]) + "\n" * lost
    return _text(statement)


def _expanded(text: str) -> str:
    """Tabs at the beginnings of lines, which Python 2 takes for as many spaces as there are to the next eighth column."""
    found, fresh = [], True
    for token in _tokens(text):
        is_margin = fresh and token.kind == "space" and "\\" not in token.text
        found.append(token.text.expandtabs(_TAB) if is_margin else token.text)
        fresh = token.kind == "newline"
    return "".join(found)


def convert(source: bytes | str) -> str:
    """A Python 2 program in Python 3's syntax; what is in both stays as it is."""
    text = _expanded(read(source))
    prints = not re.search(r"^\s*from\s+__future__\s+import\b[^\n#]*\bprint_function\b", text, re.MULTILINE)
    tokens = _without_tuple_parameters(_without_backticks([_literals(token) for token in _tokens(text)]))
    return "".join(_converted(statement, prints) for statement in _statements(tokens))


class Change(NamedTuple):
    line: int
    before: str
    after: str


def changes(source: bytes | str) -> list[Change]:
    """The lines that Python 3 needs changed."""
    before, after = read(source).splitlines(), convert(source).splitlines()
    return [Change(n, b.strip(), a.strip()) for n, (b, a) in enumerate(zip(before, after), 1) if b != a]
