"""The actions that a project knows: JSON files in the form of VelvetFlow's `business_actions.json`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, StrictBool, ValidationError, field_validator, model_validator

from flowcabal_tui.actions.errors import ActionError, ActionFileError, UnknownAction
from flowcabal_tui.actions.values import read_json, schema_fault
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.system.files import Folder
from flowcabal_tui.system.plugins import load_plugin

ActionFunction = Callable[[dict[str, Any]], Any]
"""Takes the parameters and returns a JSON value. A function that is not `async` runs in a thread."""
FOLDER: Final = "actions"
"""The folder of a project with its actions."""
PLUGINS: Final = "flowcabal_tui.actions"
"""Entry point group of plug-ins; an entry's name is the function's name in the registry."""
SIMULATIONS: Final = "simulation_data"
"""Files of this name lie beside registries and hold no actions."""
_PROBLEMS_SHOWN: Final = 12


class Action(BaseModel, frozen=True, extra="ignore"):
    """One action as its registry declares it. A file names functions and commands; it never holds a command line."""

    action_id: str = Field(min_length=1, max_length=200)
    name: str = ""
    domain: str = ""
    description: str
    tags: tuple[str, ...] = ()
    arg_schema: dict[str, Any] = Field(description="JSON Schema of the parameters; also read as params_schema.")
    output_schema: dict[str, Any] = Field(default_factory=dict)
    enabled: StrictBool = True
    tool_name: str | None = Field(None, description="VelvetFlow's name of the function; used when no function is set.")
    requires_approval: StrictBool = False
    allowed_roles: tuple[str, ...] = Field((), description="Roles that may use it; empty: all.")
    command: str | None = Field(None, description="Name of a command in the project's allow-list.")
    function: str | None = Field(None, description="Name of a function that a plug-in registers.")

    @property
    def title(self) -> str:
        return self.name or self.action_id

    def allows(self, role: str) -> bool:
        """True when `role` may use it. "" means no role: permitted if no roles are listed."""
        return not self.allowed_roles or role in self.allowed_roles

    @model_validator(mode="before")
    @classmethod
    def _names(cls, entry: object) -> object:
        """Accepts the alias `params_schema`. Rejects misspelt keys: an ignored `require_approval` would skip the
        approval."""
        if not isinstance(entry, dict):
            return entry
        for key in entry:
            near = difflib.get_close_matches(str(key), cls.model_fields, n=1, cutoff=0.85)
            if near and key not in cls.model_fields:
                raise ValueError(_("{key} is unknown. Did you mean {near}?").format(key=key, near=near[0]))
        return {"arg_schema": entry["params_schema"], **entry} if "params_schema" in entry else entry

    @field_validator("arg_schema", "output_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        if fault := schema_fault(schema):
            raise ValueError(_("is not a JSON Schema: {problem}").format(problem=fault))
        return schema

    @model_validator(mode="after")
    def _one_binding(self) -> Action:
        if self.command and self.function:
            raise ValueError(_("It names both a command and a function; only one is allowed."))
        return self


class ActionRegistry:
    """The actions by id, in the order of their files, and the plug-in functions behind them."""

    def __init__(self, actions: Iterable[Action] = ()) -> None:
        """Registers the actions. Raises ActionError for a duplicate id."""
        self._actions: dict[str, Action] = {}
        self._functions: dict[str, ActionFunction] = {}
        for action in actions:
            if action.action_id in self._actions:
                raise ActionError(_("The action {id} is defined twice.").format(id=action.action_id))
            self._actions[action.action_id] = action

    @classmethod
    def load(cls, paths: Iterable[Path]) -> ActionRegistry:
        """Reads files, and folders with all `*.json` in them except simulations.

        Raises ActionFileError with all errors in the files, each with its place.
        """
        places: dict[str, str] = {}
        actions: list[Action] = []
        wrong: list[str] = []
        for place, entry in _entries(paths):
            try:
                action = Action.model_validate(entry)
            except ValidationError as error:
                wrong += [
                    _("{place}: {problem}").format(place=place, problem=_explain(item)) for item in error.errors()
                ]
                continue
            if first := places.get(action.action_id):
                wrong.append(_("{place}: already in {first}").format(place=place, first=first))
                continue
            places[action.action_id] = place
            actions.append(action)
        if wrong:
            if len(wrong) > _PROBLEMS_SHOWN:
                wrong[_PROBLEMS_SHOWN:] = [_("and {n} more").format(n=len(wrong) - _PROBLEMS_SHOWN)]
            raise ActionFileError(
                _("The actions cannot be used."), "\n".join(wrong), _("Nothing was loaded. Correct them and try again.")
            )
        return cls(actions)

    def all(self) -> tuple[Action, ...]:
        """Every action, disabled ones included."""
        return tuple(self._actions.values())

    def for_role(self, role: str) -> tuple[Action, ...]:
        """The enabled actions that `role` may use."""
        return tuple(action for action in self.all() if action.enabled and action.allows(role))

    def get(self, action_id: str) -> Action:
        """The action of that id. Raises UnknownAction, which names the closest."""
        if action := self._actions.get(action_id):
            return action
        near = difflib.get_close_matches(action_id, self._actions, n=1, cutoff=0.5)
        raise UnknownAction(
            _("There is no action {id}.").format(id=clean(action_id)),
            _("{n} actions are known.").format(n=len(self._actions)),
            _("Did you mean {near}?").format(near=near[0]) if near else _("Check the files of the action registry."),
        )

    def function(self, name: str) -> ActionFunction | None:
        """The function of that name from an installed plug-in, which is imported on first use.

        Raises ActionError when a plug-in cannot be imported or two offer the name.
        """
        if name in self._functions:
            return self._functions[name]
        function: ActionFunction | None = load_plugin(PLUGINS, name, ActionError)
        if function is not None:
            self._functions[name] = function
        return function


def project_files(folder: Path, named: Iterable[str]) -> tuple[Path, ...]:
    """The action files of a project: those below `actions`, then the files and folders that its settings name.

    Links below a folder are left out. Raises ActionFileError for a name that is a link or leads out of the project.
    """
    project = Folder(folder)
    found = list(project.walk(FOLDER))
    for name in named:
        parts = Path(name).parts
        try:
            if inner := tuple(project.walk(*parts)):
                found += inner
            else:
                project.require(*parts)
                found.append(parts)
        except OSError as error:
            raise ActionFileError(
                _("An action file of the project cannot be used: {file}").format(file=clean(name)),
                os_reason(error),
                _("Name only files and folders in the project's folder under [actions] files in flowcabal.toml."),
            ) from error
    registries = (names for names in found if names[-1].endswith(".json") and not names[-1].startswith(SIMULATIONS))
    return tuple(folder.joinpath(*names) for names in registries)


def project_simulations(folder: Path) -> tuple[Path, ...]:
    """The files of simulated answers in a project's `actions`."""
    names = (each for each in Folder(folder).walk(FOLDER) if len(each) == 2 and each[-1].startswith(SIMULATIONS))
    return tuple(folder.joinpath(*each) for each in names if each[-1].endswith(".json"))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = (file for file in path.rglob("*.json") if file.is_file())  # reading a pipe would never end
            yield from sorted(file for file in found if not file.name.startswith(SIMULATIONS))
        else:
            yield path


def _entries(paths: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """Each entry with its place in words. A file holds a list of actions, or one action."""
    for file in _files(paths):
        content = read_json(file)
        for number, entry in enumerate(content if isinstance(content, list) else [content], 1):
            action_id = entry.get("action_id") if isinstance(entry, dict) else None
            name = f" ({action_id})" if isinstance(action_id, str) else ""
            yield _("{file}, entry {n}").format(file=file, n=number) + name, entry


def _explain(item: Any) -> str:
    """One of pydantic's errors in the words of the file."""
    field = ".".join(str(part) for part in item["loc"])
    match item["type"]:
        case "missing":
            return _("{field} is missing").format(field=field)
        case "bool_type":
            return _("{field} must be true or false").format(field=field)
        case "tuple_type":
            return _("{field} must be a list").format(field=field)
        case "string_type":
            return _("{field} must be text").format(field=field)
        case "dict_type":
            return _("{field} must be an object").format(field=field)
        case "model_type" | "model_attributes_type":
            return _("an action must be an object")
        case "value_error":
            return f"{field} {item['ctx']['error']}".strip()
        case _:
            return f"{field}: {item['msg']}"
