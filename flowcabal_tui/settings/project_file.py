"""`flowcabal.toml`: the settings of a project. It is shared with the novel, so it contains no secret."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.lengths import Counting
from flowcabal_tui.domain.memory import EntityKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.proofing import PROOF_RULES, ProofRule
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.settings.file_text import LARGEST_PROJECT_FILE, project_text, require_writable, text_of
from flowcabal_tui.settings.locked import in_turn
from flowcabal_tui.settings.paths import PROJECT_FILE
from flowcabal_tui.settings.toml_file import changed, parsed
from flowcabal_tui.system.files import PRIVATE, Folder, Modes


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ModelsSettings(_Table):
    """Models by role. None: not configured yet."""

    user: Endpoint | None = Field(None, description="Writes the text of the book.")
    agent: Endpoint | None = Field(None, description="Checks facts and writes summaries; unset: as `user`.")
    embedding: Endpoint | None = Field(
        None, description="Makes vectors; unset: computed on this machine, from words alone."
    )
    more: dict[str, Endpoint] = Field(
        default_factory=dict, description="Further models that a node may name, each by a name of your own."
    )

    def of(self, role: Role) -> Endpoint | None:
        """The endpoint of a role; the agent role falls back to the user's model."""
        chosen: Endpoint | None = getattr(self, self.role(role))
        return chosen

    def role(self, role: Role) -> Role:
        """The role whose settings apply: `user` for an agent without a model of its own."""
        return "user" if role == "agent" and self.agent is None else role

    @property
    def tables(self) -> dict[str, Endpoint]:
        """The configured endpoints, by the names of their tables under `[models]`, writing roles first."""
        roles = {"user": self.user, "agent": self.agent}
        further = {f"more.{name}": endpoint for name, endpoint in self.more.items()}
        known = {**roles, **further, "embedding": self.embedding}
        return {table: endpoint for table, endpoint in known.items() if endpoint is not None}

    @property
    def names(self) -> tuple[str, ...]:
        """The model names that a node may use: further models by the names of their tables, and the models of the
        roles."""
        roles = [endpoint.model for endpoint in (self.user, self.agent) if endpoint is not None]
        return tuple(dict.fromkeys([*roles, *self.more]))

    def called(self, role: Role, name: str | None = None) -> tuple[str, Endpoint | None]:
        """The table that determines the target of a call, and its endpoint (None: not configured).

        A node's `name` is that of a table of `more`, else the model of the role or of any other table that writes; a
        name that no table has is another model at the endpoint of the role.
        """
        table, chosen = self.role(role), self.of(role)
        if name is None or (name not in self.more and chosen is not None and chosen.model == name):
            return table, chosen
        named = {f"more.{name}": self.more[name]} if name in self.more else {}
        named = named or {each: it for each, it in self.tables.items() if it.model == name and each != "embedding"}
        for found in named.items():
            return found
        return table, chosen.model_copy(update={"model": name}) if chosen else None


class ProjectTable(_Table):
    id: str = Field("", description="Made with the project; leave it as it is.")
    name: str = Field(min_length=1, description="Title of the book.")
    language: Literal["zh", "en"] = Field("en", description="Language of the book.")
    author: str = Field("", description="Author; prompts may name them as {{project.author}}.")
    blank_lines_break: bool = Field(
        False, description="Whether more blank lines than usual break scenes, as lines of ornaments (***, ※) always do."
    )


class BudgetSettings(_Table):
    context_tokens: int = Field(25_000, ge=500, description="What the Context agent may add to one prompt.")
    max_cost: Decimal | None = Field(None, ge=0, description="No call starts after this much was spent.")
    max_tokens: int | None = Field(None, ge=0, description="The same in tokens, in and out together.")


AgentRole = Literal["context", "checker", "curator", "builder"]
AGENT_ROLES: Final[tuple[AgentRole, ...]] = get_args(AgentRole)


def agent_group(role: AgentRole) -> str:
    """The group of entry points that offer an agent for a role."""
    return f"flowcabal_tui.agents.{role}"


class AgentPlugins(_Table):
    """Agents of installed plug-ins, by the names of their entry points; empty: the agent of the program."""

    context: str = Field("", description="The Context agent, in the group `flowcabal_tui.agents.context`.")
    checker: str = Field("", description="The Monitor, in the group `flowcabal_tui.agents.checker`.")
    curator: str = Field("", description="The curator, in the group `flowcabal_tui.agents.curator`.")
    builder: str = Field("", description="The Builder, in the group `flowcabal_tui.agents.builder`.")


class AgentsSettings(_Table):
    context: bool = Field(True, description="Adds what a prompt must know from the book.")
    monitor: bool = Field(True, description="Checks drafts for contradictions with the book.")
    curator: bool = Field(True, description="Makes summaries and profiles of what is kept.")
    profiles: int = Field(3, ge=0, le=50, description="Profiles that one kept chapter may renew.")
    references: bool = Field(
        False, description="Searches all reference books; otherwise only an inquiry that names one does."
    )
    scene: bool = Field(
        False,
        description="Asks the agents' model who is in a chapter's scene, where, when, and which kind it is, once for "
        "the same outline and instruction; otherwise rules read them.",
    )
    plugins: AgentPlugins = Field(AgentPlugins(), description="Agents of installed plug-ins; see the next table.")


class ChecksSettings(_Table):
    off: tuple[RuleName, ...] = Field(
        (), description=f"Rules that do not check this book: {', '.join(get_args(RuleName))}."
    )


