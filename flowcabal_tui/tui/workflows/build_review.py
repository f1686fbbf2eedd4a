"""A build under review: its changes by points of the checklist, accepted or rejected one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeGuard

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, sentences
from flowcabal_tui.project.build_words import (
    EDITABLE,
    SIGNS,
    build_price_lines,
    change_words,
    fate_words,
    reason_words,
    round_lines,
    rows_of,
    sides,
    spent_words,
)
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.builds import (
    AcceptBuild,
    AnswerBuild,
    EditChange,
    MarkChanges,
    RejectBuild,
    ResumeBuild,
    ReviseBuild,
    StopBuild,
    UndoBuild,
)
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.spending import agrees_to_pay, agrees_to_stop
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import facts_words, head_words, key_words
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.workflows.build_graphs import BuildGraphs

if TYPE_CHECKING:
    from flowcabal_tui.agents.builder.changes import Change
    from flowcabal_tui.project.builder.records import BuildRecord
    from flowcabal_tui.project.project import Project

_QUESTION: Final = "question"
_REASON_LINES: Final = 4


class BuildReviewScreen(ModalScreen[str]):
    """Returns the reference of the version made by the build, "" for none.

    Every decision of the writer is stored at once, so that leaving, and a kill, lose nothing.
    """

    help = HelpData(
        mark("Review of a build"),
        mark("What the Builder suggests, change by change; your workflow is not changed until you save. `a` "
             "accepts the change under the cursor, `x` rejects it, `e` edits it, `A` accepts all; changes that "
             "need a rejected one are left out with it. Ctrl+s saves the accepted changes as one new version, "
             "`u` undoes that. `r` rejects the suggestion with a reason, and the Builder continues; `X` rejects "
             "it for good. `g` shows the graph before and after, `o` the rounds."),
    )  # fmt: skip
    DEFAULT_CSS = """
    BuildReviewScreen { background: $background; }
    BuildReviewScreen > .head { height: auto; max-height: 5; padding: 0 1; }
    BuildReviewScreen > .body { height: 1fr; layout: vertical; }
    BuildReviewScreen PickList { height: 50%; min-height: 5; }
    BuildReviewScreen .side { height: 1fr; border-top: solid $panel; }
    BuildReviewScreen .reason { height: auto; max-height: 5; padding: 0 1; color: $text-muted; }
    BuildReviewScreen ContentSwitcher { height: 1fr; padding: 0 1; }
    BuildReviewScreen.-wide > .body, BuildReviewScreen.-roomy > .body { layout: horizontal; }
    BuildReviewScreen.-wide PickList, BuildReviewScreen.-roomy PickList { width: 46%; height: 1fr; }
    BuildReviewScreen.-wide .side, BuildReviewScreen.-roomy .side {
        width: 1fr; height: 1fr; border-top: none; border-left: solid $panel;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "tick(True)", mark("Accept change"), tooltip=mark("Accept this change."), id="build.take"),
        Binding("x", "tick(False)", mark("Reject"), tooltip=mark("Reject this change, and the changes that need it."),
                id="build.refuse"),
        Binding("e", "edit", mark("Edit"), id="build.edit", tooltip=mark("Edit this change, and accept it.")),
        Binding("A", "take_all", mark("Accept all"), show=False, id="build.take-all",
                tooltip=mark("Accept every change.")),
        Binding("ctrl+s,f2", "save", mark("Save"), priority=True, id="build.save",
                tooltip=mark("Save the accepted changes as one new version of the workflow.")),
        Binding("u", "undo", mark("Undo"), show=False, id="build.undo", tooltip=mark("Undo the saved version.")),
        Binding("r", "revise", mark("Reason"), id="build.revise",
                tooltip=mark("Reject the suggestion with a reason, or answer its question; the Builder continues.")),
        Binding("f", "form", mark("Form"), show=False, tooltip=mark("Build again from the form, without a model."),
                id="build.form"),
        Binding("X", "reject", mark("Reject all"), show=False, tooltip=mark("Reject the suggestion for good."),
                id="build.reject"),
        Binding("C", "resume", mark("Continue the build"), show=False, id="build.resume",
                tooltip=mark("Continue a build that was stopped.")),
        Binding("f9", "stop", mark("Stop"), show=False, priority=True, id="build.stop",
                tooltip=mark("Stop the build at once; the changes so far are kept.")),
        Binding("g", "face('graphs')", mark("Graph"), priority=True, id="build.graph",
                tooltip=mark("The graph before and after, or the difference again.")),
        Binding("o", "face('rounds')", mark("Rounds"), show=False, id="build.rounds",
                tooltip=mark("What the model wrote, the tools it called, its errors and its tokens.")),
        Binding("escape,q", "leave", mark("Back"), priority=True, id="build.back"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(self, project: Project, build: str) -> None:
        super().__init__()
        self._project, self.build = project, build
        self._record: BuildRecord | None = None
        self._listed: dict[str, Change] = {}

    def compose(self) -> ComposeResult:
        """Yields the state, the changes, and the details of one beside them."""
        yield FactsText(classes="head")
        with Container(classes="body"):
            yield PickList()
            with Vertical(classes="side"):
                yield Static(markup=False, classes="reason")
                with ContentSwitcher(initial="changes"):
                    yield DiffView(id="changes")
                    yield BuildGraphs(id="graphs")
                    yield StreamView(id="rounds")
        yield HintLine()

    def on_mount(self) -> None:
        """Reads the build behind the first frame."""
        self.query_one(PickList).focus()
        self.read_again()

    def read_again(self) -> None:
        """Reloads after progress or a decision."""
        attempt(self, self._reload(), group="reload", exclusive=True)

    async def _reload(self) -> None:
        self._record = record = await self._project.builds.build(self.build)
        if not self.is_attached:
            return
        taken, _fallen = record.taken
        self._listed = {each.id: each for each in record.changes}
        self.query_one(PickList).refill(list(self._rows(record, taken)))
        self.query_one(FactsText).show(*_head(record))
        self.query_one(BuildGraphs).show(record)
        self.query_one("#rounds", StreamView).set_text(clean("\n".join(round_lines(record))), follow=False)
        self._show_row()

    def _rows(self, record: BuildRecord, taken: frozenset[str]) -> Iterator[Option]:
        if record.status == "asks":
            for number, words in enumerate(record.questions):
                yield Option(f"? {one_line(words)}", id=f"{_QUESTION}-{number}")
            return
        for what, changes in rows_of(record):
            yield Option(one_line(what), disabled=True)
            for each in changes:
                sign = "x" if each.id in taken else "!" if each.ticked else " "
                yield Option(f" [{sign}] {SIGNS[each.kind]} {one_line(change_words(each))}", id=each.id)

    @property
    def _change(self) -> Change | None:
        """The change under the cursor."""
        return self._listed.get(self.query_one(PickList).picked or "")

    @on(OptionList.OptionHighlighted)
    def _show_row(self) -> None:
        """The reason and the difference of the change under the cursor."""
        change, record = self._change, self._record
        words, old, new = "", "", ""
        if change is not None and record is not None:
            words = reason_words(record, change)
            old, new = sides(change)
        elif record is not None:
            new = "\n\n".join((*record.questions, *record.notes)) or record.explanation
        self.query_one(".reason", Static).update("\n".join(clean(words).split("\n")[:_REASON_LINES]))
        self.query_one("#changes", DiffView).set_texts(old, new)
        self.call_after_refresh(self.query_one("#changes", DiffView).show_first)

    # Keys

    def action_face(self, name: str) -> None:
        """Switches the view beside the list; the same key returns to the difference."""
        faces = self.query_one(ContentSwitcher)
        faces.current = "changes" if faces.current == name else name

    def action_tick(self, ticked: bool) -> None:
        """Accepts the change under the cursor, or rejects it."""
        if (change := self._change) is not None and self._may_decide():
            self._do(MarkChanges(self.build, (change.id,), ticked))
            if change.id != self.query_one(PickList).options[-1].id:  # the cursor would go round the end
                self.query_one(PickList).action_cursor_down()

    def action_take_all(self) -> None:
        """Accepts every change."""
        if self._listed and self._may_decide():
            self._do(MarkChanges(self.build, tuple(self._listed)))

    def action_save(self) -> None:
        """Saves the accepted changes as one new version."""
        if self._may_decide():
            attempt(self, self._save(), group="decide")

    async def _save(self) -> None:
        saved = await self._project.carry_out(AcceptBuild(self.build))
        self.notify(_("Saved as {name}. `u` undoes it.").format(name=saved), markup=False)
        await self._reload()

    def action_undo(self) -> None:
        """Undoes the saved version."""
        if self._record is not None and self._record.saved and not self._project.info.read_only:
            attempt(self, self._undo(), group="decide")
        else:
            self.notify(_("Nothing of this was saved."), markup=False)

    async def _undo(self) -> None:
        reference = await self._project.carry_out(UndoBuild(self.build))
        gone = _("Undone: the workflow is deleted again.")
        notice = _("Undone: {name} is as it was before.").format(name=reference) if reference else gone
        self.notify(notice, markup=False)
        await self._reload()

    def action_reject(self) -> None:
        """Rejects the suggestion for good."""
        if self._may_change(self._record):
            self._do(RejectBuild(self.build))

    def action_stop(self) -> None:
        """Stops the build."""
        if self._record is not None and self._record.status == "building":
            attempt(self, self._stop(), group="stop", exclusive=True)
        else:
            self.notify(_("Nothing is being built here."), markup=False)

    async def _stop(self) -> None:
        if await agrees_to_stop(self.app, _("Stop the build?")):
            self._do(StopBuild(self.build))

    def action_resume(self) -> None:
        """Continues a build that was stopped or interrupted."""
        record = self._record
        if record is not None and record.status in ("building", "stopped") and not record.decided:
            attempt(self, self._go_on(record, ResumeBuild(self.build)), group="build")

    def action_revise(self) -> None:
        """Rejects the suggestion with a reason, or answers its question."""
        if self._record is not None and self._may_decide(asks=True):
            attempt(self, self._revise(self._record), group="build")

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Answers a question or edits a change on Enter."""
        message.stop()
        if (message.option_id or "").startswith(_QUESTION):
            self.action_revise()
        else:
            self.action_edit()

    async def _revise(self, record: BuildRecord) -> None:
        asks = record.status == "asks"
        title = one_line(" ".join(record.questions), 300) if asks else _("What should be different?")
        typed = ((await self.app.push_screen_wait(PromptLine(title))) or "").strip()
        if typed:
            command = AnswerBuild(self.build, typed) if asks else ReviseBuild(self.build, typed)
            await self._go_on(record, command)

    async def _go_on(self, record: BuildRecord, command: Command) -> None:
        if await self._may_pay(record):
            await self._project.carry_out(command)
            await self._reload()

    def _may_change(self, record: BuildRecord | None) -> TypeGuard[BuildRecord]:
        is_open = record is not None and record.status != "building" and not record.decided
        return is_open and not self._project.info.read_only

    async def _may_pay(self, record: BuildRecord) -> bool:
        """The writer's answer to the price of continuing; True without a question where nothing is paid."""
        if record.offline or record.form is not None:
            return True
        workflow = str(record.base["id"]) if record.base and not record.from_file else ""
        price = await self._project.builds.build_price(record.wish, workflow)
        if price is None or price.is_free:
            return True
        return await agrees_to_pay(self.app, _("Continue with the Builder?"), build_price_lines(price))

    def action_form(self) -> None:
        """Builds again by the form."""
        if self._may_change(record := self._record):
            attempt(self, self._by_form(record), group="build")

    async def _by_form(self, record: BuildRecord) -> None:
        from flowcabal_tui.tui.workflows.build_form import ask_form

        form = await ask_form(self.app, self._project, "\n".join((record.wish, *record.answers)), record)
        if form is not None:
            self.notify(_("{id} is being built.").format(id=self.build), markup=False)
            await self._project.carry_out(ReviseBuild(self.build, form=form))
            await self._reload()

    def action_edit(self) -> None:
        """Edits the value of the change under the cursor."""
        if (change := self._change) is not None and self._may_decide():
            if change.kind in EDITABLE:
                attempt(self, self._edit(change), group="edit")
            else:
                self.notify(_("This change cannot be edited. Accept or reject it."), markup=False)

    async def _edit(self, change: Change) -> None:
        """Asks until the value is valid; a rejected entry can be corrected."""
        value = _typed(change.after)
        while (answer := await self._typed(change, value)) is not None:
            try:
                await self._project.carry_out(EditChange(self.build, change.id, answer[0]))
            except FlowCabalError as error:
                value = answer[0]
                words = sentences(error.title, error.detail)
                self.notify(words, severity="error", markup=False)
            else:
                break
        await self._reload()

    async def _typed(self, change: Change, value: Any) -> tuple[Any] | None:
        title = change_words(change)
        if isinstance(value, str) and change.kind in ("renamed", "meta"):
            name = await self.app.push_screen_wait(PromptLine(title, value=value))
            return None if name is None else (name,)
        if isinstance(value, str) and change.kind in ("prompt", "wiring", "param"):
            text = await self.app.push_screen_wait(ProseScreen(title, value))
            return None if text is None else (text,)
        from flowcabal_tui.tui.workflows.data_editor import DataEditor

        answer: tuple[Any] | None = await self.app.push_screen_wait(DataEditor(title, value, lambda _value: ()))
        return answer

    def _may_decide(self, *, asks: bool = False) -> bool:
        """True when changes can be decided; otherwise shows the reason."""
        record, why = self._record, ""
        if record is None:
            return False
        if self._project.info.read_only:
            why = _("The project is open read-only.")
        elif record.saved:
            why = _("It was saved as {name}. `u` undoes it.").format(name=record.saved)
        elif record.decided:
            why = _("It was rejected.")
        elif not (record.status == "finished" or (asks and record.status == "asks")):
            why = _state_words(record)
        if why:
            self.notify(why, markup=False)
        return not why

    def _do(self, command: Command) -> None:
        async def carried() -> None:
            await self._project.carry_out(command)
            await self._reload()

        attempt(self, carried(), group="decide")

    def action_leave(self) -> None:
        """Leaves; all decisions are stored."""
        self.dismiss(self._record.saved if self._record is not None else "")


def _head(record: BuildRecord) -> Iterator[Content]:
    """The request, the state of the build, its assumptions and its notes."""
    yield head_words(record.id, one_line(record.wish or _("from the form"), 300), role="text")
    fate = fate_words(record) if record.status != "asks" and record.changes else ""
    yield key_words(facts_words(_state_words(record), fate))
    lines = [record.stopped, *(_("assumed: {text}").format(text=each) for each in record.assumptions)]
    lines += [*(f"! {each}" for each in record.problems), *record.notes]
    yield from (Content(one_line(each, 300)) for each in lines if each)


def _typed(value: Any) -> Any:
    """A prompt of one text block is edited as text."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and set(value[0]) <= {"kind", "text"}:
        return value[0].get("text", value)
    return value


def _state_words(record: BuildRecord) -> str:
    """The state of a build with the key that leads on, in one line."""
    spent = spent_words(record)
    if record.saved:
        return _("saved as {name}: `u` undoes it").format(name=record.saved)
    if record.decided:
        return _("rejected")
    match record.status:
        case "building":
            return _("is being built: {spent}; F9 stops it, `C` continues after an interruption").format(spent=spent)
        case "asks":
            return _("asks you: Enter answers, `f` opens the form")
        case "finished":
            return facts_words(_("waits for you: Ctrl+s saves the accepted changes"), spent if record.rounds else "")
        case _:
            return facts_words(_("stopped: `C` continues, `f` opens the form"), spent if record.rounds else "")
