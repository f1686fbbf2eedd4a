"""Simulates actions by templates in the form of VelvetFlow's `simulation_data.json`."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.actions.errors import ActionFileError, SimulationError
from flowcabal_tui.actions.values import read_json
from flowcabal_tui.locale import _

Simulations = Mapping[str, Mapping[str, Any]]
"""By action id: `{"defaults"?: {name: value}, "result"?: template}`."""

_SLOT: Final = re.compile(
    r"\{\{\s*(?P<path>[^{}|\s.\[\]]+(?:\.[^{}|\s.\[\]]+|\[\d+\])*)"
    r"\s*(?:\|\s*default\(\s*(?P<default>[^{}]*?)\s*\)\s*)?\}\}"
)
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def load_simulations(path: Path) -> dict[str, dict[str, Any]]:
    """The templates of a file. Raises ActionFileError."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise ActionFileError(_("{file} must contain an object: action ids with their templates.").format(file=path))
    for action_id, entry in content.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("defaults", {}), dict):
            raise ActionFileError(
                _("{file} has a simulation that cannot be used.").format(file=path),
                _('{id}: it must be an object with "result" and, optionally, an object "defaults".').format(
                    id=action_id
                ),
            )
    return content


def simulate(action_id: str, params: Mapping[str, Any], data: Simulations, *, strings: bool = False) -> Any:
    """The simulated answer of an action, from its template.

    `{{key}}`, `{{key.part[0]}}` and `{{key|default('x')}}` are replaced by parameters, which override the entry's
    defaults. A slot that is the whole text keeps its value's type. Without a template the answer is marked as simulated
    and repeats the parameters. With `strings`, the original's behaviour applies: every value becomes text, unknown
    slots stay.

    Raises SimulationError when a slot names a missing parameter.
    """
    entry = data.get(action_id, {})
    given = {**entry.get("defaults", {}), **params}
    if "result" not in entry:
        return {"status": "simulated", "action_id": action_id, "params_used": copy.deepcopy(given)}
    return _filled(entry["result"], given, action_id, strings)


def _filled(template: Any, given: Mapping[str, Any], action_id: str, strings: bool) -> Any:
    if isinstance(template, dict):
        return {key: _filled(value, given, action_id, strings) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, given, action_id, strings) for value in template]
    if not isinstance(template, str):
        return template
    if strings:
        return _SLOT.sub(lambda slot: str(given[slot["path"]]) if slot["path"] in given else slot[0], template)
    if whole := _SLOT.fullmatch(template):
        return copy.deepcopy(_value(whole, given, action_id))
    return _SLOT.sub(lambda slot: str(_value(slot, given, action_id)), template)


def _value(slot: re.Match[str], given: Mapping[str, Any], action_id: str) -> Any:
    """The value of a slot; a key that equals the whole name takes precedence over a path."""
    if slot["path"] in given:
        return given[slot["path"]]
    value: Any = given
    for index, key in _STEP.findall(slot["path"]):
        try:
            value = value[int(index) if index else key]
        except (KeyError, IndexError, TypeError):
            if slot["default"] is not None:
                return _literal(slot["default"])
            raise SimulationError(
                _("The simulation of {id} needs {key}, which the node does not give.").format(
                    id=action_id, key=slot["path"]
                ),
                _("Given: {keys}.").format(keys=_(", ").join(sorted(given)) or _("nothing")),
                _('Set the parameter in the node, or a value under "defaults" in the simulation.'),
            ) from None
    return value


def _literal(text: str) -> Any:
    """The value of a template's default: JSON, or text in single quotes."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        return text