class ProofingSettings(_Table):
    """Rules that proof the text without a model."""

    off: tuple[ProofRule, ...] = Field((), description=f"Rules that are off in this book: {', '.join(PROOF_RULES)}.")
    on: tuple[ProofRule, ...] = Field((), description="Rules that are off by default and on in this book: repeats.")


class KnowledgeSettings(_Table):
    enabled: bool = Field(True, description="Whether a knowledge server is used.")
    url: str = Field("", description="An OpenViking server elsewhere; empty: one is started on this machine.")
    api_key_env: str = Field("", description="Name of the environment variable with that server's root key.")


class GoalsSettings(_Table):
    """Lengths in characters for a Chinese book, in words otherwise; 0: no goal."""

    book: int = Field(0, ge=0, description="Target length of the book; 0: none.")
    chapter: int = Field(0, ge=0, description="Target length of a chapter; 0: none.")
    day: int = Field(0, ge=0, description="Target length of a day's writing; 0: none.")
    volume: int = Field(0, ge=0, description="Target length of a volume; 0: none.")
    until: date | None = Field(None, description="Day by which the book should be finished, such as 2027-03-31.")
    day_begins: int = Field(0, ge=0, le=23, description="Hour at which a writing day begins, for late writers.")
    hand_only: bool = Field(False, description="Only what is written by hand counts towards the goal of a day.")
    counting: Counting = Field(
        "plain",
        description="How the writing view counts Chinese: plain (characters and foreign words), word (with full-width "
        "punctuation, as Word's 字数), platform (all that is not blank).",
    )


class KindSettings(_Table):
    base: EntityKind = Field(description="The kind that agents and profiles treat its names as.")
    fields: tuple[str, ...] = Field((), max_length=40, description="The fields of each name of the kind.")


class NamesSettings(_Table):
    kinds: dict[str, KindSettings] = Field(
        default_factory=dict,
        description='Own kinds of names: `[names.kinds."sect"]` with `base = "organisation"` and `fields = ["rank"]`; '
        "one called character, location, plot-thread, item or organisation gives that kind fields.",
    )


class RunSettings(_Table):
    concurrency: int = Field(8, ge=1, le=256, description="Nodes that run at the same time, in all runs together.")


class ActionsSettings(_Table):
    """The actions that workflows may run outside the book. Registries in the folder `actions` are read without being
    named."""

    files: tuple[str, ...] = Field((), description="More registries: files or folders in the project's folder.")
    commands: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Commands that actions and `code` nodes may use: a name and its command line."
    )
    role: str = Field("", description="Role of workflows; an action that lists roles must list it.")
    timeout: float = Field(60, gt=0, le=86_400, description="Seconds that an action may take.")


class ProjectSettings(_Table):
    """The whole file.

    Defaults are constructed without validation: to validate each would build as many validators at every start.
    """

    project: ProjectTable
    models: ModelsSettings = ModelsSettings.model_construct()
    budget: BudgetSettings = BudgetSettings.model_construct()
    agents: AgentsSettings = AgentsSettings.model_construct()
    checks: ChecksSettings = ChecksSettings.model_construct()
    proofing: ProofingSettings = ProofingSettings.model_construct()
    knowledge: KnowledgeSettings = KnowledgeSettings.model_construct()
    run: RunSettings = RunSettings.model_construct()
    actions: ActionsSettings = ActionsSettings.model_construct()
    goals: GoalsSettings = GoalsSettings.model_construct()
    names: NamesSettings = NamesSettings.model_construct()


OFFLINE: Final = Endpoint(provider="offline", model="offline")


def load_project(folder: Path) -> ProjectSettings:
    """The project's settings. Raises ProjectNotFound or SettingsError."""
    return checked_project(folder, project_text(folder))


def checked_project(folder: Path, text: str) -> ProjectSettings:
    """The settings of a project whose file has this text. Raises SettingsError."""
    return parsed(folder / PROJECT_FILE, ProjectSettings, text)


def save_project(folder: Path, settings: ProjectSettings, modes: Modes = PRIVATE) -> None:
    """Writes these settings to the file, which is created if it is missing; see `change_project`. Raises OSError or
    SettingsError."""
    _write(folder, lambda _before: settings, modes)


def change_project(
    folder: Path, change: Callable[[ProjectSettings], ProjectSettings], modes: Modes = PRIVATE
) -> ProjectSettings:
    """Changes the current settings of the file, and returns the result.

    Only lines of changed settings are written: comments, order and permissions stay, and so do changes that another
    program made meanwhile. Raises OSError or SettingsError; then the file is unchanged.
    """

    def apply(before: ProjectSettings | None) -> ProjectSettings:
        if before is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), PROJECT_FILE)
        return change(before)

    return _write(folder, apply, modes)


def _write(folder: Path, change: Callable[[ProjectSettings | None], ProjectSettings], modes: Modes) -> ProjectSettings:
    path, project = folder / PROJECT_FILE, Folder(folder, modes)
    with in_turn(folder / PROJECT_FILE):
        known = project.read(PROJECT_FILE, limit=LARGEST_PROJECT_FILE) if project.is_there(PROJECT_FILE) else None
        text = None if known is None else text_of(path, lambda _path: known.decode("utf-8"))
        new, settings = changed(path, ProjectSettings, text, change)
        if new != text:
            require_writable(path)
            project.write(new.encode(), PROJECT_FILE)
    return settings
