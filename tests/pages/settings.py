"""Generates the page of settings from their models: `python -m tests.pages.settings`."""

from __future__ import annotations

import sys
import types
import typing
from datetime import date
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.settings.project_file import AgentPlugins, ModelsSettings, ProjectSettings
from flowcabal_tui.settings.user_file import UserSettings

_TYPES: Final[dict[object, str]] = {
    str: "text", int: "whole number", float: "number", bool: "true or false", date: "day",
}  # fmt: skip
_LIMITS: Final = {"gt": ">", "ge": "at least", "le": "at most"}
_ENVIRONMENT: Final = (
    ("FLOWCABAL_LANG", "Language of the screen and of messages: en or zh."),
    ("FLOWCABAL_CONFIG_DIR", "Folder of config.toml and secrets.toml."),
    ("FLOWCABAL_STATE_DIR", "Folder of recent projects, answers about trust and money, and crash reports."),
    (
        "FLOWCABAL_CACHE_DIR",
        "Folder of files that can be made again: the knowledge server's workspaces, the bench's novels.",
    ),
    ("FLOWCABAL_DATA_DIR", "Folder of the demo, the installed knowledge server and vocabularies."),
    (
        "FLOWCABAL_OPENVIKING_SERVER",
        "The openviking-server to use: an absolute path, or a name on PATH.",
    ),
)
_HEAD: Final = """# Settings

Made by `python -m tests.pages.settings > docs/settings.md`; a test compares it.
A setting that is unknown or cannot be used is reported with its file and line, and nothing is changed."""


def settings_page() -> str:
    """The page docs/settings.md, in English: every setting with its values, its default and its effect."""
    parts = [_HEAD, "## Project: `flowcabal.toml`\n\nIn the project's folder. It contains no keys."]
    for table, field in ProjectSettings.model_fields.items():
        if table != "models":
            parts.append(f"### `[{table}]`\n\n{_rows(field.annotation)}")
            if table == "agents":
                parts.append(f"### `[agents.plugins]`\n\n{AgentPlugins.__doc__}\n\n{_rows(AgentPlugins)}")
            continue
        roles = "\n".join(
            f"- `[models.{'more.NAME' if role == 'more' else role}]` {item.description}"
            for role, item in ModelsSettings.model_fields.items()
        )
        parts.append(f"### Models by role\n\n{roles}\n\n{_rows(Endpoint)}")
    parts.append(f"## User: `config.toml`\n\n`flowcabal-tui config path` shows where it is.\n\n{_rows(UserSettings)}")
    parts.append(
        "## Keys of models: `secrets.toml`\n\n"
        "Beside `config.toml`, with mode 600; otherwise it is not read. One line per key:\n"
        '`name = "key"`; a model refers to it by `secret = "name"`. A variable that\n'
        "`api_key_env` names takes precedence."
    )
    rows = "\n".join(f"| `{name}` | {words} |" for name, words in _ENVIRONMENT)
    parts.append(f"## Environment\n\n| variable | what it is |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts) + "\n"


def _rows(model: Any) -> str:
    """The table of a model's fields."""
    lines = ["| key | takes | default | what it does |", "| --- | --- | --- | --- |"]
    for name, field in model.__pydantic_fields__.items():
        lines.append(f"| `{name}` | {_takes(field)} | {_default(field)} | {field.description} |")
    return "\n".join(lines)


def _takes(field: FieldInfo) -> str:
    """The type and limits of a field in words."""
    limits = {type(item).__name__.lower(): item for item in field.metadata}
    words = [f"{sign} {getattr(limits[name], name)}" for name, sign in _LIMITS.items() if name in limits]
    return ", ".join([_words(field.annotation), *words])


def _words(annotation: Any) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return " or ".join(f'`"{value}"`' for value in typing.get_args(annotation))
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return " or ".join(_words(part) for part in typing.get_args(annotation) if part is not type(None))
    if typing.get_origin(annotation) is typing.Annotated:
        return _words(typing.get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "tables as above"
    if (container := typing.get_origin(annotation)) in (dict, tuple):
        return "table" if container is dict else "list"
    return _TYPES.get(annotation, "number")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "must be set"
    if value is None:
        return "unset"
    if isinstance(value, BaseModel) or value in ("", {}, ()):
        return "empty"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
