"""Reads structured answers that violate their schema: keeps the readable parts and lists the others.

Nothing is guessed: a list that is missing, or empty under another name, is unread and never "nothing found".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import GenericAlias
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError

from flowcabal_tui.domain.answer_schema import StructuredAnswer
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.model_ports import T
from flowcabal_tui.domain.text import clean_value
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.models.cleaning import clean_whole

_FENCE: Final = late(r"```[A-Za-z]*\s*\n(.*?)```", re.DOTALL)
_OPENING: Final = late(r"[\[{]")
_JSON_OPENING: Final = late(r'\{\s*["}]|\[\s*[\["{\]]')
_DECODER: Final = json.JSONDecoder(strict=False)
_DEEPEST: Final = 3
"""Levels of wrapping that are taken off: `{"answer": [{...}]}` has two."""
_UNREAD: Final = "unread"


@dataclass(frozen=True, slots=True)
class SalvagedFields:
    """The fields of an answer that could be read, by name, and the places that could not.

    A place is the name of a field, or of an item of a list as in `findings[2]`.
    """

    parts: Mapping[str, Any]
    unread: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields with unread places, each once."""
        return tuple(dict.fromkeys(place.partition("[")[0] for place in self.unread))

    def completed_by(self, later: SalvagedFields) -> SalvagedFields:
        """These parts, with the fields that have unread places completed from a later answer."""
        parts, unread = dict(self.parts), list(self.unread)
        for field in self.fields:
            if field not in later.parts:
                continue
            known, more = parts.get(field), later.parts[field]
            if isinstance(known, list) and isinstance(more, list):
                parts[field] = [*known, *(item for item in more if item not in known)]
            else:
                parts[field] = more
            unread = [place for place in unread if place.partition("[")[0] != field]
            unread += [place for place in later.unread if place.partition("[")[0] == field]
        return SalvagedFields(parts, tuple(dict.fromkeys(unread)))

    def as_shape(self, shape: type[T]) -> T | None:
        """The value; None when it is incomplete and `shape` cannot list unread parts."""
        if not self.unread:
            return shape.model_validate(self.parts)
        if not issubclass(shape, StructuredAnswer):
            return None
        missing: dict[str, list[Any]] = {
            name: [] for name in _required(shape) if name not in self.parts and _is_list(shape, name)
        }
        try:
            return shape.model_validate({**missing, **self.parts, _UNREAD: self.unread})
        except ValidationError:
            return None


def read_before(earlier: str) -> SalvagedFields:
    """The parts of a `StructuredAnswer` in JSON, and the places that could not be read in it.

    An empty list in an unread field is left out, because nothing of it was read.
    """
    parts = json.loads(earlier)
    unread = tuple(parts.pop(_UNREAD))
    return SalvagedFields({name: part for name, part in parts.items() if part or name not in unread}, unread)


def read_text(text: str, shape: type[BaseModel], *, cut: bool) -> tuple[SalvagedFields | None, str]:
    """The best reading of a model's text, and its faults (for the model; "" when it is complete).

    `cut`: the provider reported that the text was cut off. Fences, chatter, thoughts, wrappings, bare lists and single
    items around or instead of the answer are removed.
    """
    best: SalvagedFields | None = None
    problem = "The answer holds no JSON."
    for value, broken in _values(text.rpartition("</think>")[2], cut=cut):
        try:
            shape.model_validate(_plain(value))
        except ValidationError as error:
            problem = _problem(error)
        else:
            if not broken:
                return SalvagedFields(_plain(value)), ""
            problem = "The JSON breaks off before its end."
        found = _read(value, shape, _DEEPEST)
        if found is not None and broken:
            found = _open_at_end(found, shape)
        if found is not None and not found.unread:
            return found, ""
        if found is not None and (best is None or len(found.unread) < len(best.unread)):
            best = found
    return best, problem


def _plain(value: Any) -> Any:
    """The object without the field that this program fills."""
    return {name: part for name, part in value.items() if name != _UNREAD} if isinstance(value, dict) else value


def _values(text: str, *, cut: bool) -> Iterator[tuple[Any, bool]]:
    """JSON values in a text, best guess first; True for one that was completed because its end is missing."""
    if text.lstrip().startswith('"'):  # JSON within a JSON string
        with suppress(ValueError, RecursionError):
            yield clean_value(_DECODER.decode(text.strip()), clean_whole), False
    for candidate in (*_FENCE.findall(text), text):
        position = 0
        while opening := _OPENING.search(candidate, position):
            position = opening.start()
            try:
                value, position = _DECODER.raw_decode(candidate, position)
                yield clean_value(value, clean_whole), False
            except (ValueError, RecursionError):
                if cut or _JSON_OPENING.match(candidate, position):
                    if (value := _completed(candidate[position:])) is not None:
                        yield clean_value(value, clean_whole), True
                    break  # what lies within a broken value is not the answer
                position += 1


def _completed(text: str) -> Any:
    """The value of a JSON text whose end is missing, up to its last whole member or item; None when there is none."""
    closers: list[str] = []
    whole: tuple[int, tuple[str, ...]] | None = None
    for at, character in _outside_strings(text):
        if character in "{[":
            closers.append("}" if character == "{" else "]")
        elif character in "}]" and (not closers or closers.pop() != character):
            return None
        if character in "{}[]":
            whole = at + 1, tuple(closers)
        elif character == ",":
            whole = at, tuple(closers)
    if whole is None:
        return None
    end, still_open = whole
    try:
        return _DECODER.decode(text[:end] + "".join(reversed(still_open)))
    except (ValueError, RecursionError):
        return None


