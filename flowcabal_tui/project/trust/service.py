"""Enforces that a project sends, spends and runs only what this user has confirmed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import get_args

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.agents.profile_kinds import ProfileKind
from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault, ProjectNotConfirmed, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.trust import TrustItem, TrustRequest, TrustState, TrustView
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.model_calls import model_calls
from flowcabal_tui.project.trust import trust_items
from flowcabal_tui.project.trust.collect import (
    Collected,
    collect,
    document_digest,
    function_items,
    function_of,
    model_items,
)
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.models import TrustChanged
from flowcabal_tui.settings.key_hosts import KeyHost, bind_keys, is_safe_transport, key_hosts
from flowcabal_tui.settings.project_file import AgentRole, ModelsSettings, ProjectSettings, agent_group
from flowcabal_tui.settings.secrets import find_key
from flowcabal_tui.settings.trust import TrustRecord
from flowcabal_tui.store import Store

log = logging.getLogger(__name__)


class Trust:
    """The trust of this user in one open project. Every place that sends, spends or runs checks it at the time of
    use."""

    def __init__(
        self,
        folder: Path,
        settings: Callable[[], ProjectSettings],
        store: Store,
        emit: Callable[[Event], None],
        *,
        for_this_run: bool = False,
    ) -> None:
        """With `for_this_run`, everything is permitted until the program ends, and nothing is recorded."""
        self._folder, self._settings, self._store, self._emit = folder, settings, store, emit
        self._for_this_run = for_this_run
        self._record: TrustRecord | None = None
        self._confirmed: set[str] = set()
        self._known = False
        self._unconfirmed: dict[str, TrustItem] = {}
        self._keys: set[KeyHost] = set()
        self._problem = ""

    async def begin(self) -> None:
        """Reads the record and compares it with the current requests of the folder. Makes no network call."""
        documents = await self._store.workflows.documents()
        await asyncio.to_thread(self._begin, documents)

    def _begin(self, documents: Collection[str]) -> None:
        try:
            self._record = TrustRecord.of(self._folder, self._settings().project.id)
        except OSError as error:
            self._problem = os_reason(error)
            return
        if (confirmed := self._record.read()) is None:
            return
        self._known, self._confirmed = True, set(confirmed)
        found = collect(self._folder, self._settings(), documents, self._confirmed)
        self._unconfirmed = {item.digest: item for item in found.request.items if not self._is_confirmed(item)}
        if self._remember_documents(found):
            self._keep(create=False)

    @property
    def state(self) -> TrustState:
        """The trust state; `restricted` as long as this user never confirmed the folder: nothing is then sent, spent or
        run."""
        if self._for_this_run:
            return "trusted"
        if not self._known:
            return "restricted"
        return "changed" if self._unconfirmed else "trusted"

    async def view(self) -> TrustView:
        """All current requests of the project, confirmed and unconfirmed ones."""
        documents = await self._store.workflows.documents()
        found = await asyncio.to_thread(collect, self._folder, self._settings(), documents)
        every = (*found.request.items, *self._unconfirmed.values())
        unconfirmed = TrustRequest.of(item for item in every if not self._is_confirmed(item))
        confirmed = TrustRequest.of(
            item for item in found.request.items if self._is_confirmed(item) and not self._is_ours(item)
        )
        if self._known:
            self._unconfirmed = {item.digest: item for item in unconfirmed.items}
        return TrustView(self.state, unconfirmed, confirmed, self._for_this_run, self._problem)

    # Use

    def require(self, *items: TrustItem) -> None:
        """Raises ProjectNotConfirmed with the items that the user has not confirmed."""
        if not all(map(self._allows, items)):
            self._read_again()
        refused = TrustRequest.of(item for item in items if not self._allows(item))
        if self.state == "restricted" or refused.items:
            self._refuse(refused)
            raise not_confirmed(refused)

    def require_opened(self) -> None:
        """Raises ProjectNotConfirmed while the project is restricted."""
        self.require()

    def require_model(self, table: str, endpoint: Endpoint) -> str | None:
        """The key for a call to the endpoint of a table under `[models]`; None if it names no key or the key is
        missing.

        Raises ModelError(NOT_CONFIRMED) for a host or key that the user has not confirmed, and for a key that would be
        sent over plain http to another machine.
        """
        if endpoint.provider == "offline":
            self._require_calls(())
            return None
        self._require_calls((trust_items.model_item(table, endpoint), *trust_items.key_items(endpoint)))
        key = find_key(endpoint)
        if key is not None:
            require_transport(endpoint.address)
        return key

    def require_knowledge(self) -> None:
        """Raises ProjectNotConfirmed for an external knowledge server, or ModelError for its key, unless confirmed."""
        self.require_opened()
        knowledge = self._settings().knowledge
        if not knowledge.url:
            return
        self.require(trust_items.knowledge_item(knowledge.url, knowledge.api_key_env))
        if knowledge.api_key_env:
            self._require_calls((trust_items.key_item(knowledge.api_key_env, knowledge.url),))
            require_transport(knowledge.url)

    def require_prompt(self, name: str, text: str) -> None:
        """Checks a file in `prompts`. Raises ModelError(NOT_CONFIRMED)."""
        self._require_calls((trust_items.prompt_item(name, text),))

    def require_profile(self, kind: ProfileKind) -> None:
        """Checks a folder in `profiles`. Raises ModelError(NOT_CONFIRMED)."""
        self._require_calls((trust_items.profile_item(kind),))

    def require_workflow(self, workflow: Workflow) -> None:
        """Checks a workflow before another one calls it. Raises ProjectNotConfirmed."""
        self.require(*trust_items.workflow_items(workflow, self._settings().actions.commands))

    async def require_run(self, workflow: Workflow) -> None:
        """Checks a workflow and the models that it calls before it runs, so that nothing is paid for a run that would
        stop later.

        Raises ProjectNotConfirmed, which lists all requests while the project is restricted.
        """
        if self.state == "restricted":
            raise not_confirmed((await self.view()).asked)
        settings, items = self._settings(), [*trust_items.workflow_items(workflow, self._settings().actions.commands)]
        called = {
            settings.models.called(call.role, call.model)[0]
            for call in model_calls(workflow.nodes)
            if call.role in ("user", "agent")
        }
        items += model_items(settings.models, called)
        self.require(*items)

    def items_of(self, action: Action) -> tuple[TrustItem, ...]:
        """The items of an action, with the command line or the plug-in behind it."""
        commands = self._settings().actions.commands
        if action.command:
            line = commands.get(action.command)
            return (
                trust_items.action_item(action),
                *((trust_items.command_item(action.command, line),) if line else ()),
            )
        return (trust_items.action_item(action), *function_items([function_of(action)]))

    def require_action(self, action: Action) -> None:
        """Checks an action before it is carried out. Raises ProjectNotConfirmed."""
        self.require(*self.items_of(action))

    def require_agent(self, role: AgentRole, name: str) -> None:
        """Checks a plug-in agent that the project requests before it is imported. Raises ProjectNotConfirmed."""
        self.require(*function_items([name], agent_group(role)))

    def require_function(self, name: str) -> None:
        """Checks a command or a plug-in's function before a `code` node calls it. Raises ProjectNotConfirmed."""
        line = self._settings().actions.commands.get(name)
        self.require(*((trust_items.command_item(name, line),) if line else function_items([name])))

    def _require_calls(self, items: Iterable[TrustItem]) -> None:
        try:
            self.require(*items)
        except ProjectNotConfirmed as error:
            raise ModelError(ModelFault.NOT_CONFIRMED, error.title, error.detail, error.advice) from error

    def _allows(self, item: TrustItem) -> bool:
        return self._for_this_run or self._is_confirmed(item)

    def _is_confirmed(self, item: TrustItem) -> bool:
        if item.kind == "key":
            return (item.name, item.target) in self._keys or self._is_bound(item.name, item.target)
        return item.digest in self._confirmed or self._is_ours(item)

    def _is_ours(self, item: TrustItem) -> bool:
        """True for a part of a workflow that comes with the program, which needs no confirmation."""
        return item.kind in ("workflow", "gate") and item.digest not in self._confirmed and item.digest in _shipped()

    def _is_bound(self, name: str, host: str) -> bool:
        """True when the user's file binds the key to the host. It is read until it does, so new bindings count at
        once."""
        try:
            if key_hosts().allows(name, host):
                self._keys.add((name, host))
                return True
        except SettingsError as error:
            log.warning("key hosts: %s", error.title)
        return False

    def _read_again(self) -> None:
        """Reads confirmations that the user may have given in another process."""
        if self._known and self._record is not None:
            self._confirmed |= set(self._record.read() or ())
            self._unconfirmed = {key: item for key, item in self._unconfirmed.items() if not self._is_confirmed(item)}

    def _refuse(self, refused: TrustRequest) -> None:
        """Adds refused items to the request, even if they were not there when the folder was read."""
        new = [item for item in refused.items if item.digest not in self._unconfirmed]
        self._unconfirmed |= {item.digest: item for item in new}
        if new and self._known:
            self.emit_state()

    # Answers

    async def confirm(self, digests: Collection[str]) -> None:
        """Confirms the items of the request with these digests, and the use of the folder itself.

        The confirmation is valid for this process even when it cannot be recorded; `TrustView.problem` then has the
        reason.
        """
        view = await self.view()
        items = [item for item in view.asked.items if item.digest in digests]
        self._keys |= {(item.name, item.target) for item in items if item.kind == "key"}
        self._confirmed |= {item.digest for item in items}
        self._known = True
        for item in items:
            self._unconfirmed.pop(item.digest, None)
        documents = await self._store.workflows.documents()
        self._remember_documents(await asyncio.to_thread(collect, self._folder, self._settings(), documents))
        self._problem = await asyncio.to_thread(self._keep, create=True)
        self.emit_state()

    async def renew(self, items: Iterable[TrustItem]) -> None:
        """Confirms changes that this user made through the program, in the same step; a restricted project stays so."""
        new = tuple(items)
        self._keys |= {(item.name, item.target) for item in new if item.kind == "key"}
        if self._known:
            self._confirmed |= {item.digest for item in new}
            for item in new:
                self._unconfirmed.pop(item.digest, None)
        self._problem = await asyncio.to_thread(self._keep, create=False)
        self.emit_state()

    async def renew_models(self, models: ModelsSettings) -> None:
        """Confirms the models that the user has chosen for writing and reasoning; the embedding model is not part of
        the choice."""
        await self.renew(model_items(models, ("user", "agent")))

    def confirms(self, workflow: Workflow | None) -> bool:
        """True when saving a new version of this document may confirm it: not when it contains unconfirmed items."""
        if workflow is None:
            return True
        return all(map(self._is_confirmed, trust_items.workflow_items(workflow, self._settings().actions.commands)))

    async def renew_workflow(self, workflow: Workflow) -> None:
        """Confirms a document that the user has saved in the program."""
        if self._known:
            self._confirmed.add(document_digest("workflow", to_json(workflow)))
        await self.renew(trust_items.workflow_items(workflow, self._settings().actions.commands))

    async def renew_run(self, workflow: Workflow) -> None:
        """Confirms the parameters that the user entered for one run of an otherwise confirmed workflow."""
        await self.renew(trust_items.workflow_items(workflow, self._settings().actions.commands))

    def _remember_documents(self, found: Collected) -> bool:
        """Remembers the fully confirmed documents, which later openings do not parse; True if there are new ones."""
        whole = {document for document, items in found.documents.items() if self._confirmed.issuperset(items)}
        new = whole - self._confirmed
        self._confirmed |= new
        return bool(new)

    def _keep(self, *, create: bool) -> str:
        """Stores keys and digests; returns the reason for a failure, otherwise ""."""
        try:
            bind_keys(self._keys)
            if self._record is not None:
                self._record.add(self._confirmed, create=create)
        except (OSError, SettingsError) as error:
            return error.title if isinstance(error, SettingsError) else os_reason(error)
        return ""

    def emit_state(self) -> None:
        """Emits the trust state of the project."""
        self._emit(TrustChanged(self.state, len(self._unconfirmed), self._problem))


