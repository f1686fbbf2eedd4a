"""`flowcabal.toml`: what a project sets. It is shared with the novel, so it holds no secret."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Literal

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, model_validator

from flowcabal_tui.domain.errors import ProjectNotFound
from flowcabal_tui.domain.model_calls import Endpoint, Provider, Role, StructuredMode
from flowcabal_tui.locale import _
from flowcabal_tui.settings.paths import PROJECT_FILE, atomic_write
from flowcabal_tui.settings.toml_file import load


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(_Table):
    """Where the model of a role is reached. The key is named, never written here."""

    provider: Provider = "openai"
    model: str = Field(min_length=1)
    base_url: str = ""
    api_key_env: str = ""
    secret: str = ""
    context_window: int | None = Field(None, ge=1)
    max_output: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    price_in: Decimal | None = Field(None, ge=0, description="Per million tokens; leave out if unknown.")
    price_out: Decimal | None = Field(None, ge=0)
    currency: str = "USD"
    concurrency: int = Field(4, ge=1, le=256)
    structured: StructuredMode | None = None
    first_token_timeout: float = Field(120, gt=0)
    idle_timeout: float = Field(60, gt=0)
    max_wait: float = Field(60, ge=0)
    retries: int = Field(3, ge=0, le=10)
    dimensions: int = Field(1024, ge=8, le=8192)

    @model_validator(mode="before")
    @classmethod
    def _no_key(cls, values: object) -> object:
        if isinstance(values, dict) and (found := {"api_key", "key", "token", "password"} & set(values)):
            raise ValueError(
                f"{', '.join(sorted(found))}: a key does not belong into the project's file; "
                "name an environment variable with api_key_env, or an entry of the user's secrets file with secret"
            )
        return values

    def endpoint(self) -> Endpoint:
        return Endpoint(**self.model_dump())

    @classmethod
    def of(cls, endpoint: Endpoint) -> ModelSettings:
        """The settings that give this endpoint."""
        return cls.model_validate(asdict(endpoint))


class ModelsSettings(_Table):
    """Models by role. None: not configured yet."""

    user: ModelSettings | None = None
    agent: ModelSettings | None = None
    embedding: ModelSettings | None = None

    def of(self, role: Role) -> ModelSettings | None:
        """The agent role falls back to the user's model."""
        chosen: ModelSettings | None = getattr(self, role)
        return self.user if chosen is None and role == "agent" else chosen


class ProjectTable(_Table):
    id: str = ""
    name: str = Field(min_length=1)
    language: Literal["zh", "en"] = "en"
    author: str = ""


class BudgetSettings(_Table):
    context_tokens: int = Field(27_000, ge=500, description="What the Context agent may add to one prompt.")
    max_cost: Decimal | None = Field(None, ge=0, description="No call starts after this much was spent.")
    max_tokens: int | None = Field(None, ge=0, description="The same in tokens, in and out together.")


class AgentsSettings(_Table):
    context: bool = True
    monitor: bool = True
    curator: bool = True


class KnowledgeSettings(_Table):
    enabled: bool = True
    url: str = Field("", description="An OpenViking server elsewhere; empty: one is started beside us.")
    api_key_env: str = ""


class RunSettings(_Table):
    concurrency: int = Field(8, ge=1, le=256)


class ProjectSettings(_Table):
    """The whole file."""

    project: ProjectTable
    models: ModelsSettings = ModelsSettings()
    budget: BudgetSettings = BudgetSettings()
    agents: AgentsSettings = AgentsSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    run: RunSettings = RunSettings()


OFFLINE = ModelSettings(provider="offline", model="offline")


def load_project(folder: Path) -> ProjectSettings:
    """The project's settings. Raises ProjectNotFound or SettingsError."""
    path = folder / PROJECT_FILE
    if not path.is_file():
        raise ProjectNotFound(
            _("There is no FlowCabal project in {folder}.").format(folder=folder),
            _("It has no file named {file}.").format(file=PROJECT_FILE),
            _("Make one with `flowcabal-tui new FOLDER`, or open another folder."),
        )
    return load(path, ProjectSettings)


def save_project(folder: Path, settings: ProjectSettings) -> None:
    """Writes the file; comments and order of an existing one are kept."""
    path = folder / PROJECT_FILE
    document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    _merge(document, settings.model_dump(mode="json", exclude_defaults=True, exclude_none=True))
    atomic_write(path, tomlkit.dumps(document))


def _merge(table: tomlkit.TOMLDocument | dict[str, object], values: dict[str, object]) -> None:
    for key, value in values.items():
        if isinstance(value, dict):
            inner = table.get(key)
            if not isinstance(inner, dict):
                inner = tomlkit.table()
                table[key] = inner
            _merge(inner, value)
        elif value is not None and table.get(key) != value:
            table[key] = value
