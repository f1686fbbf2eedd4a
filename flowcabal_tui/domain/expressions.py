"""Expressions: JMESPath to query values, and a small safe language for conditions.

A condition is written as in Python: names, fields of objects (`result_of.plan.score`, `state["mood"]`), comparisons,
`and`/`or`/`not`, arithmetic, `x if c else y`, lists, one-line loops inside `any`, `all`, `sum`, and the functions `len
str int float min max abs any all sum round lower upper`. There are no attributes or methods, and length, nesting,
steps, numbers and texts are bounded, so a hostile document is refused at once.
"""

from __future__ import annotations

import ast
import operator
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from jmespath import exceptions as jmespath_errors
from jmespath.parser import Parser
from jmespath.visitor import TreeInterpreter
from simpleeval import EvalWithCompoundTypes, InvalidExpression  # type: ignore[import-untyped]  # it has no types

from flowcabal_tui.domain import paths
from flowcabal_tui.domain.errors import BindingError, ExpressionError
from flowcabal_tui.domain.formats import text_of
from flowcabal_tui.domain.paths import Part
from flowcabal_tui.domain.sizes import SizeBudget
from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _

MAX_LENGTH: Final = 2000
MAX_DEPTH: Final = 40
MAX_STEPS: Final = 100_000
MAX_ITEMS: Final = 100_000
MAX_TEXT: Final = 1_000_000
MAX_BITS: Final = 1024
MAX_SECONDS: Final = 2.0

_ALLOWED: Final = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add),
    *(ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE),
    *(ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot, ast.Name, ast.Load, ast.Store, ast.Constant, ast.List),
    *(ast.Tuple, ast.Subscript, ast.Slice, ast.Attribute, ast.Call, ast.IfExp, ast.ListComp, ast.GeneratorExp),
    ast.comprehension,
)
_CONSTANTS: Final = (str, int, float, bool, type(None))
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None, "none": None}


class _Refused(InvalidExpression):  # type: ignore[misc]  # simpleeval has no types
    """The expression exceeded a limit of this module."""


def query(expression: str, data: Any) -> Any:
    """The result of a JMESPath expression on a JSON value.

    Raises ExpressionError for a syntax error, with its column, and when it takes too many steps or too much memory.
    """
    parsed = _parsed_query(expression)
    try:
        found = _Interpreter().visit(parsed, data)
        SizeBudget().keep(found)
    except jmespath_errors.JMESPathError as error:
        raise ExpressionError(expression, str(error)[:300]) from error
    except BindingError as error:
        raise ExpressionError(expression, error.reason) from error
    except RecursionError as error:
        raise ExpressionError(expression, _("it is nested too deeply.")) from error
    except (_Refused, TypeError, ValueError, ArithmeticError, KeyError) as error:
        raise ExpressionError(expression, str(error)) from error
    return found


def check_query(expression: str, *, field: str = "") -> Problem | None:
    """The syntax error of a JMESPath expression; None when it is valid."""
    return _syntax_error(_parsed_query, expression, field)


def _parsed_query(expression: str) -> Any:
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(expression, _("it is longer than {n} characters.").format(n=MAX_LENGTH))
    try:
        return Parser().parse(expression).parsed
    except jmespath_errors.EmptyExpressionError as error:
        raise ExpressionError(expression, _("it is empty.")) from error
    except jmespath_errors.ArityError as error:
        raise ExpressionError(expression, str(error)) from error
    except jmespath_errors.IncompleteExpressionError as error:
        raise ExpressionError(expression, _("it is not complete."), len(expression) + 1) from error
    except jmespath_errors.LexerError as error:
        column = error.lexer_position + 1
        reason = _("{sign} is not expected; put names in other scripts than Latin in double quotes.")
        raise ExpressionError(expression, reason.format(sign=error.lexer_value), column) from error
    except jmespath_errors.ParseError as error:
        if error.token_type == "EOF":
            raise ExpressionError(expression, _("it is not complete."), len(expression) + 1) from error
        reason = _("{sign} is not expected here.").format(sign=error.token_value)
        raise ExpressionError(expression, reason, error.lex_position + 1) from error
    except (jmespath_errors.JMESPathError, ValueError) as error:
        raise ExpressionError(expression, str(error).splitlines()[0]) from error
    except RecursionError as error:
        raise ExpressionError(expression, _("it is nested too deeply.")) from error


