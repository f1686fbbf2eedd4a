"""Conditions of an If, written in Python over `item`, `items` and `len`, as expressions of our own and back.

In a `condition` node the items are `data`; so `items` becomes `data` and `item` becomes `data[0]`.
"""

from __future__ import annotations

import ast
import warnings
from typing import Final

from flowcabal_tui.domain.errors import ExpressionError
from flowcabal_tui.domain.expressions import FUNCTIONS, MAX_LENGTH, check
from flowcabal_tui.locale import _

_OURS: Final = ("data", "value", "values")
_AS_FUNCTIONS: Final = ("lower", "upper")


def to_expression(condition: str) -> str:
    """The expression that means the same; `condition_problem` says whether it is one that is evaluated.

    Raises ExpressionError for names and fields that have no counterpart.
    """
    tree = _parsed(condition)
    stored = _stored(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in stored:
            continue
        if node.id not in ("item", "items") and node.id not in FUNCTIONS:
            raise ExpressionError(
                condition, _("only item, items and len are known here, not {name}.").format(name=node.id)
            )
    made = ast.fix_missing_locations(_ToOurs(stored).visit(tree))
    for node in ast.walk(made):
        if isinstance(node, ast.Attribute):
            raise ExpressionError(
                condition, _("a field is written item['name']; .{name} is not known here.").format(name=node.attr[:60])
            )
    return ast.unparse(made)


def more_functions(condition: str) -> tuple[str, ...]:
    """Functions that a condition calls though SmartTavern knows only `len`: there it always takes the else branch."""
    names = {node.id for node in ast.walk(_parsed(condition)) if isinstance(node, ast.Name)}
    return tuple(name for name in FUNCTIONS if name in names and name != "len")


def from_expression(expression: str) -> str:
    """The condition in Python that means the same. Raises ExpressionError for other names than those of a flow."""
    tree = _parsed(expression)
    stored = _stored(tree)
    made = ast.fix_missing_locations(_ToPython(stored).visit(tree))
    for node in ast.walk(made):
        if isinstance(node, ast.Name) and node.id not in stored and node.id not in ("item", "items", "len"):
            raise ExpressionError(
                expression, _("only item, items and len are known here, not {name}.").format(name=node.id)
            )
    return ast.unparse(made)


def condition_problem(condition: str) -> str:
    """Why a condition cannot be carried over; empty when it can."""
    try:
        finding = check(to_expression(condition))
    except ExpressionError as error:
        return error.title
    return finding.message if finding else ""


def _parsed(text: str) -> ast.Expression:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(text, _("it is longer than {n} characters.").format(n=MAX_LENGTH))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(text, error.msg, error.offset or 0) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(text, _("it is nested too deep, or holds a forbidden sign.")) from error


def _stored(tree: ast.AST) -> frozenset[str]:
    """Names that one-line loops set."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if taken := stored.intersection(_OURS):
        raise ExpressionError(ast.unparse(tree)[:200], _("the name {name} is taken.").format(name=min(taken)))
    return frozenset(stored)


class _ToOurs(ast.NodeTransformer):
    def __init__(self, stored: frozenset[str]) -> None:
        self._stored = stored

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._stored:
            return node
        if node.id == "items":
            return ast.Name("data", ast.Load())
        return ast.Subscript(ast.Name("data", ast.Load()), ast.Constant(0), ast.Load()) if node.id == "item" else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`x.get(key, other)` and `x.lower()`: methods that have a counterpart."""
        made = self.generic_visit(node)
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.keywords:
            return made
        whole, method, given = made.func.value, made.func.attr, made.args
        if method == "get" and 1 <= len(given) <= 2:
            other = given[1] if len(given) == 2 else ast.Constant(None)
            there = ast.Compare(given[0], [ast.In()], [whole])
            guard = ast.BoolOp(ast.And(), [ast.Name("data", ast.Load()), there]) if _is_first(whole) else there
            return ast.IfExp(guard, ast.Subscript(whole, given[0], ast.Load()), other)
        if method in _AS_FUNCTIONS and not given:
            return ast.Call(ast.Name(method, ast.Load()), [whole], [])
        return made


def _is_first(node: ast.AST) -> bool:
    """Is it `data[0]`, which an empty list does not have?"""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "data"
        and isinstance(node.slice, ast.Constant)
        and node.slice.value == 0
    )


class _ToPython(ast.NodeTransformer):
    def __init__(self, stored: frozenset[str]) -> None:
        self._stored = stored

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return ast.Name("item", ast.Load()) if _is_first(node) else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        free = node.id == "data" and node.id not in self._stored
        return ast.Name("items", ast.Load()) if free else node
