"""The workspace: messages of the panes become work of the controllers, facts of the engine become what is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.timer import Timer

from flowcabal_tui.domain.ids import ChapterId, NodeId, QuestionId
from flowcabal_tui.domain.run import Decision
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.manuscript_words import ProposalAccepted
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.actions import bindings
from flowcabal_tui.tui.shared.bridge import drain_seconds
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from flowcabal_tui.tui.workspace.facts import FactsScreen

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench
    from flowcabal_tui.tui.story.record_rows import RecordList


class WorkspaceScreen(FactsScreen):
    """One project on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("workspace")

    def __init__(
        self, workbench: Workbench, now: Callable[[], datetime], editor: str = "", manuscript: Path | None = None
    ) -> None:
        """`editor` is an external editor's command from the settings; `manuscript` is imported at once."""
        super().__init__(workbench, now, editor)
        self._first_import = manuscript
        self._drain_timer: Timer | None = None

    def again(self) -> WorkspaceScreen:
        """The same workspace made anew, in the language that is now in use."""
        fresh = WorkspaceScreen(self._workbench, self._now, self._editor)
        fresh.book.current = self.book.current
        return fresh

    @property
    def active_runs(self) -> int:
        """How many runs would be stopped by quitting."""
        return len(self.runs.active)

    def on_mount(self) -> None:
        """The panes fill behind the first frame; the feed is drained from then on."""
        super().on_mount()
        self.output.book_language = self.query_one(ManuscriptPane).book_language = self._workbench.info.language
        self.questions.set_title()
        self._drain_timer = self.set_interval(drain_seconds(), self.bridge.drain)
        self._work(self._load(), "load")

    async def _load(self) -> None:
        await self.book.load()
        await self.runs.load(self.book.current)
        await self.memory.load()
        await self.questions.load()
        self._show_counts()
        if self._first_import is not None:
            path, self._first_import = self._first_import, None
            await self.book.import_book(path)

    def stop_intake(self) -> None:
        """Nothing more is taken from the feed."""
        if self._drain_timer is not None:
            self._drain_timer.stop()

    async def save_drafts(self) -> None:
        """Unsaved text goes where a crash cannot reach it; an edited workflow becomes a version."""
        await self.book.drafts.write()
        await self.document.put_away()

    def action_pane(self, pane: str, focus: bool = True) -> None:
        """Shows a pane; leaving the prompt stores what was changed there."""
        if self.pane_in_view == "prompt" and pane != "prompt":
            self._work(self.document.put_away(), "workflow")
        super().action_pane(pane, focus)

    @on(ChapterList.Chosen)
    def open_chapter(self, event: ChapterList.Chosen) -> None:
        """Its text, and its newest run."""
        self._work(self._open_chapter(event.chapter), "chapter", exclusive=True)
        self.action_pane("manuscript")

    async def _open_chapter(self, chapter: ChapterId) -> None:
        await self.book.open(chapter)
        await self.runs.open_chapter(chapter)

    @on(ChapterList.AddRequested)
    def add_chapter(self) -> None:
        """Asks for a title first."""
        self._work(self.book.add())

    @on(ChapterList.RenameRequested)
    def rename_chapter(self, event: ChapterList.RenameRequested) -> None:
        """Asks for the new title."""
        self._work(self.book.rename(event.chapter))

    @on(ChapterList.MoveRequested)
    def move_chapter(self, event: ChapterList.MoveRequested) -> None:
        """Earlier or later in the story."""
        self._work(self.book.move(event.chapter, event.delta))

    @on(ChapterList.DeleteRequested)
    def delete_chapter(self, event: ChapterList.DeleteRequested) -> None:
        """Asks first."""
        self._work(self.book.delete(event.chapter))

    @on(ChapterList.RunRequested)
    def run_chapter(self, event: ChapterList.RunRequested) -> None:
        """Opens the chapter and runs the template in view for it."""
        self._work(self._run_chapter(event.chapter))

    async def _run_chapter(self, chapter: ChapterId) -> None:
        if chapter != self.book.current:
            await self.book.open(chapter)
        await self._start()

    @on(ManuscriptPane.SaveRequested)
    def save_chapter(self, event: ManuscriptPane.SaveRequested) -> None:
        """What the writer typed is kept."""
        self._work(self.book.save(event.chapter, event.text, event.base))

    @on(ManuscriptPane.RestoreRequested)
    def restore_version(self, event: ManuscriptPane.RestoreRequested) -> None:
        """An older text becomes the newest version."""
        self._work(self.book.restore(event.chapter, event.text, event.version))

    @on(ManuscriptPane.DraftEdited)
    def keep_draft(self, event: ManuscriptPane.DraftEdited) -> None:
        """Unsaved text survives a crash."""
        self.book.drafts.edited(event.chapter, event.text, event.base)

    @on(ManuscriptPane.RewriteRequested)
    def rewrite(self, event: ManuscriptPane.RewriteRequested) -> None:
        """A passage with an instruction."""
        self._work(self.book.rewrite(event.chapter, event.start, event.end, event.text, event.instruction))

    @on(ProposalAccepted)
    def note_rewrite(self, event: ProposalAccepted) -> None:
        """The words of the passage are the model's."""
        self._work(self.book.accepted(event.proposal, event.text))

    @on(ManuscriptPane.VersionRequested)
    def show_version(self, event: ManuscriptPane.VersionRequested) -> None:
        """An older state of the chapter."""
        self._work(self.book.show_version(event.chapter, event.version))

    @on(ManuscriptPane.EditorRequested)
    def edit_outside(self, event: ManuscriptPane.EditorRequested) -> None:
        """The writer's own editor."""
        self._work(self.book.edit_outside(event.chapter, event.text, event.base))

    @on(ManuscriptPane.OutsideRequested)
    def compare_outside(self, event: ManuscriptPane.OutsideRequested) -> None:
        """What another program changed in the chapter's file."""
        self._work(self.book.compare_outside(event.chapter))

    def action_edit(self) -> None:
        """The manuscript, ready to be typed into."""
        self.action_pane("manuscript")
        self.query_one(ManuscriptPane).edit()

    def action_external_editor(self) -> None:
        """The manuscript in $EDITOR."""
        self.query_one(ManuscriptPane).action_editor()

    def action_import_book(self) -> None:
        """Chapters from a file."""
        self._work(self.book.import_book())

    def action_read_import(self) -> None:
        """The paid reading of imported chapters: paused, or begun."""
        self._work(self.book.reading.toggle(), "reading", exclusive=True)

    def action_export_book(self) -> None:
        """The book as a file."""
        self._work(self.book.export_book())

    async def _start(self, *targets: NodeId) -> None:
        if await self.runs.start(self.book.current, targets or self.graph.targets):
            self.action_pane("output")
        self._show_counts()

    def action_run(self) -> None:
        """The workflow in view, for the open chapter."""
        self._work(self._start(), "start", exclusive=True)

    def action_stop(self) -> None:
        """The run in view."""
        self._work(self.control.stop())

    def action_runs(self) -> None:
        """Earlier runs."""
        self._work(self._choose_run())

    async def _choose_run(self) -> None:
        if (run := await self.runs.choose_run()) is not None:
            if run.chapter not in (None, self.book.current):
                await self.book.open(run.chapter)
            self.action_pane("output")

    @on(WorkflowPane.RunRequested)
    def run_workflow(self) -> None:
        """From the workflow pane."""
        self.action_run()

    @on(BlockEditor.BlockRunRequested)
    def run_block(self, event: BlockEditor.BlockRunRequested) -> None:
        """One node, with what it needs."""
        self._work(self._start(event.node), "start", exclusive=True)

    @on(WorkflowPane.StopRequested)
    @on(OutputPane.StopRequested)
    def stop_node(self, event: WorkflowPane.StopRequested | OutputPane.StopRequested) -> None:
        """One node or all."""
        self._work(self.control.stop(event.node))

    @on(WorkflowPane.NodeChosen)
    def choose_node(self, event: WorkflowPane.NodeChosen) -> None:
        """The cursor is at another node."""
        self._work(self.runs.choose_node(event.node), "node", exclusive=True)

    @on(WorkflowPane.NodeOpened)
    def open_node(self, event: WorkflowPane.NodeOpened) -> None:
        """What it wrote, or its prompt if it has not run."""
        self._work(self.runs.choose_node(event.node), "node", exclusive=True)
        self.action_pane("output" if self.runs.run is not None else "prompt")

    @on(WorkflowPane.TemplateChosen)
    def choose_template(self, event: WorkflowPane.TemplateChosen) -> None:
        """Another workflow."""
        self._work(self.runs.show_template(event.reference), "node", exclusive=True)

    @on(WorkflowPane.PreviewRequested)
    def preview(self, event: WorkflowPane.PreviewRequested) -> None:
        """What the node would be given."""
        self._work(self.runs.preview(self.book.current, event.node))
        self.action_pane("context")

    @on(BlockEditor.Edited)
    def save_workflow(self, event: BlockEditor.Edited) -> None:
        """It becomes a new version later, not at every pause of the hands."""
        self._work(self.graph.block_edited(event.workflow), "edited")

    @on(WorkflowPane.Asked)
    def carry_out(self, event: WorkflowPane.Asked) -> None:
        """One of the many things that can be done with a node."""
        self._work(self.control.do(event.verb, event.node), "graph")

    @on(BlockEditor.ParamsRequested)
    def edit_params(self) -> None:
        """Of the node whose prompt would be shown."""
        self._work(self.control.do("params", self.runs.node), "graph")

    def action_undo(self, redo: bool) -> None:
        """Any change of the document, back or again."""
        self._work(self.graph.undo(redo=redo), "graph")

    def action_advance(self) -> None:
        """The next level."""
        self._work(self.control.advance(), "graph")

    def action_play(self) -> None:
        """The run in view, as a story."""
        self._work(self.questions.play(self.runs.run, self.document.title), "play", exclusive=True)

    @on(OutputPane.KeepRequested)
    def keep(self, event: OutputPane.KeepRequested) -> None:
        """Into the memory of the book."""
        self._work(self._keep(event), "keep", exclusive=True)

    async def _keep(self, event: OutputPane.KeepRequested) -> None:
        if words := await self.runs.keep(event.run, event.node, event.attempt, self.book.current):
            self.action_pane("manuscript")
            self.notify(words, markup=False)

    @on(OutputPane.AgainRequested)
    def run_again(self, event: OutputPane.AgainRequested) -> None:
        """Another sample."""
        work = self.runs.go_on() if event.continues else self.runs.again(self.book.current, event.node)
        self._work(work, "start", exclusive=True)

    @on(OutputPane.ReceiptRequested)
    def show_receipt(self, event: OutputPane.ReceiptRequested) -> None:
        """What this attempt was given."""
        if self.output.view is not None:
            self.runs.show_receipt(self.output.view, event.attempt)
        self.action_pane("context")

    @on(OutputPane.AttemptChosen)
    def show_attempt_receipt(self, event: OutputPane.AttemptChosen) -> None:
        """The receipt follows the attempt."""
        if self.output.view is not None:
            self.runs.show_receipt(self.output.view, event.number)

    @on(OutputPane.DiffRequested)
    def compare(self, event: OutputPane.DiffRequested) -> None:
        """This attempt beside the one before."""
        self._work(self.runs.compare(event.node, event.attempt))

    @on(OutputPane.ReloadRequested)
    def read_again(self, event: OutputPane.ReloadRequested) -> None:
        """Text was missed."""
        self._work(self.runs.text_moved(event.run, event.node), "node", exclusive=True)

    @on(ReceiptPane.SourceOpened)
    def open_receipt_source(self, event: ReceiptPane.SourceOpened) -> None:
        """The text that went into the prompt."""
        self._work(self.memory.open_source(event.uri, event.start, event.end, event.level, event.receipt))

    @on(ProfilePane.SourceOpened)
    def open_evidence(self, event: ProfilePane.SourceOpened) -> None:
        """The text that a sentence rests on."""
        self._work(self.memory.open_source(event.uri, event.start, event.end))

    @on(ProfilePane.ProfileChosen)
    def show_profile(self, event: ProfilePane.ProfileChosen) -> None:
        """A profile in its levels."""
        self._work(self.memory.show_profile(event.uri), "profile", exclusive=True)

    @on(ProfilePane.EditRequested)
    def edit_profile(self, event: ProfilePane.EditRequested) -> None:
        """A level of a profile, by hand."""
        self._work(self.memory.edit_profile(event.uri, event.level, event.text))

    @on(ProfilePane.PinRequested)
    def pin_profile(self, event: ProfilePane.PinRequested) -> None:
        """One state stands, whatever is made later."""
        self._work(self.memory.pin_profile(event.uri, event.generation))

    @on(ProfilePane.TakeRequested)
    def take_profile(self, event: ProfilePane.TakeRequested) -> None:
        """What was made since stands."""
        self._work(self.memory.take_profile(event.uri))

    @on(ProfilePane.MakeRequested)
    def make_profile(self, event: ProfilePane.MakeRequested) -> None:
        """Once more from the text."""
        self._work(self.memory.make_profile(event.uri))

    def action_look(self, what: str) -> None:
        """A page over the workspace: search, the whole manuscript, trust, the background work, this also to rebuild."""
        pages = {"search": self.search.find, "browser": self.browser.browse, "queue": self._queue}
        pages["trust"] = self.models.trust
        self._work(self._queue(rebuilds=True) if what == "rebuild" else pages[what](), "looking")

    async def _queue(self, *, rebuilds: bool = False) -> None:
        from flowcabal_tui.tui.memory.queue import QueueScreen

        await self.app.push_screen_wait(QueueScreen(self.background, self._now, rebuilds=rebuilds))

    def action_back_up(self) -> None:
        """The project as one file."""
        self._work(self.upkeep.back_up(), "backup", exclusive=True)

    def action_names(self) -> None:
        """Everyone and everything with a name."""
        self.story.names()

    def action_story(self, listed: RecordList) -> None:
        """Promises, timeline, or facts as of the open chapter."""
        chapter = self.book.chapter
        self.story.records(listed, chapter.position if chapter else 0)

    def action_meta(self) -> None:
        """Outline, style guide, world rules, notes."""
        self._work(self.memory.edit_meta(self.book.current))

    def action_memory(self, retry: bool) -> None:
        """Background work: again, or no more."""
        self._work(self.memory.work(retry))

    def action_check_models(self) -> None:
        """One small call each."""
        self._work(self.models.check_models(), "models", exclusive=True)

    async def decide(self, question: QuestionId, decision: Decision) -> None:
        """The writer's answer, and what comes of it."""
        self.runs.following = True
        self.action_pane("output")
        await self.questions.decide(question, decision)

    def action_decisions(self) -> None:
        """What waits for the writer."""
        self._work(self.questions.open(self.runs.run), "decisions", exclusive=True)
