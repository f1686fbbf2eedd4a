"""Parses a document into JSON values: JSON or YAML, bounded, with line and column of errors."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any, ClassVar, Final

import yaml
from yaml.nodes import MappingNode

from flowcabal_tui.dialects.report import DialectError
from flowcabal_tui.domain.errors import BindingError
from flowcabal_tui.domain.items import canonical
from flowcabal_tui.domain.json_errors import json_reason
from flowcabal_tui.domain.sizes import MAX_DEPTH, MAX_VALUES, SizeBudget
from flowcabal_tui.domain.text import clean_value
from flowcabal_tui.locale import _, mark

MAX_JSON: Final = 16_000_000
"""Characters."""
MAX_YAML: Final = 2_000_000
"""Characters; YAML is read a hundred times slower than JSON."""


def load(text: str) -> Any:
    """The value of a JSON or YAML document, its texts cleaned. A text that begins with `{` or `[` must be JSON.

    Raises DialectError. Aliases count at each use, so a small text cannot fill the memory.
    """
    text = text.removeprefix("\ufeff")
    looks_like_json = text.lstrip()[:1] in ("{", "[")
    _bound(text, MAX_JSON if looks_like_json else MAX_YAML)
    value = _json(text) if looks_like_json else _yaml(text)
    try:
        SizeBudget().keep(value)
        canonical(value)
    except BindingError as error:
        raise DialectError(_("The document is too large or nested too deeply."), error.reason) from error
    except ValueError as error:
        raise DialectError(_("The document contains an invalid number."), _("NaN, infinite, or too large.")) from error
    return clean_value(value)


def _bound(text: str, most: int) -> None:
    if len(text) > most:
        raise DialectError(
            _("The document is too large or nested too deeply."),
            _("It has {n} characters; at most {most} are read.").format(n=len(text), most=most),
        )


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        title = _("The document is not JSON.")
        raise DialectError(title, json_reason(error), line=error.lineno, column=error.colno) from error
    except RecursionError as error:
        raise DialectError(_("The document cannot be read."), _("It is too large or nested too deeply.")) from error
    except _Twice as error:
        raise DialectError(_("The document cannot be read."), str(error)) from error
    except ValueError as error:  # Python limits the number of digits of an integer
        raise DialectError(_("The document cannot be read."), _("A number in it has too many digits.")) from error


class _Twice(ValueError):
    """A key that occurs twice in one object."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        double = Counter(name for name, _value in pairs).most_common(1)[0][0]
        raise _Twice(_("{name} occurs twice in one object.").format(name=double[:60]))
    return made


YAML_WORDS: Final = (
    mark("mapping values are not allowed in this context"),
    mark("block sequence entries are not allowed in this context"),
    mark("found undefined alias"),
    mark("found character that cannot start any token"),
    mark("found a tab character that violates indentation"),
    mark("found unexpected end of stream"),
    mark("found unexpected document indicator"),
    mark("found unknown escape character"),
    mark("could not find expected ':'"),
    mark("did not find expected key"),
    mark("did not find expected node content"),
    mark("did not find expected '-' indicator"),
    mark("did not find expected ',' or ']'"),
    mark("did not find expected ',' or '}'"),
    mark("did not find expected alphabetic or numeric character"),
)
"""Messages of the YAML reader, for the catalogue: its own are English only."""
_MAX_FIELDS: Final = 10_000
"""Limit of fields in one YAML object, including merged ones (`<<`)."""
_FAST: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_FAST):  # type: ignore[misc, valid-type]  # the types do not know which of the two it is
    """Only the types of JSON: no dates, and `no` is a word. Keys are unique texts."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[Any]]] = {
        first: [(tag, pattern) for tag, pattern in known if not tag.endswith((":timestamp", ":bool"))]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def flatten_mapping(self, node: MappingNode) -> None:
        """Merges the fields that `<<` names, and limits their number: nested merges multiply them."""
        super().flatten_mapping(node)
        if len(node.value) > _MAX_FIELDS:
            problem = _("an object has more than {n} fields").format(n=_MAX_FIELDS)
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names = [key.value for key, _value in node.value if key.tag == "tag:yaml.org,2002:str"]
        if len(names) < sum(key.tag != "tag:yaml.org,2002:merge" for key, _value in node.value):
            raise yaml.constructor.ConstructorError(None, None, _("a key is not a text"), node.start_mark)
        if len(set(names)) < len(names):
            double = Counter(names).most_common(1)[0][0]
            problem = _("{name} occurs twice in one object.").format(name=double[:60])
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        made: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return made


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def _yaml(text: str) -> Any:
    _bound(text, MAX_YAML)
    try:
        _measure(yaml.parse(text, Loader=_Loader))
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        line, column = (place.line + 1, place.column + 1) if place else (0, 0)
        title = _("The document is not YAML.")
        raise DialectError(title, _(error.problem) if error.problem else "", line=line, column=column) from error
    except yaml.YAMLError as error:
        raise DialectError(_("The document is not YAML."), str(error)[:300]) from error
    except RecursionError as error:
        raise DialectError(_("The document cannot be read."), _("It is too large or nested too deeply.")) from error
    except ValueError as error:  # as in JSON
        raise DialectError(_("The document cannot be read."), _("A number in it has too many digits.")) from error


def _measure(events: Iterator[yaml.Event]) -> None:
    """Raises DialectError before anything deep or large is built."""
    depth = 0
    for number, event in enumerate(events):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or number > 2 * MAX_VALUES:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise DialectError(_("The document is too large or nested too deeply."), line=line, column=1)