def require_transport(url: str) -> None:
    """Raises ModelError(NOT_CONFIRMED) if a key would be sent over plain http to another machine."""
    if not is_safe_transport(url):
        host = host_of(url)
        raise ModelError(
            ModelFault.NOT_CONFIRMED,
            _("A key is not sent to {host} over plain http.").format(host=host),
            _("Anyone between this machine and that one could read it. Nothing was sent."),
            _('Use https, or add "{host}" to plain_http in your own config.toml.').format(host=host),
        )


def not_confirmed(refused: TrustRequest) -> ProjectNotConfirmed:
    """The error for unconfirmed items; without items: for a folder that this user never confirmed."""
    return ProjectNotConfirmed(
        _("You have not confirmed what this project may send, spend or run."),
        "\n".join((*refused.lines(), _("None of it was sent or run. You can still read, edit and export."))),
        _("See all of it with `flowcabal-tui trust PROJECT` or F10; --trust confirms it for one run."),
    )


@cache
def _shipped() -> frozenset[str]:
    """Items of the workflows that come with the program, in every language."""
    from flowcabal_tui.demo import BookLanguage, templates
    from flowcabal_tui.examples import NAMES, example

    found = [workflow for code in get_args(BookLanguage) for workflow in templates(code)]
    found += [example(name, code) for code in get_args(BookLanguage) for name in NAMES]
    return frozenset(item.digest for workflow in found for item in trust_items.workflow_items(workflow, {}))


def renew_models(folder: Path, settings: ProjectSettings) -> None:
    """Confirms the models of a project that is not open. Raises SettingsError when the choice cannot be recorded."""
    items = [*model_items(settings.models.model_copy(update={"embedding": None}))]
    try:
        bind_keys((item.name, item.target) for item in items if item.kind == "key")
        TrustRecord.of(folder, settings.project.id).add({item.digest for item in items}, create=False)
    except OSError as error:
        raise SettingsError(_("Your answer could not be recorded."), os_reason(error)) from error


def record_new(folder: Path, settings: ProjectSettings, workflows: Iterable[Workflow]) -> None:
    """Confirms the objects that the program has just made, and nothing else in the folder.

    If the state folder cannot be written, the user is asked when the project is opened.
    """
    saved = tuple(workflows)
    items = [*model_items(settings.models), *(item for each in saved for item in trust_items.workflow_items(each, {}))]
    digests = {item.digest for item in items} | {document_digest("workflow", to_json(each)) for each in saved}
    try:
        bind_keys((item.name, item.target) for item in items if item.kind == "key")
        TrustRecord.of(folder, settings.project.id).add(digests, create=True)
    except (OSError, SettingsError) as error:
        log.warning("the trust record of a new project: %s", error)