def _outside_strings(text: str) -> Iterator[tuple[int, str]]:
    """The characters of a JSON text outside its strings, with their places."""
    inside = escaped = False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif inside:
            escaped, inside = character == "\\", character != '"'
        elif character == '"':
            inside = True
        else:
            yield at, character


def _read(value: Any, shape: type[BaseModel], depth: int) -> SalvagedFields | None:
    """The parts of a shape in a JSON value, without the wrappings that models put around it."""
    if depth < 0:
        return None
    match value:
        case str() if value.lstrip()[:1] in ("{", "["):
            try:
                return _read(clean_value(_DECODER.decode(value.strip()), clean_whole), shape, depth - 1)
            except (ValueError, RecursionError):
                return None
        case [dict() as only] if (found := _read_object(only, shape)) is not None:
            return found
        case list():
            return _bare(value, shape)
        case dict():
            inner = [_read(part, shape, depth - 1) for part in value.values()] if len(value) == 1 else []
            readings = (_renamed(value, shape), _read_object(value, shape), _bare([value], shape), *inner)
            return next((found for found in readings if found is not None), None)
    return None


def _read_object(value: Mapping[str, Any], shape: type[BaseModel]) -> SalvagedFields | None:
    """The fields that fit; None when no required one and no item does."""
    parts = {_known_name(name, shape): part for name, part in value.items()}
    parts = {name: part for name, part in parts.items() if name in shape.model_fields and name != _UNREAD}
    parts = {name: _as_list(shape, name, part) for name, part in parts.items()}
    unread: list[str] = []
    try:
        shape.model_validate(parts)
    except ValidationError as error:
        parts, unread = _without_faults(parts, error)
    required = _required(shape)
    unread += [name for name in required if name not in parts and name not in unread]
    readable = any(name in required or (isinstance(part, list) and part) for name, part in parts.items())
    # A list without a readable item is not an empty list.
    if not readable or all(not parts.get(name) and name in _places(unread) for name in required):
        return None
    return SalvagedFields(parts, tuple(unread))


def _without_faults(parts: Mapping[str, Any], error: ValidationError) -> tuple[dict[str, Any], list[str]]:
    """The parts without the items and fields that do not validate, and their places."""
    kept, unread = dict(parts), list[str]()
    items: dict[str, set[int]] = {}
    for fault in error.errors():
        name, *inner = fault["loc"] or ("",)
        if not isinstance(name, str) or name not in kept:
            continue
        if inner and isinstance(inner[0], int) and isinstance(kept[name], list):
            items.setdefault(name, set()).add(inner[0])
        else:
            items.pop(name, None)
            del kept[name]
            unread.append(name)
    for name, faulty in items.items():
        kept[name] = [item for at, item in enumerate(kept[name]) if at not in faulty]
        unread += [f"{name}[{at}]" for at in sorted(faulty)]
    return kept, unread


def _bare(items: Sequence[Any], shape: type[BaseModel]) -> SalvagedFields | None:
    """Items without the name of their list: only where there is one list that they can belong to."""
    lists = [name for name in _required(shape) if _item_model(shape, name)]
    if len(lists) != 1 or not items or any(name not in lists for name in _required(shape)):
        return None
    found = _read_object({lists[0]: list(items)}, shape)
    return found if found is not None and found.parts.get(lists[0]) else None


def _renamed(value: Mapping[str, Any], shape: type[BaseModel]) -> SalvagedFields | None:
    """The one required list under a name of the model's own: only with items that fit."""
    missing = [name for name in _required(shape) if name not in value]
    others = [
        part for name, part in value.items() if name not in shape.model_fields and isinstance(part, list) and part
    ]
    if len(missing) != 1 or len(others) != 1:
        return None
    found = _read_object({**value, missing[0]: others[0]}, shape)
    return found if found is not None and found.parts.get(missing[0]) else None


def _open_at_end(found: SalvagedFields, shape: type[BaseModel]) -> SalvagedFields:
    """For a cut answer: marks the list at its end as incomplete, and later fields as missing."""
    names = [name for name in found.parts if _is_list(shape, name)]
    cut = [names[-1]] if names and names[-1] not in _places(found.unread) else []
    return SalvagedFields(found.parts, (*found.unread, *cut))


def _places(unread: Sequence[str]) -> set[str]:
    return {place.partition("[")[0] for place in unread}


def _known_name(name: str, shape: type[BaseModel]) -> str:
    """The field that a key means, ignoring case and separators."""
    plain = {re.sub(r"[\W_]", "", field).lower(): field for field in shape.model_fields}
    return plain.get(re.sub(r"[\W_]", "", name).lower(), name)


def _as_list(shape: type[BaseModel], name: str, part: Any) -> Any:
    """A single item where a list of items is due."""
    model = _item_model(shape, name)
    if model is None or not isinstance(part, dict):
        return part
    try:
        model.model_validate(part)
    except ValidationError:
        return part
    return [part]


def _required(shape: type[BaseModel]) -> list[str]:
    return [name for name, field in shape.model_fields.items() if field.is_required()]


def _is_list(shape: type[BaseModel], name: str) -> bool:
    return get_origin(shape.model_fields[name].annotation) is list


def _item_model(shape: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of the items of a list field."""
    annotation = shape.model_fields[name].annotation
    (item,) = get_args(annotation) if get_origin(annotation) is list else (None,)
    return (
        item if isinstance(item, type) and not isinstance(item, GenericAlias) and issubclass(item, BaseModel) else None
    )


def _problem(error: ValidationError) -> str:
    lines = [f"{'.'.join(map(str, each['loc'])) or 'answer'}: {each['msg']}" for each in error.errors()[:10]]
    return "\n".join(lines)
