"""Jinja as VelvetFlow's documents use it: texts with `{{ ... }}`, and expressions, converted into our own language.

A name, its fields and keys are a path; filters with an equivalent become functions. Everything else is refused with a
reason, never passed on as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.expressions import FUNCTIONS
from flowcabal_tui.domain.paths import Part
from flowcabal_tui.domain.renaming import written
from flowcabal_tui.locale import _

Rename = Callable[[tuple[Part, ...]], tuple[Part, ...]]
_TOKEN: Final = re.compile(
    r"""(?:(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<number>\d+\.\d+|\d+)|(?P<name>[^\W\d]\w*)"""
    r"""|(?P<sign>\*\*|//|==|!=|<=|>=|[-+*/%<>()\[\]{},:.|~=]))"""
)
_OPENING: Final = re.compile(r"\{\{|\{%|\{#")
_MOST_INNER: Final = 4000
"""Characters between braces that are read."""
_WORDS: Final = {"true": "True", "false": "False", "none": "None", "null": "None"}
_WORDS_TOO: Final = {word.title(): meant for word, meant in _WORDS.items()}
_CONSTANTS: Final = {**_WORDS, **_WORDS_TOO}
_OPERATORS: Final = ("and", "or", "not", "in", "is", "if", "else")
_COMPARED: Final = ("==", "!=", "<", "<=", ">", ">=")
_FILTERS: Final = {"length": "len", "count": "len", "string": "str"}
_PLAIN: Final = ("upper", "lower", "int", "float", "abs", "round", "min", "max", "sum")
_MAX_DEPTH: Final = 60


class JinjaError(Exception):
    """Text that cannot be parsed or expressed in our language; `code` is that of a finding."""

    def __init__(self, reason: str, code: str = "NOT_CARRIED_OVER") -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: literal text, or the text between `{{` and `}}`."""

    text: str
    inner: bool = False


def pieces(text: str) -> list[Piece]:
    """The parts of a text. Raises JinjaError for blocks, comments, and for braces that are unclosed or empty."""
    found: list[Piece] = []
    at = 0
    while opening := _OPENING.search(text, at):
        if opening[0] != "{{":
            raise JinjaError(_("Jinja blocks and comments ({sign}) are not supported.").format(sign=opening[0]))
        end = _closing(text, opening.end())
        if end < 0:
            message = _("The braces are not closed: {text}").format(text=text[opening.start() :][:60])
            raise JinjaError(message, "SYNTAX_ERROR")
        inner = text[opening.end() : end].removeprefix("-").removesuffix("-").strip()
        if not inner:
            raise JinjaError(_("There is nothing between the braces."), "SYNTAX_ERROR")
        found += [Piece(text[at : opening.start()])] if text[at : opening.start()] else []
        found.append(Piece(inner, True))
        at = end + 2
    return found + ([Piece(text[at:])] if text[at:] else [])


def _closing(text: str, at: int) -> int:
    """The place of `}}` outside quotes; -1 when there is none nearby."""
    quote = ""
    for place in range(at, min(len(text), at + _MOST_INNER)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote and text[place - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif text.startswith("}}", place):
            return place
    return -1


@dataclass(frozen=True, slots=True)
class Filtered:
    """A path and the filters behind it, each with its arguments; texts and numbers only."""

    path: str
    filters: tuple[tuple[str, tuple[str | int | float, ...]], ...]


def filtered(inner: str) -> Filtered | None:
    """`path | name | name(argument)`, in brackets or not; None for anything else."""
    path, *rest = _split(_bare(inner), "|")
    found = []
    for one in rest:
        match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", one, re.DOTALL)
        if not match:
            return None
        try:
            values = tuple(_constant(part) for part in _split(match[2], ",")) if (match[2] or "").strip() else ()
        except ValueError:
            return None
        found.append((match[1], values))
    return Filtered(_bare(path), tuple(found)) if rest else None


def _bare(text: str) -> str:
    """`text` without brackets around the whole of it."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    """True when the bracket that opens the text closes at its very end."""
    depth = 0
    for number, sign in enumerate(_unquoted(text)):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return number == len(text) - 1
    return False


def _unquoted(text: str) -> str:
    return re.sub(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", lambda match: "_" * len(match[0]), text)


def _split(text: str, sign: str) -> list[str]:
    """`text` at every `sign` outside quotes and brackets."""
    plain, depth, at = _unquoted(text), 0, 0
    found = []
    for number, each in enumerate(plain):
        depth += (each in "([") - (each in ")]")
        if each == sign and not depth:
            found.append(text[at:number])
            at = number + 1
    return [*found, text[at:]]


def _constant(text: str) -> str | int | float:
    text = text.strip()
    if text[:1] in ("'", '"'):
        return _read(text)
    number: int | float = float(text) if "." in text else int(text)
    return number


def _read(quoted: str) -> str:
    """A text in quotes, with `\\n` and the like."""
    if len(quoted) < 2 or quoted[0] != quoted[-1]:
        raise ValueError(quoted)
    inner = re.sub(
        r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), quoted[1:-1], flags=re.DOTALL
    )
    return inner


def expression(text: str, rename: Rename) -> str:
    """Our expression for Jinja's, with the parts of every path renamed. Raises JinjaError."""
    reader = _Reader(list(_tokens(text)), rename)
    made = reader.whole()
    if reader.token is not None:
        raise JinjaError(_("{sign} is not expected here.").format(sign=reader.token[1]), "SYNTAX_ERROR")
    return made


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = _TOKEN.match(text, at)
        if not match:
            raise JinjaError(_("{sign} is not expected here.").format(sign=text[at:].strip()[:1]), "SYNTAX_ERROR")
        yield str(match.lastgroup), match[str(match.lastgroup)]
        at = match.end()


class _Reader:
    """Reads by precedence, from the loosest on; every step returns the text of our expression."""

    def __init__(self, tokens: Sequence[tuple[str, str]], rename: Rename) -> None:
        self._tokens, self._at, self._rename, self._depth = tokens, 0, rename, 0
        self._made = 0

    @property
    def token(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def is_(self, *signs: str) -> bool:
        return self.token is not None and self.token[0] in ("sign", "name") and self.token[1] in signs

    def take(self, *signs: str) -> str:
        """The sign that comes next, if it is one of these; else "", and nothing is taken."""
        if not self.is_(*signs):
            return ""
        self._at += 1
        return self._tokens[self._at - 1][1]

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise JinjaError(_("{sign} is missing.").format(sign=sign), "SYNTAX_ERROR")

    def whole(self) -> str:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise JinjaError(_("it is nested too deeply."))
        made = self.either()
        if self.take("if"):
            condition = self.either()
            self.need("else")
            made = f"({made} if {condition} else {self.whole()})"
        self._depth -= 1
        return made

    def either(self) -> str:
        return self.joined(("or",), lambda: self.joined(("and",), self.negated))

    def joined(self, signs: tuple[str, ...], part: Callable[[], str]) -> str:
        made = part()
        while sign := self.take(*signs):
            made = f"({made} {sign} {part()})"
        return made

    def negated(self) -> str:
        if self.take("not"):
            return f"(not {self.negated()})"
        return self.compared()

    def compared(self) -> str:
        made = self.sum_of()
        parts = [made]
        while True:
            if sign := self.take(*_COMPARED, "in"):
                parts += [sign, self.sum_of()]
            elif self.is_("not") and self._tokens[self._at + 1 : self._at + 2] == [("name", "in")]:
                self._at += 2
                parts += ["not in", self.sum_of()]
            elif self.take("is"):
                parts = [self.tested(" ".join(parts))]
            else:
                return parts[0] if len(parts) == 1 else f"({' '.join(parts)})"

    def tested(self, made: str) -> str:
        negated = bool(self.take("not"))
        name = self.token[1] if self.token and self.token[0] == "name" else ""
        self._at += 1
        tests = {"none": f"({made} is None)", "true": f"({made} is True)", "false": f"({made} is False)"}
        tests |= {"even": f"({made} % 2 == 0)", "odd": f"({made} % 2 == 1)"}
        if name.lower() not in tests:
            raise JinjaError(_("The test {name} is not supported here.").format(name=name or "?"))
        return f"(not {tests[name.lower()]})" if negated else tests[name.lower()]

    def sum_of(self) -> str:
        return self.joined(("+", "-"), self.text_of)

    def text_of(self) -> str:
        """`~` puts texts together."""
        made = self.product()
        while self.take("~"):
            made = f"(str({made}) + str({self.product()}))"
        return made

    def product(self) -> str:
        return self.joined(("*", "/", "//", "%"), self.signed)

    def signed(self) -> str:
        if sign := self.take("-", "+"):
            return f"({sign}{self.signed()})"
        made = self.piped(self.single())
        if self.take("**"):
            made = f"({made} ** {self.signed()})"
        return made

    def single(self) -> str:
        if self.token is None:
            raise JinjaError(_("it is not complete."), "SYNTAX_ERROR")
        kind, text = self.token
        if kind in ("text", "number"):
            self._at += 1
            return self.behind(json.dumps(_read(text), ensure_ascii=False) if kind == "text" else text)
        if self.take("("):
            made = self.whole()
            many = [made]
            while self.take(","):
                many.append(self.whole())
            self.need(")")
            return self.behind(f"({made})" if len(many) == 1 else f"[{', '.join(many)}]")
        if self.take("["):
            many = []
            while not self.is_("]"):
                many.append(self.whole())
                if not self.take(","):
                    break
            self.need("]")
            return self.behind(f"[{', '.join(many)}]")
        if kind == "name" and text in _CONSTANTS:
            self._at += 1
            return _CONSTANTS[text]
        if kind == "name" and text not in _OPERATORS:
            return self.named()
        raise JinjaError(_("{sign} is not expected here.").format(sign=text), "SYNTAX_ERROR")

    def named(self) -> str:
        """A path, or a function."""
        name = self._tokens[self._at][1]
        self._at += 1
        if self.take("("):
            if name not in FUNCTIONS:
                raise JinjaError(_("The function {name} is not supported here.").format(name=name))
            return self.behind(f"{name}({', '.join(self.arguments())})")
        parts: list[Part] = [name]
        while True:
            after = [text for _kind, text in self._tokens[self._at : self._at + 3]]
            kinds = [kind for kind, _text in self._tokens[self._at : self._at + 3]]
            if after[:1] == ["."] and kinds[1:2] in (["name"], ["number"]) and after[2:3] != ["("]:
                parts.append(int(after[1]) if kinds[1] == "number" else after[1])
                self._at += 2
            elif after[:1] == ["["] and after[2:3] == ["]"] and kinds[1] in ("text", "number"):
                parts.append(_read(after[1]) if kinds[1] == "text" else int(float(after[1])))
                self._at += 3
            else:
                return self.behind(written(self._rename(tuple(parts))))

    def behind(self, made: str) -> str:
        """Fields, keys, parts and methods behind a value."""
        while True:
            if self.take("["):
                made = f"{made}[{self.key()}]"
            elif self.take("."):
                name = self._tokens[self._at][1] if self.token else ""
                self._at += 1
                field = json.dumps(name, ensure_ascii=False)
                made = self.method(made, name) if self.take("(") else f"{made}[{field}]"
            else:
                return made

    def key(self) -> str:
        begin = "" if self.is_(":") else self.whole()
        if not self.take(":"):
            self.need("]")
            return begin
        end = "" if self.is_("]") else self.whole()
        self.need("]")
        return f"{begin}:{end}"

    def method(self, made: str, name: str) -> str:
        given = self.arguments()
        if name in ("lower", "upper") and not given:
            return f"{name}({made})"
        raise JinjaError(_("The method {name} is not supported here.").format(name=name))

    def arguments(self) -> list[str]:
        found: list[str] = []
        while not self.is_(")"):
            found.append(self.whole())
            if not self.take(","):
                break
        self.need(")")
        return found

    def piped(self, made: str) -> str:
        while self.take("|"):
            name = self.token[1] if self.token and self.token[0] == "name" else ""
            self._at += 1
            made = self.behind(self.through(made, name))
        return made

    def through(self, made: str, name: str) -> str:
        """A value through a filter."""
        bare = not self.take("(") or bool(self.take(")"))
        if not bare and name in ("map", "sum", "min", "max") and (attribute := self.attribute()):
            self._made += 1
            one = f"each{self._made}"
            many = f"[{written((one, *attribute))} for {one} in {made}]"
            return many if name == "map" else f"{name}({many})"
        if bare:
            if name in _FILTERS or name in _PLAIN:
                return f"{_FILTERS.get(name, name)}({made})"
            if name in ("first", "last"):
                return f"{made}[{0 if name == 'first' else -1}]"
            if name == "list":
                return made
        raise JinjaError(_("The filter {name} is not supported here.").format(name=name or "?"))

    def attribute(self) -> tuple[Part, ...]:
        """The path in `attribute='a.b')`; () for other arguments."""
        kinds, words = zip(*self._tokens[self._at : self._at + 4], strict=True) if self.token else ((), ())
        if words[:2] != ("attribute", "=") or kinds[2:3] != ("text",) or words[3:] != (")",):
            return ()
        self._at += 4
        return tuple(_read(words[2]).split("."))