class _Meter:
    """Counts steps; a long value counts as many. The processor time of this thread bounds single steps that take
    long."""

    def __init__(self) -> None:
        self.steps, self.end = MAX_STEPS, time.thread_time() + MAX_SECONDS

    def passed(self, value: Any) -> Any:
        """`value`, if its type and size are allowed and steps are left; raises otherwise."""
        self.steps -= 1
        if isinstance(value, (str, list, tuple, dict)):
            self.steps -= len(value) // 1000
            if len(value) > (MAX_TEXT if isinstance(value, str) else MAX_ITEMS):
                raise _Refused(_("a text or a list in the calculation is too long."))
        elif isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > MAX_BITS):
            raise _Refused(_("a number in the calculation is too large, or not real."))
        if self.steps < 0 or time.thread_time() > self.end:
            raise _Refused(_("it takes too many steps."))
        return value


class _Interpreter(TreeInterpreter):
    """JMESPath with a limit on steps and on the size of every intermediate value."""

    def __init__(self) -> None:
        super().__init__()
        self.meter = _Meter()

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        return self.meter.passed(super().visit(node, *args, **kwargs))


def truth(expression: str, names: Mapping[str, Any]) -> bool:
    """The truth value of a condition; raises ExpressionError, with the column of a syntax error."""
    return bool(evaluate(expression, names))


def evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of a condition's expression; raises ExpressionError."""
    tree = parsed(expression)
    try:
        return _Evaluator(names).eval(expression, tree.body)
    except (InvalidExpression, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise ExpressionError(expression, _reason(error)) from error
    except RecursionError as error:
        raise ExpressionError(expression, _("it is nested too deeply.")) from error


def _reason(error: Exception) -> str:
    if isinstance(error, LookupError):
        return _("{name} does not exist.").format(name=error)
    if isinstance(error, TypeError) and "support" in str(error):  # Python's words for `"5" > 3` and `"5" - 3`
        return _("texts, numbers, lists and objects cannot be mixed in a calculation or a comparison.")
    return str(error)


def check(expression: str, *, field: str = "") -> Problem | None:
    """The syntax error of a condition's expression; None when it is valid."""
    return _syntax_error(parsed, expression, field)


def _syntax_error(parse: Callable[[str], object], expression: str, field: str) -> Problem | None:
    try:
        parse(expression)
    except ExpressionError as error:
        return Problem(code="SYNTAX_ERROR", message=error.title, field=field)
    return None


def paths_in(expression: str) -> tuple[str, ...]:
    """The paths that a condition's expression reads (`result_of.plan.score`), in order; empty if it cannot be read."""
    try:
        tree = parsed(expression)
    except ExpressionError:
        return ()
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found = (paths.shown(parts) for _node, parts in placed_chains(tree) if parts[0] not in own)
    return tuple(dict.fromkeys(found))


def placed_chains(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[Part, ...]]]:
    """The longest chains of a name, fields and constant keys under a node, each with its syntax node."""
    parts: list[Part] = []
    whole = inner = node
    while isinstance(inner, (ast.Attribute, ast.Subscript)):
        if isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
        elif isinstance(inner.slice, ast.Constant) and isinstance(inner.slice.value, (str, int)):
            parts.append(inner.slice.value)
        else:
            yield from placed_chains(inner.slice)
            parts.clear()
            whole = inner.value
        inner = inner.value
    if isinstance(inner, ast.Name) and inner.id not in _WORDS and inner.id not in FUNCTIONS:
        if isinstance(whole, ast.expr):
            yield whole, (inner.id, *reversed(parts))
        return
    for child in ast.iter_child_nodes(inner):
        yield from placed_chains(child)


