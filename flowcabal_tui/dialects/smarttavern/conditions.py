"""Converts conditions of an If, written in Python over `item`, `items` and `len`, into our expressions and back.

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


def to_expression(condition: str) -> str:
    """The equivalent expression; `condition_problem` shows whether it can be evaluated.

    Raises ExpressionError for names and fields that have no counterpart.
    """
    tree = _parsed(condition)
    stored = _stored(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in stored:
            continue
        if node.id not in ("item", "items") and node.id not in FUNCTIONS:
            raise ExpressionError(
                condition, _("only item, items and len are available here, not {name}.").format(name=node.id)
            )
    made = ast.fix_missing_locations(_ToOurs(stored).visit(tree))
    for node in ast.walk(made):
        if isinstance(node, ast.Attribute):
            raise ExpressionError(
                condition, _("write a field as item['name']; .{name} is unknown here.").format(name=node.attr[:60])
            )
    return ast.unparse(made)


def more_functions(condition: str) -> tuple[str, ...]:
    """Functions in a condition other than `len`, the only one that SmartTavern knows: there, the else branch is always
    taken."""
    names = {node.id for node in ast.walk(_parsed(condition)) if isinstance(node, ast.Name)}
    return tuple(name for name in FUNCTIONS if name in names and name != "len")


def from_expression(expression: str) -> str:
    """The equivalent condition in Python. Raises ExpressionError for names that a flow does not have."""
    tree = _parsed(expression)
    stored = _stored(tree)
    made = ast.fix_missing_locations(_ToPython(stored).visit(tree))
    for node in ast.walk(made):
        if isinstance(node, ast.Name) and node.id not in stored and node.id not in ("item", "items", "len"):
            raise ExpressionError(
                expression, _("only item, items and len are available here, not {name}.").format(name=node.id)
            )
    return ast.unparse(made)


def condition_problem(condition: str) -> str:
    """The reason why a condition cannot be converted; "" when it can."""
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
        raise ExpressionError(text, _("it is nested too deeply, or contains a forbidden character.")) from error


def _stored(tree: ast.AST) -> frozenset[str]:
    """Names that one-line loops set."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if taken := stored.intersection(_OURS):
        raise ExpressionError(ast.unparse(tree)[:200], _("the name {name} is taken.").format(name=min(taken)))
    return frozenset(stored)


class _ToOurs(ast.NodeTransformer):
    """Names, and the methods that have a counterpart."""

    def __init__(self, stored: frozenset[str]) -> None:
        self._stored = stored

    def _is_item(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == "item" and node.id not in self._stored

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """For an empty list `item` is an empty object there, so it is written as an expression with that value."""
        if self._is_item(node):
            return _item()
        return _data() if node.id == "items" and node.id not in self._stored else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not self._is_item(node.value):
            return self.generic_visit(node)
        return ast.Subscript(_first(), self.visit(node.slice), ast.Load())

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return ast.List([self.visit(element) for element in node.elts], ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            return self.generic_visit(node)
        of_item = self._is_item(node.func.value)
        whole = _first() if of_item else self.visit(node.func.value)
        given = [ast.List([], ast.Load()) if _empty_object(one) else self.visit(one) for one in node.args]
        made = _method(node.func.attr, whole, given, of_item)
        return ast.Call(ast.Attribute(whole, node.func.attr, ast.Load()), given, []) if made is None else made


def _method(name: str, whole: ast.expr, given: list[ast.expr], of_item: bool) -> ast.expr | None:
    """The equivalent of a method call; None when there is none."""
    match name, given:
        case ("get", [key] | [key, _]):
            there = ast.Compare(key, [ast.In()], [_item() if of_item else whole])
            other = given[1] if len(given) == 2 else ast.Constant(None)
            return ast.IfExp(there, ast.Subscript(whole, key, ast.Load()), other)
        case ("lower" | "upper", []):
            return ast.Call(ast.Name(name, ast.Load()), [whole], [])
        case ("startswith", [part]):
            return ast.Compare(ast.Subscript(whole, ast.Slice(None, _length(part)), ast.Load()), [ast.Eq()], [part])
        case ("endswith", [part]):
            start = ast.BinOp(_length(whole), ast.Sub(), _length(part))
            long_enough = ast.Compare(start, [ast.GtE()], [ast.Constant(0)])
            end = ast.Compare(ast.Subscript(whole, ast.Slice(start), ast.Load()), [ast.Eq()], [part])
            return ast.BoolOp(ast.And(), [long_enough, end])
    return None


def _item() -> ast.expr:
    return ast.BoolOp(ast.And(), [_data(), _first()])


def _data() -> ast.expr:
    return ast.Name("data", ast.Load())


def _first() -> ast.expr:
    return ast.Subscript(_data(), ast.Constant(0), ast.Load())


def _length(of: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("len", ast.Load()), [of], [])


def _empty_object(node: ast.AST) -> bool:
    return isinstance(node, ast.Dict) and not node.keys


def _is_first(node: ast.AST) -> bool:
    """True for `data[0]`, with or without a test that it exists."""
    shown = ast.unparse(node)
    return shown in ("data[0]", "data and data[0]")


class _ToPython(ast.NodeTransformer):
    def __init__(self, stored: frozenset[str]) -> None:
        self._stored = stored

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.Name("item", ast.Load()) if _is_first(node) else super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        free = node.id == "data" and node.id not in self._stored
        return ast.Name("items", ast.Load()) if free else node
