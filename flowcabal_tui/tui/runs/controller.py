"""The workflow and its runs: which is in view, what its nodes do, and how one is started and stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.errors import FlowCabalError, WorkflowError
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.run import NodeState, RunRequest, RunState, RunSummary, RunWish
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.protocol.models import ConfirmModels
from flowcabal_tui.protocol.runs import ResumeRun, RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.tui.editing.places import part_for_editor, spot_of
from flowcabal_tui.tui.runs.asking import asked_inputs, asked_wish
from flowcabal_tui.tui.runs.history import RunPages, as_waiting
from flowcabal_tui.tui.runs.keeping import KeepDesk
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.preparing import preparing
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.runs.resuming import is_to_be_continued, may_continue
from flowcabal_tui.tui.runs.words import (
    INSTRUCTION,
    asks_for_wish,
    quote_words,
    refuse_without_chapter,
)
from flowcabal_tui.tui.shared.bridge import Bridge
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import DiffScreen, UnsavedScreen
from flowcabal_tui.tui.shared.messages import WorkflowShown
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.unsaved import Unsaved, as_words
from flowcabal_tui.tui.workflows.workflow import WorkflowPane

if TYPE_CHECKING:
    from flowcabal_tui.project.views import NodeView, Workbench


class RunDesk:
    """What the writer does with the workflow.

    `run` and `node` are in view; while `following`, the view goes to each node that starts. `stored` is the version
    below an edited document that was taken up again, else None.
    """

    def __init__(self, screen: Screen[Any], workbench: Workbench, bridge: Bridge) -> None:
        self._screen, self._workbench, self._bridge = screen, workbench, bridge
        self.workflow: Workflow | None = None
        self.run: RunId | None = None
        self.node: NodeId | None = None
        self.following = True
        self.run_states: dict[RunId, RunState] = {}
        self._positions: dict[ChapterId | None, int] = {}
        self.node_states: dict[NodeId, NodeState] = {}
        self._templates: tuple[Workflow, ...] = ()
        self._unsaved: Workflow | None = None
        self._drafts = Unsaved(workbench)
        self.stored: Workflow | None = None
        self.keep = KeepDesk(screen, workbench).keep

    @property
    def title(self) -> str:
        """The name of the workflow in view."""
        return self.workflow.name or self.workflow.id if self.workflow else ""

    @property
    def active(self) -> tuple[RunId, ...]:
        """Runs that do something at this moment."""
        return tuple(run for run, state in self.run_states.items() if state in ("running", "paused"))

    @property
    def interrupted(self) -> tuple[RunId, ...]:
        """Runs that a crash or the end of the program broke off."""
        return tuple(run for run, state in self.run_states.items() if state == "interrupted")

    async def load(self, chapter: ChapterId | None) -> None:
        """Reads templates and runs, and shows what belongs to the chapter."""
        self._templates = await self._workbench.workflows()
        await self.open_chapter(chapter)

    async def open_chapter(self, chapter: ChapterId | None) -> None:
        """Shows the newest run of the chapter, or the template as it would run."""
        await self.put_away()
        await self._place_chapters()
        newest = [as_waiting(run) for run in await self._workbench.runs(1, RunWish(chapter))]
        unended = [as_waiting(run) for run in await self._workbench.runs(-1, RunWish(unended=True))]
        self.run_states = {run.id: run.state for run in (*unended, *newest)}
        if newest:
            await self.show_run(newest[0], as_it_was=False)
        elif self._templates:
            chosen = self.workflow.id if self.workflow else self._templates[0].id
            known = next((item for item in self._templates if item.id == chosen), self._templates[0])
            await self.show_template(known.reference)

    async def _place_chapters(self) -> None:
        self._positions = {item.id: item.position for item in await self._workbench.chapters()}

    async def show_template(self, reference: str) -> None:
        """Shows a workflow that is not running."""
        await self.put_away()
        self.run, self.node_states = None, {}
        await self._show_workflow(await self._workbench.workflow(reference))

    async def show_run(self, summary: RunSummary, *, as_it_was: bool = True) -> None:
        """Shows a run: its document as it was, or as it is now, so that an edit builds on the newest; its nodes."""
        self.run, self.node_states = summary.id, dict(summary.nodes)
        document = await self._workbench.run_workflow(summary.id)
        newest = next((item for item in self._templates if item.id == document.id), document)
        await self._show_workflow(document if as_it_was else newest)

    async def _show_workflow(self, workflow: Workflow) -> None:
        edited = await self._drafts.of(workflow) or await self._edited_before(workflow)
        self.stored, self._unsaved = None if edited is None else workflow, edited
        self.workflow = workflow = edited or workflow
        pane = self._screen.query_one(WorkflowPane)
        pane.show_templates(self._templates, workflow.reference)
        pane.show(workflow, self.node_states)
        busy = ("waiting", "running", "retrying", "failed", "cancelled", "done")
        latest_first = [(node.id, self.node_states.get(node.id)) for node in reversed(workflow.nodes)]
        latest_first = [item for item in self.node_states.items() if item[1] == "waiting"] + latest_first
        ranked = sorted(latest_first, key=lambda item: busy.index(item[1]) if item[1] in busy else 9)
        self.node = None
        if workflow.nodes:
            node = ranked[0][0] if self.node_states else workflow.nodes[0].id
            pane.follow(node)
            await self.show_node(node)
        self._screen.post_message(WorkflowShown())

    async def _edited_before(self, newest: Workflow) -> Workflow | None:
        """Unsaved changes of an older version than the newest, after both were shown and the writer wants them."""
        if newest.reference not in (item.reference for item in self._templates):
            return None
        if (edited := await self._drafts.older(newest)) is None:
            return None
        title = _("{title}: from the newest version to your unsaved text").format(title=newest.name or newest.id)
        answer = await self._screen.app.push_screen_wait(UnsavedScreen(title, as_words(newest), as_words(edited)))
        if answer == "newer":
            await self._drafts.forget(newest.id)
        return edited.model_copy(update={"version": newest.version}) if answer == "mine" else None

    async def choose_node(self, node: NodeId) -> None:
        """The writer went to a node: the view stays there."""
        if node != self.node:
            self.following = False
            await self.show_node(node)

    async def show_node(self, node: NodeId) -> None:
        """Pours a node into the output, prompt and receipt panes."""
        self.node = node
        output, receipt = self._screen.query_one(OutputPane), self._screen.query_one(ReceiptPane)
        self._show_prompt(node)
        self._bridge.watch(self.run, node)
        if self.run is None or node not in self.node_states:
            output.show(None)
            receipt.clear()
            return
        view = await self._workbench.node(self.run, node)
        if node != self.node:
            return
        output.show(view)
        self.show_receipt(view, view.chosen or len(view.attempts), receipt)

    def _show_prompt(self, path: NodeId, *, anew: bool = False) -> None:
        """The node's prompt in its editor; one that stands inside another comes with what is beside it."""
        spot = spot_of(self.workflow, path) if self.workflow is not None else None
        if spot is not None and self.workflow is not None:
            part = part_for_editor(self.workflow, spot)
            self._screen.query_one(BlockEditor).show(part, spot.node, self._workbench.info.read_only, anew=anew)

    async def show_edited(self, at: NodeId | None) -> None:
        """The document was changed elsewhere than in the editor of the prompt: shows it, with the cursor at a path."""
        if self.workflow is None:
            return
        pane = self._screen.query_one(WorkflowPane)
        pane.show(self.workflow, self.node_states)
        if at is not None:
            pane.follow(at)
        if (path := pane.highlighted) is not None:
            self._show_prompt(path, anew=True)
            await self.show_node(path)

    def show_receipt(self, view: NodeView, number: int, pane: ReceiptPane | None = None) -> None:
        """The receipt of an attempt, if it has one."""
        attempt = next((item for item in view.attempts if item.number == number), None)
        pane = pane or self._screen.query_one(ReceiptPane)
        if attempt is None or attempt.receipt is None:
            pane.clear()
        else:
            before = next((item.receipt for item in view.attempts if item.number == number - 1), None)
            pane.show(attempt.receipt, self._receipt_title(view.title, attempt.receipt), before)

    def _receipt_title(self, node: str, receipt: Receipt) -> str:
        """A node's name with the chapter's number."""
        position = self._positions.get(receipt.chapter)
        return node if position is None else _("{node}, chapter {n}").format(node=node, n=position)

    async def node_moved(self, run: RunId, node: NodeId, state: NodeState, detail: str) -> None:
        """A node is in another state: one row changes; the view follows if it may."""
        if run != self.run:
            return
        self.node_states[node] = state
        pane = self._screen.query_one(WorkflowPane)
        pane.set_state(node, state, detail)
        follows = self.following and state in ("running", "waiting")
        if follows:
            pane.follow(node)
        if follows or node == self.node:
            await self.show_node(node)

    async def text_moved(self, run: RunId, node: NodeId) -> None:
        """An attempt began or is final: read the node again if it is in view."""
        if (run, node) == (self.run, self.node):
            await self.show_node(node)

    async def _has_model(self) -> bool:
        """When no model is set, what is found is proposed; its first use is confirmed."""
        if any(role == "user" for role, _endpoint in self._workbench.info.models):
            return True
        found = {item.identity: item for item in await self._workbench.found_models()}
        chosen = await self._screen.app.push_screen_wait(
            ChooseScreen(
                _("This project has no model yet. Which one shall write?"),
                tuple((item.identity, item.label) for item in found.values()),
            )
        )
        if chosen is None:
            return False
        if not found[chosen].local and not await self._screen.app.push_screen_wait(
            ConfirmScreen(
                _("Use {model}?").format(model=found[chosen].label),
                _("Every call costs money, and your manuscript is sent to its provider."),
            )
        ):
            return False
        await self._workbench.carry_out(ConfirmModels(chosen))
        return True

    async def start(self, chapter: ChapterId | None, targets: tuple[NodeId, ...] = (), *, step: bool = False) -> bool:
        """Asks for an instruction, shows what it would cost, runs. True when a run has begun."""
        await self.save()
        if self.workflow is not None:
            refuse_without_chapter(self.workflow, chapter)
        if self.workflow is None or not await self._has_model():
            return False
        wished: tuple[tuple[str, str], ...] | None = ((INSTRUCTION, ""),)
        if asks_for_wish(self.workflow):
            wished = await asked_wish(self._screen, self._workbench, self.workflow, chapter)
        if wished is None:
            return False
        inputs = await asked_inputs(self._screen, self._workbench, self.workflow, targets)
        if inputs is None:
            return False
        given = (*wished, *inputs)
        return await self._begin(RunRequest(self.workflow.reference, chapter, given, targets, step=step))

    async def again(self, chapter: ChapterId | None, node: NodeId) -> bool:
        """Another sample of a node, beside those that are there."""
        if self.workflow is None:
            return False
        if self.node_states.get(node) == "waiting":
            words = _("This step waits for your answer: F8. To write it anew from the start, stop it first: F9.")
            self._screen.notify(words, markup=False)
            return False
        known = await self._workbench.runs(1, RunWish(run=self.run)) if self.run is not None else ()
        chapter = known[0].chapter if known else chapter
        refuse_without_chapter(self.workflow, chapter)
        before = RunRequest(self.workflow.reference, chapter)
        if self.run is not None:  # what the writer wished for then holds for this attempt too
            before = replace((await self._workbench.run_details(self.run)).request, workflow=before.workflow)
        return await self._begin(replace(before, chapter=chapter).another(node))

    async def _begin(self, request: RunRequest) -> bool:
        known = next((item.reference for item in self._templates if item.reference == request.workflow), None)
        if known is None:
            newest = next((item for item in self._templates if self.workflow and item.id == self.workflow.id), None)
            request = replace(request, workflow=newest.reference if newest else request.workflow)
        with preparing(self._screen):
            quote = await self._workbench.quote(request)
        if not quote.is_free or quote.warnings:
            title = _("Run? This spends money.")
            if not await self._screen.app.push_screen_wait(ConfirmScreen(title, quote_words(quote))):
                return False
        with preparing(self._screen):
            run = RunId(await self._workbench.carry_out(RunWorkflow(replace(request, limit=quote.limit))))
        self.following = True
        for summary in await self._workbench.runs(1, RunWish(run=run)):
            self.run_states[run] = summary.state
            await self.show_run(summary)
        return True

    def edited(self, workflow: Workflow) -> None:
        """The document was changed: it becomes a new version when the writer goes elsewhere, runs it or leaves."""
        newest = next((item for item in self._templates if item.id == workflow.id), workflow)
        if self._unsaved is None and workflow.version < newest.version:
            words = _("This is version {old}, from an earlier run: changed it becomes the newest. Version {new} stays.")
            self._screen.notify(words.format(old=workflow.version, new=newest.version), markup=False)
        self.workflow = self._unsaved = workflow
        attempt(self._screen, self._drafts.put(workflow), group="document", exclusive=True)

    async def put_away(self) -> None:
        """The writer goes elsewhere: the edited document becomes a version, or stays as it is until it can run."""
        try:
            await self.save()
        except WorkflowError:
            words = _("{name} cannot run yet (`!` in the workflow says why). Your changes are kept until it can.")
            self._screen.notify(words.format(name=self.title), markup=False)

    async def save(self) -> None:
        """Stores the edited document, if there is one, as a new version. Raises WorkflowError when it cannot run."""
        workflow, self._unsaved = self._unsaved, None
        if workflow is None:
            return
        try:
            await self._workbench.carry_out(SaveWorkflow(workflow))
        except FlowCabalError:
            self._unsaved = workflow
            raise
        await self._drafts.forget(workflow.id)
        self._templates = await self._workbench.workflows()
        if self._unsaved is None:
            self.workflow = next((item for item in self._templates if item.id == workflow.id), workflow)
            self._screen.query_one(WorkflowPane).show_templates(self._templates, self.workflow.reference)

    async def choose_run(self) -> RunSummary | None:
        """Lists earlier runs; an interrupted one can be taken up again. Gives the one that was chosen."""
        await self._place_chapters()
        pages = RunPages(self._workbench, self._positions)
        choices = await pages.more()
        if not choices:
            self._screen.notify(_("Nothing has run yet."), markup=False)
            return None
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Runs, newest first"), choices, pages.more))
        summary = pages.found.get(chosen or "")
        if summary is None:
            return None
        await self.put_away()
        if summary.state == "interrupted":
            title, words = _("Go on with this run?"), _("What is finished is not run again.")
            if await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
                continues = await is_to_be_continued(self._screen, self._workbench, summary)
                if continues is not None:
                    await self._workbench.carry_out(ResumeRun(summary.id, continues))
                    self.following = True
        await self.show_run(summary)
        return summary

    async def go_on(self) -> None:
        """Continues the texts of the run in view that were cut off, after a question where that costs money."""
        if self.run is None or not await may_continue(self._screen, self._workbench):
            return
        await self._workbench.carry_out(ResumeRun(self.run, continues=True))
        self.following = True
        for summary in await self._workbench.runs(1, RunWish(run=self.run)):
            await self.show_run(summary)

    async def compare(self, node: NodeId, number: int) -> None:
        """Two attempts side by side: this one and the one before."""
        if self.run is None:
            return
        view = await self._workbench.node(self.run, node)
        texts = {item.number: item.text for item in view.attempts}
        if number in texts and number - 1 in texts:
            title = _("{node}: attempt {before} and {after}").format(node=view.title, before=number - 1, after=number)
            self._screen.app.push_screen(DiffScreen(title, texts[number - 1], texts[number]))

    async def preview(self, chapter: ChapterId | None, node: NodeId) -> None:
        """Shows what the node would be given now; spends nothing."""
        if self.workflow is not None:
            refuse_without_chapter(self.workflow, chapter)
            receipt = await self._workbench.preview_context(RunRequest(self.workflow.reference, chapter), node)
            title = _("{node}, as it would be now").format(node=self.workflow.node(node).title)
            self._screen.query_one(ReceiptPane).show(receipt, title)