@lru_cache(maxsize=1000)
def parsed(expression: str) -> ast.Expression:
    """The syntax tree of an expression, shared: read it, do not change it. Raises ExpressionError."""
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(expression, _("it is longer than {n} characters.").format(n=MAX_LENGTH))
    if not expression.strip():
        raise ExpressionError(expression, _("it is empty."))
    indent = len(expression) - len(expression.lstrip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(expression, error.msg, indent + (error.offset or len(expression))) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(expression, _("it is nested too deeply, or contains a forbidden character.")) from error
    level: list[ast.AST] = [tree]
    for _depth in range(MAX_DEPTH):
        for node in level:
            if refusal := _refusal(node):
                raise ExpressionError(expression, refusal, indent + getattr(node, "col_offset", -1) + 1)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise ExpressionError(expression, _("it is nested more than {n} levels deep.").format(n=MAX_DEPTH))


def _refusal(node: ast.AST) -> str:
    if not isinstance(node, _ALLOWED):
        return _("{what} is not allowed here.").format(what=type(node).__name__)
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        return _("names that begin with _ are not allowed here.")
    if isinstance(node, ast.Constant) and not isinstance(node.value, _CONSTANTS):
        return _("only texts, numbers, True, False and None are allowed here.")
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            return _("only these functions are allowed: {names}").format(names=_(", ").join(FUNCTIONS))
        if node.keywords:
            return _("functions take no named values here.")
    return ""


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc]  # simpleeval has no types
    """simpleeval with object fields instead of attributes, and with the limits of this module."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(operators=OPERATORS, functions={}, names={**_WORDS, **names})
        self.functions = dict(FUNCTIONS)
        self.nodes[ast.Attribute] = self._field
        self.nodes[ast.Subscript] = self._item
        self.nodes[ast.Name] = self._named
        self.meter = _Meter()

    def _eval(self, node: ast.AST) -> Any:
        return self.meter.passed(self.nodes[type(node)](node))

    def _named(self, node: ast.Name) -> Any:
        if node.id not in self.names:
            known = _(", ").join(str(name) for name in self.names if name not in _WORDS)
            raise _Refused(_("there is no {name}. Available: {names}").format(name=node.id, names=known[:1000]))
        return self.names[node.id]

    def _field(self, node: ast.Attribute) -> Any:
        return _of(self._eval(node.value), node.attr)

    def _item(self, node: ast.Subscript) -> Any:
        return _of(self._eval(node.value), self._eval(node.slice))


def _of(value: Any, key: Any) -> Any:
    """A field of an object or of every item of a list, as in a path; an item or a part of a list or a text."""
    if isinstance(value, (list, tuple, str)) and isinstance(key, (int, slice)):
        return value[key]
    if isinstance(value, Mapping) and key in value:
        return value[key]
    if isinstance(key, str) and isinstance(value, (Mapping, list, str)):
        try:
            return paths.step(value, key)
        except BindingError as error:
            if error.available:
                known = _(", ").join(str(name) for name in error.available[:20])
                message = _("there is no {name}. Available: {names}").format(name=key[:60], names=known)
                raise _Refused(message) from error
    raise _Refused(_("{kind} has no field {name}.").format(kind=paths.kind(value), name=str(key)[:60]))


def _times(left: Any, right: Any) -> Any:
    for many, count in ((left, right), (right, left)):
        if isinstance(many, (str, list, tuple)) and isinstance(count, int) and len(many) * count > MAX_ITEMS:
            raise _Refused(_("a text or a list in the calculation is too long."))
    return left * right


def _plus(left: Any, right: Any) -> Any:
    if isinstance(left, (str, list, tuple)) and isinstance(right, type(left)) and len(left) + len(right) > MAX_TEXT:
        raise _Refused(_("a text or a list in the calculation is too long."))
    return left + right


def _power(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > MAX_BITS:
        raise _Refused(_("a number in the calculation is too large, or not real."))
    return left**right


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise _Refused(_("% works on numbers only."))
    return left % right


def _sum(values: list[int | float]) -> int | float:
    if any(not isinstance(value, (int, float)) for value in values):
        raise _Refused(_("sum works on numbers only."))
    return sum(values)


def _round(value: int | float, digits: int = 0) -> int | float:
    if abs(digits) > 20:
        raise _Refused(_("round works with at most 20 digits."))
    return round(value, digits) if digits else round(value)


def _lower(text: str) -> str:
    return str(text).lower()


def _upper(text: str) -> str:
    return str(text).upper()


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "len": len,
    "str": text_of,
    "int": int,
    "float": float,
    "min": min,
    "max": max,
    "abs": abs,
    "any": any,
    "all": all,
    "sum": _sum,
    "round": _round,
    "lower": _lower,
    "upper": _upper,
}
OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: _plus,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _remainder,
    ast.Pow: _power,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
