"""Reads a TOML file into a model, with errors that name file, line and the nearest known key; and changes it."""

from __future__ import annotations

import difflib
import re
import tomllib
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.refusals import refusal
from flowcabal_tui.locale import _
from flowcabal_tui.settings.file_text import read_toml

M = TypeVar("M")


def changed(path: Path, shape: type[M], text: str | None, change: Callable[[M | None], M]) -> tuple[str, M]:
    """The file's text with changed settings, and these settings; only lines of changed settings differ.

    `change` is called with None if there is no file. Raises SettingsError for settings that could not be read back.
    """
    from flowcabal_tui.settings.toml_edit import changes, edited  # imports tomlkit, which no reader needs

    adapter: TypeAdapter[M] = TypeAdapter(shape)
    before = None if text is None else parsed(path, shape, text)
    after = change(before)
    full = {} if before is None else adapter.dump_python(before, exclude_none=True)
    brief = adapter.dump_python(after, exclude_none=True, exclude_defaults=True)
    wanted = brief if before is None else adapter.dump_python(after, exclude_none=True)
    try:
        new = edited(text or "", changes(full, wanted, brief))
    except ValueError as error:
        raise SettingsError(
            _("{file} cannot be changed from here.").format(file=path), str(error), _("Change it in an editor.")
        ) from error
    return new, parsed(path, shape, new)


def parsed(path: Path, shape: type[M], text: str) -> M:
    """The settings in the text of a file. Raises SettingsError."""
    try:
        return TypeAdapter(shape).validate_python(read_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            _("{file} is not valid TOML.").format(file=path), str(error), _("Nothing was changed. Correct that line.")
        ) from error
    except ValidationError as error:
        raise SettingsError(
            _("{file} has a setting that cannot be used.").format(file=path),
            "\n".join(_explain(text, shape, item) for item in error.errors()),
            _("Nothing was changed. Correct the file and start again."),
        ) from error


def _explain(text: str, shape: Any, item: ErrorDetails) -> str:
    keys = [str(part) for part in item["loc"]]
    place = _("line {n}: ").format(n=line) if (line := _line_of(text, keys)) else ""
    name = ".".join(keys)
    if item["type"] not in ("extra_forbidden", "unexpected_keyword_argument"):
        return place + _("{key}: {problem}").format(key=name, problem=refusal(item))
    near = difflib.get_close_matches(keys[-1], _known(shape, keys[:-1]), n=1, cutoff=0.5)
    hint = _(" Did you mean {key}?").format(key=near[0]) if near else ""
    return place + _("{key} is not a setting.").format(key=name) + hint


def _line_of(text: str, keys: list[str]) -> int:
    """The line (from 1) of the key; 0 if it is not known."""
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\]]+)\]+", line):
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if table == keys:
                return number
        elif (entry := re.match(r"\s*([\w.\-\"']+)\s*=", line)) and [*table, entry[1].strip("\"'")] == keys[
            : len(table) + 1
        ]:
            return number
    return 0


def _known(shape: Any, path: list[str]) -> list[str]:
    """The names of the settings in the table at `path`."""
    for part in path:
        field = getattr(shape, "__pydantic_fields__", {}).get(part)
        shape = _shape_in(field.annotation) if field else None
    return list(getattr(shape, "__pydantic_fields__", ()))


def _shape_in(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next((_shape_in(part) for part in typing.get_args(annotation) if part is not type(None)), None)
    return annotation
