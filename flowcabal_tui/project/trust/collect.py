"""Collects all requests of a project folder. Reads only: no network, no process, nothing outside the folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from flowcabal_tui.actions.errors import ActionError
from flowcabal_tui.actions.registry import PLUGINS, Action, ActionRegistry, project_files
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.agents.prompt_library import PromptLibrary
from flowcabal_tui.domain.codec import from_json
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.domain.trust import TrustItem, TrustRequest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.nodes.graph import all_nodes
from flowcabal_tui.project.trust import trust_items
from flowcabal_tui.settings.project_file import AGENT_ROLES, ModelsSettings, ProjectSettings, agent_group
from flowcabal_tui.system.files import Folder

PROMPTS: Final = "prompts"
PROFILES: Final = "profiles"
MOST_FILES: Final = 500
MOST_BYTES: Final = 4 << 20
"""Registries beyond these bounds are not listed; their actions are refused until the user has confirmed each."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The request of a project, and the items of each document (workflow or registry) by the digest of its text.

    A document whose digest and items are all confirmed need not be parsed again.
    """

    request: TrustRequest
    documents: Mapping[Digest, tuple[Digest, ...]]


def collect(
    folder: Path, settings: ProjectSettings, workflows: Iterable[str], known: Collection[str] = ()
) -> Collected:
    """Collects the requests. `workflows` are the documents of the database; documents among the `known` digests are
    skipped."""
    items: list[TrustItem] = [*settings_items(settings)]
    documents: dict[Digest, tuple[Digest, ...]] = {}

    def document(kind: str, text: str, found: Iterable[TrustItem]) -> None:
        items.extend(found := tuple(found))
        documents[document_digest(kind, text)] = tuple(item.digest for item in found)

    for text in workflows:
        if document_digest("workflow", text) not in known:
            document("workflow", text, _of_workflow(text, settings))
    for text, path in _registries(folder, settings):
        if document_digest("registry", text) not in known:
            document("registry", text, _of_registry(folder, path))
    items += (trust_items.prompt_item(name, text) for name, text in PromptLibrary(folder / PROMPTS).own())
    items += (trust_items.profile_item(kind) for kind in ProfileKinds(folder / PROFILES).own())
    return Collected(TrustRequest.of(items), documents)


def document_digest(kind: str, text: str) -> Digest:
    """The digest of a whole document, distinct from the digests of items."""
    return digest_of(["document", kind, text])


def model_items(models: ModelsSettings, tables: Collection[str] = ()) -> Iterator[TrustItem]:
    """The items of hosts and keys of these tables' endpoints (none: of all) that reach anything outside the program."""
    for table, endpoint in models.tables.items():
        if endpoint.provider != "offline" and (not tables or table in tables):
            yield trust_items.model_item(table, endpoint)
            yield from trust_items.key_items(endpoint)


def settings_items(settings: ProjectSettings) -> Iterator[TrustItem]:
    """The requests of `flowcabal.toml` itself."""
    yield from model_items(settings.models)
    knowledge = settings.knowledge
    if knowledge.enabled and knowledge.url:
        yield trust_items.knowledge_item(knowledge.url, knowledge.api_key_env)
        if knowledge.api_key_env:
            yield trust_items.key_item(knowledge.api_key_env, knowledge.url)
    for name, command in settings.actions.commands.items():
        yield trust_items.command_item(name, command)
    for role in AGENT_ROLES:
        yield from function_items([getattr(settings.agents.plugins, role)], agent_group(role))


def _of_workflow(text: str, settings: ProjectSettings) -> tuple[TrustItem, ...]:
    try:
        workflow = from_json(Workflow, text)
    except ValidationError:  # it cannot be run either
        return ()
    items = trust_items.workflow_items(workflow, settings.actions.commands)
    functions = {str(node.params.get("function", "")) for node in all_nodes(workflow.nodes) if node.kind == "code"}
    return (*items, *function_items(functions - settings.actions.commands.keys()))


def function_items(names: Iterable[str], group: str = PLUGINS) -> tuple[TrustItem, ...]:
    """The entry points of installed plug-ins with these names; names that no package offers are left out."""
    wanted = {name for name in names if name}
    if not wanted:
        return ()
    return tuple(
        trust_items.plugin_item(entry.name, entry.value) for entry in entry_points(group=group) if entry.name in wanted
    )


def _of_registry(folder: Path, path: Path) -> tuple[TrustItem, ...]:
    try:
        actions = [action for action in ActionRegistry.load([path]).all() if action.enabled]
    except ActionError:  # it cannot be used either
        return ()
    functions = {function_of(action) for action in actions}
    place = path.relative_to(folder).as_posix()
    return (*(trust_items.action_item(action, place) for action in actions), *function_items(functions))


def function_of(action: Action) -> str:
    """The name of the plug-in's function behind an action; "" when it runs a command."""
    return "" if action.command else action.function or action.tool_name or ""


def _registries(folder: Path, settings: ProjectSettings) -> Iterator[tuple[str, Path]]:
    """Text and path of each registry file that can be read."""
    try:
        paths = project_files(folder, settings.actions.files)
    except ActionError:  # a link, or a name that leads out of the folder: then no action can be used
        return
    for path in paths[:MOST_FILES]:
        with suppress(OSError, UnicodeDecodeError):
            yield Folder(folder).text(*path.relative_to(folder).parts, limit=MOST_BYTES), path
