"""`config.toml`: the user's settings for all projects."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import require_writable, text_of
from flowcabal_tui.settings.locked import locked
from flowcabal_tui.settings.project_file import AgentPlugins, ModelsSettings
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.settings.toml_file import changed, parsed
from flowcabal_tui.system.files import write_whole

SpendingRule = Literal["ask", "never"] | Annotated[Decimal, Field(gt=0, allow_inf_nan=False)]
"""The rule for paid background calls: ask first, never pay, or pay up to this amount a day without asking."""


@dataclass(frozen=True, config={"extra": "forbid"})
class UserSettings(ScreenSettings):
    """The whole file."""

    models: ModelsSettings = Field(default=ModelsSettings(), description="The models that new projects begin with.")
    project_files: Literal["private", "shared"] = Field(
        default="private",
        description="Who may read new files in a project's folder: only you, or everyone whom your umask allows.",
    )
    memory_spending: SpendingRule = Field(
        default="ask",
        description="What summaries, profiles, the reading of kept chapters and vectors for the search by meaning may "
        "cost: `ask` first, `never`, or an amount a day that is spent without a question.",
    )
    agents: AgentPlugins = Field(
        default=AgentPlugins(), description="As `[agents.plugins]` of a project; these take precedence."
    )
    key_hosts: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Hosts that each key may be sent to, by the key's name; see trust."
    )
    plain_http: tuple[str, ...] = Field(
        default=(), description="Hosts on other machines that keys may be sent to over http, without encryption."
    )


def load_user() -> UserSettings:
    """The user's settings. Raises SettingsError."""
    path = paths.user_file()
    return parsed(path, UserSettings, text_of(path) or "")


def change_user(change: Callable[[UserSettings], UserSettings]) -> UserSettings:
    """Changes the current settings of the file, and returns the result.

    Only lines of changed settings are written; a file that is a link stays one. Raises OSError or SettingsError; then
    the file is unchanged.
    """
    path = paths.user_file().resolve()
    with locked(paths.user_file()):
        text = text_of(path)
        new, settings = changed(path, UserSettings, text, lambda before: change(before or UserSettings()))
        if new != (text or ""):
            require_writable(path)
            write_whole(path, new.encode())
    return settings
