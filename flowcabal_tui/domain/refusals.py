"""Reasons of refused values in the user's language; pydantic's own are English only."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from flowcabal_tui.locale import _


def refusal(error: ErrorDetails) -> str:
    """The reason why a value cannot be used; an unknown kind keeps pydantic's words."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return _("It is missing.")
        case "extra_forbidden":
            return _("It has no meaning here.")
        case "less_than_equal":
            return _("It must be at most {n}.").format(n=_shown(context["le"]))
        case "less_than":
            return _("It must be less than {n}.").format(n=_shown(context["lt"]))
        case "greater_than_equal":
            return _("It must be at least {n}.").format(n=_shown(context["ge"]))
        case "greater_than":
            return _("It must be more than {n}.").format(n=_shown(context["gt"]))
        case "literal_error" | "enum":
            return _("It must be one of: {names}.").format(names=context["expected"].replace(" or ", ", "))
        case "int_type" | "int_parsing" | "int_from_float":
            return _("It must be a whole number.")
        case "float_type" | "float_parsing" | "finite_number":
            return _("It must be a number.")
        case "bool_type" | "bool_parsing":
            return _("It must be true or false.")
        case "string_type":
            return _("It must be text.")
        case "list_type" | "tuple_type":
            return _("It must be a list.")
        case "dict_type" | "model_type" | "model_attributes_type":
            return _("It must be an object with fields.")
        case "string_too_short" | "too_short" if context["min_length"] == 1:
            return _("It must not be empty.")
        case "value_error":
            return str(context["error"])
        case _:
            return error["msg"]


def _shown(bound: float) -> float:
    return int(bound) if bound == int(bound) else bound
