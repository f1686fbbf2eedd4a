"""JSON values from outside: parsed strictly, cleaned, and validated against a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.actions.errors import ActionFileError
from flowcabal_tui.domain.json_errors import json_reason
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean, clean_value
from flowcabal_tui.locale import _

LARGEST: Final = 16 << 20
"""Bytes of a file that are read."""
PROBLEMS_SHOWN = 5
MESSAGE_LIMIT = 300
"""Characters of one problem; a schema error may quote a whole value."""


def parse(text: str) -> Any:
    """The cleaned value of JSON text. Raises ValueError (JSONDecodeError; NaN, Infinity) and RecursionError."""
    return clean_value(json.loads(text, parse_constant=_refuse))


def _refuse(constant: str) -> Any:
    raise ValueError(_("{constant} is not a JSON value.").format(constant=constant))


def read_json(path: Path) -> Any:
    """The cleaned value of a JSON file. Raises ActionFileError, for bad JSON with line and column."""
    advice = _("Nothing was loaded. Correct the file and try again.")
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(_("It is larger than {n} bytes").format(n=LARGEST))
        return parse(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        place = _("line {line}, column {column}: {problem}").format(
            line=error.lineno, column=error.colno, problem=json_reason(error)
        )
        raise ActionFileError(_("{file} is not valid JSON.").format(file=path), place, advice) from error
    except RecursionError as error:
        raise ActionFileError(_("{file} is nested too deeply.").format(file=path), "", advice) from error
    except OSError as error:
        raise ActionFileError(_("Cannot read {file}.").format(file=path), os_reason(error), advice) from error
    except UnicodeDecodeError as error:
        raise ActionFileError(
            _("Cannot read {file}.").format(file=path), _("Its text is not UTF-8."), advice
        ) from error
    except ValueError as error:
        raise ActionFileError(_("Cannot read {file}.").format(file=path), str(error), advice) from error


def schema_fault(schema: dict[str, Any]) -> str:
    """The reason why `schema` is not a JSON Schema (draft 2020-12 unless it names another); "" when it is one."""
    import jsonschema.validators  # takes 80 ms, which a project without actions need not pay

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        return clean(f"{error.json_path}: {error.message}")[:MESSAGE_LIMIT]
    except RecursionError:
        return _("nested too deeply")
    return ""


def problems(schema: dict[str, Any], value: Any) -> list[str]:
    """The places where `value` does not match `schema`; references never leave the schema."""
    import jsonschema.validators
    import referencing
    import referencing.exceptions

    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        # An empty registry: the default one would fetch remote references.
        found = list(kind(schema, registry=referencing.Registry()).iter_errors(value))
    except referencing.exceptions.Unresolvable as error:
        return [_("the schema refers to {reference}, which is not in it").format(reference=error.ref)]
    except RecursionError:
        return [_("nested too deeply")]
    found.sort(key=lambda error: [str(part) for part in error.absolute_path])
    lines = [clean(f"{error.json_path}: {error.message}")[:MESSAGE_LIMIT] for error in found[:PROBLEMS_SHOWN]]
    if len(found) > PROBLEMS_SHOWN:
        lines.append(_("and {n} more").format(n=len(found) - PROBLEMS_SHOWN))
    return lines
