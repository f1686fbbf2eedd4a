"""The conversation: a panel at the right of any screen, or the whole screen if there is little space."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from flowcabal_tui.domain.conversation import (
    AskQuote,
    Chip,
    Citation,
    Conversation,
    ConversationId,
    ConversationLevel,
    PermissionOption,
    Scope,
    Turn,
)
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposals import (
    DECIDED,
    OPEN_STATES,
    OutlineEdit,
    Proposal,
    ProposalId,
    TextEdit,
    WorkflowEdit,
)
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.proposal_words import KINDS
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.conversations import (
    AnswerPermission,
    AnswerStreaming,
    AskBook,
    DeleteConversation,
    SendWaiting,
    SetLevel,
    StartConversation,
    StopAnswer,
    TurnChanged,
)
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from flowcabal_tui.tui.conversation.chips import offered
from flowcabal_tui.tui.conversation.question_line import QuestionLine, UnsentQuestion
from flowcabal_tui.tui.conversation.rows import NameWords, TalkRow, level_words, live_row, receipt_of, rows_of
from flowcabal_tui.tui.conversation.turn_list import TurnList
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.tui.conversation.other_pages import OtherPages

NEW, FIND = "new", "find"


@dataclass(frozen=True, slots=True)
class InView:
    """The content beside the conversation: for `@selection`, and for the scopes of "do"."""

    chapter: ChapterId | None = None
    selection: Chip | None = None
    workflow: str = ""


class ConversationScreen(ModalScreen[Citation | None]):
    """Returns a place to open, or None."""

    help = HelpData(
        mark("Conversation"),
        mark("Ask about the book; Enter sends. `@` adds a chapter, a name or the selection: what is sent and its "
             "price are shown below. Statements with a source end with the number of the chapter: Enter on one "
             "opens it; statements without a source are dim. A card (±) is a proposal: `a` accepts it, `x` "
             "rejects it, `e` edits it, `u` undoes your decision, Enter shows the difference. F7 sets what the "
             "conversation may do. F4 shows which parts of the book are sent with the question. F9 stops the "
             "answer and keeps the text so far; questions sent meanwhile wait. F3 opens other conversations."),
    )  # fmt: skip
    DEFAULT_CSS = """
    ConversationScreen { background: $background 30%; align: right top; }
    ConversationScreen > Vertical {
        width: 50%; height: 100%; background: $background; border-left: heavy $role-focus; padding: 0;
    }
    ConversationScreen.-narrow > Vertical { width: 100%; border-left: none; }
    ConversationScreen .head { height: 1; padding: 0 1; background: $panel; text-wrap: nowrap;
        text-overflow: ellipsis; }
    ConversationScreen .empty { padding: 0 1; height: auto; }
    ConversationScreen TurnList { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", mark("Close"), priority=True, id="talk.close"),
        Binding("a", "accept", mark("Accept"), tooltip=mark("Accept the card, or allow the request."),
                id="talk.accept"),
        Binding("x", "refuse", mark("Refuse"), tooltip=mark("Reject the card, or refuse the request."),
                id="talk.refuse"),
        Binding("e", "edit", mark("Edit"), tooltip=mark("Edit the card and accept it."), id="talk.edit"),
        Binding("u", "undo", mark("Undo"), tooltip=mark("Undo the decision on the card."), id="talk.undo"),
        Binding("f7", "level", mark("Mode"), priority=True, tooltip=mark("What the conversation may do."),
                id="talk.level"),
        Binding("f9", "stop", mark("Stop"), priority=True, tooltip=mark("Stop the answer; the text so far is kept."),
                id="talk.stop"),
        Binding("f3", "others", mark("Others"), priority=True, tooltip=mark("Other conversations, or a new one."),
                id="talk.others"),
        Binding("f4", "receipt", mark("Receipt"), priority=True, id="talk.receipt",
                tooltip=mark("The parts of the book that are sent with the question, or were sent with the one "
                             "under the cursor.")),
        Binding("tab", "switch", mark("List / line"), show=False, priority=True, id="talk.switch"),
        Binding("r", "send", mark("Send"), show=False, tooltip=mark("Send a waiting question, or send one again."),
                id="talk.send"),
        Binding("D,delete", "delete", mark("Delete"), show=False, tooltip=mark("Delete this conversation."),
                id="talk.delete"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(
        self,
        project: Project,
        identity: ConversationId,
        in_view: InView,
        typed: UnsentQuestion,
        pages: OtherPages,
    ) -> None:
        super().__init__()
        self._project, self.identity = project, identity
        self._in_view, self._typed, self._pages = in_view, typed, pages
        self._talk: Conversation | None = None
        self._turns: tuple[Turn, ...] = ()
        self._words = NameWords({}, {})

    @property
    def rows(self) -> TurnList:
        """The list of turns."""
        return self.query_one(TurnList)

    @property
    def question(self) -> QuestionLine:
        """The input for a question."""
        return self.query_one(QuestionLine)

    @property
    def line(self) -> Input:
        """The text field of the question."""
        return self.question.line

    def compose(self) -> ComposeResult:
        """Yields the head with the level, the turns, the input, the price of the question."""
        with Vertical():
            yield Static(markup=False, classes="head")
            words = _("Ask anything about the book; the answer names its chapters. F7 lets it propose changes.")
            yield Static(key_words(words), classes="empty")
            yield TurnList()
            yield QuestionLine(self._typed, self._quote)
            yield HintLine()

    def on_mount(self) -> None:
        """Focuses the input."""
        self.line.focus()
        self.work(self.reload(to_end=True), exclusive=True)

    def work(self, work: Coroutine[Any, Any, object], *, exclusive: bool = False, group: str = "talk") -> None:
        """Starts work and shows its errors."""
        attempt(self, work, group=group, exclusive=exclusive)

    async def reload(self, *, to_end: bool = False) -> None:
        """Reads the conversation, its cards, and the names."""
        chapters, entities = await self._project.book.chapters(), await self._project.story.entities()
        self._words = NameWords(
            {each.id: each.position for each in chapters}, {each.id: each.name for each in entities}
        )
        if self.is_attached:
            self.question.offers = offered(chapters, entities, self._in_view.selection)
        await self._read_turns(to_end=to_end)
        if self.is_attached:
            self.question.quote_soon()  # another conversation, or another level: another price

    async def _quote(self, text: str, chips: Sequence[Chip]) -> AskQuote:
        return await self._project.conversations.ask_quote(text, chips, self.identity)

    async def _read_turns(self, *, to_end: bool = False) -> None:
        self._talk = await self._project.conversations.conversation(self.identity)
        self._turns = await self._project.conversations.turns(self.identity)
        cards = await self._cards()
        if not self.is_attached:
            return
        self.query_one(".empty").display = not self._turns
        self.rows.show_rows(rows_of(self._turns, cards, self._words), to_end=to_end)
        self.refresh_bindings()
        self._show_head()

    async def _cards(self) -> dict[ProposalId, Proposal]:
        """The current proposals of the turns that still exist."""
        found: dict[ProposalId, Proposal] = {}
        for identity in (each for turn in self._turns for used in turn.used for each in used.proposals):
            with suppress(Gone):
                found[identity] = await self._project.story.proposal(identity)
        return found

    def _show_head(self) -> None:
        if (talk := self._talk) is not None:
            level = level_words(talk.level, talk.scope, self._scope_title)
            title = one_line(talk.title, 60) or _("A new conversation")
            self.query_one(".head", Static).update(head_words(level, title))

    def _scope_title(self, scope: Scope) -> str:
        if scope.kind == "chapter":
            return self._words.chapter_words(ChapterId(scope.target))
        return _("the lore") if scope.kind == "lore" else _("the workflow {name}").format(name=one_line(scope.target))

    # What arrives

    def heard(self, event: AnswerStreaming) -> None:
        """Shows a piece of the answer."""
        for at, turn in enumerate(self._turns):
            if event.conversation == self.identity and turn.number == event.turn and turn.state == "in_progress":
                known = turn.answer[: event.offset]
                grown = replace(turn, answer=known + event.chunk)
                self._turns = (*self._turns[:at], grown, *self._turns[at + 1 :])
                self.rows.show_live(live_row(grown))

    def changed(self, event: TurnChanged) -> None:
        """Updates a turn that began, changed or ended."""
        if event.conversation == self.identity:
            self.work(self.reload() if event.turn == 0 else self._read_turns(), exclusive=True, group="talk-read")

    # The line

    @on(QuestionLine.Sent)
    def ask(self, message: QuestionLine.Sent) -> None:
        """Sends the question on Enter; while an answer arrives, the question is queued."""
        message.stop()
        self.rows.follow()
        command = AskBook(self.identity, message.text, tuple(message.chips))
        self.work(self._project.carry_out(command), group="talk-ask")

    # The list

    @on(OptionList.OptionSelected)
    def open_row(self, event: OptionList.OptionSelected) -> None:
        """Opens a place in its chapter, or the difference of a card."""
        event.stop()
        row = self.rows.row
        after = row.card.difference.after if row is not None and row.card is not None else None
        if row is None:
            return
        if isinstance(after, TextEdit | OutlineEdit) and row.card is not None:
            self.app.push_screen(DiffScreen(_(KINDS[row.card.kind]), after.before, after.after))
        elif isinstance(after, WorkflowEdit):
            self.work(self._edit(row))
        elif row.places:
            self.work(self._open_place(row.places))

    async def _open_place(self, places: Sequence[Citation]) -> None:
        """The place; where there are several, the one that is chosen."""
        rows = tuple((str(at), (self._words.chapter(each.chapter), each.quotation)) for at, each in enumerate(places))
        chosen = "0" if len(places) == 1 else await self.app.push_screen_wait(ChooseScreen(_("Which place?"), rows))
        if chosen is not None:
            self.dismiss(places[int(chosen)])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disables keys of the list in the input, and keys of a card that would do nothing."""
        if action not in ("accept", "refuse", "edit", "undo", "send", "delete"):
            return True
        if self.line.has_focus:
            return False
        row = self.rows.row
        match action:
            case "accept" | "refuse":
                return row is not None and row.waits
            case "edit":
                return row is not None and row.card is not None and row.waits
            case "undo":
                return row is not None and row.card is not None and row.card.state in DECIDED
        return True

    @on(OptionList.OptionHighlighted)
    def turn_to_row(self) -> None:
        """Updates the keys for the row under the cursor."""
        self.refresh_bindings()

    def action_switch(self) -> None:
        """Switches between the input and the list."""
        (self.rows if self.line.has_focus else self.line).focus()

    def action_accept(self) -> None:
        """Accepts the card, or grants the permission."""
        self._decide(accept=True)

    def action_refuse(self) -> None:
        """Refuses the card or the permission."""
        self._decide(accept=False)

    def _decide(self, *, accept: bool) -> None:
        row = self.rows.row
        if row is None or row.call is None or not row.waits:
            return
        if row.card is not None:
            self.work(self._carry_out(DecideProposals((row.card.id,), "confirm" if accept else "drop")))
        else:
            option: PermissionOption = "allow_once" if accept else "reject_once"
            self.work(self._carry_out(AnswerPermission(self.identity, row.turn.number, row.call.id, option)))

    async def _carry_out(self, command: Command) -> None:
        await self._project.carry_out(command)
        await self._read_turns()

    def action_edit(self) -> None:
        """Accepts the card after editing it."""
        row = self.rows.row
        if row is not None and row.card is not None and row.waits:
            self.work(self._edit(row))

    async def _edit(self, row: TalkRow) -> None:
        assert row.card is not None
        edit = row.card.difference.after
        if isinstance(edit, WorkflowEdit):
            await self._pages.review(edit.id)
            record = await self._project.builds.build(edit.id)
            if record.decided and row.card.state in OPEN_STATES:
                await self._project.carry_out(DecideProposals((row.card.id,), "confirm" if record.saved else "drop"))
            await self._read_turns()
        elif isinstance(edit, TextEdit | OutlineEdit):
            text: str | None = await self.app.push_screen_wait(ProseScreen(_(KINDS[row.card.kind]), edit.after))
            if text is not None:
                await self._carry_out(CorrectProposal(row.card.id, replace(edit, after=text)))
        else:
            await self._pages.correct(row.card)
            await self._read_turns()

    def action_undo(self) -> None:
        """Undoes the decision on the card."""
        row = self.rows.row
        if row is not None and row.card is not None and row.card.state in DECIDED:
            self.work(self._carry_out(UndoDecision(row.card.id)))

    def action_send(self) -> None:
        """Sends a waiting question, or again one whose answer was cut off."""
        row = self.rows.row
        if row is not None and row.turn.state != "in_progress" and row.turn.stop != "end_turn":
            self.work(self._project.carry_out(SendWaiting(self.identity, row.turn.number)), group="talk-ask")

    # The conversation

    def action_receipt(self) -> None:
        """Shows the texts that go with the typed question, or went with the one under the cursor."""
        row, quoted = self.rows.row, self.question.quoted
        if self.line.has_focus and quoted is not None:
            receipt, words = quoted.receipt, self.line.value
        elif row is not None:
            receipt, words = receipt_of(row.turn), row.turn.asked
        else:
            receipt, words = None, ""
        if receipt is None:
            self.notify(_("Nothing was chosen from the book for this question."), markup=False)
        else:
            self._pages.receipt(receipt, one_line(words, 200))

    def action_stop(self) -> None:
        """Stops the answer; the text so far is kept."""
        self._project.send(StopAnswer(self.identity))

    @attempted(group="talk")
    async def action_level(self) -> None:
        """Asks for the level of the conversation."""
        scopes = {"ask": None, "suggest": None} | {f"do-{at}": scope for at, scope in enumerate(self._scopes())}
        rows = tuple((key, level_words(_level_of(key), scope, self._scope_title)) for key, scope in scopes.items())
        chosen = await self.app.push_screen_wait(ChooseScreen(_("What may the conversation do?"), rows))
        if chosen is not None:
            await self._project.carry_out(SetLevel(self.identity, _level_of(chosen), scopes[chosen]))
            await self.reload()

    def _scopes(self) -> list[Scope]:
        view = self._in_view
        found = [Scope("chapter", view.chapter)] if view.chapter else []
        found.append(Scope("lore"))
        return [*found, *([Scope("workflow", view.workflow)] if view.workflow else [])]

    def action_others(self) -> None:
        """Lists conversations to switch to, and offers a new one or a search."""
        self.work(self._others())

    async def _others(self, words: str = "") -> None:
        known = await self._project.conversations.conversations(words)
        rows = [(NEW, _("A new conversation")), (FIND, _("Find words in all conversations"))]
        rows += [(each.id, f"{one_line(each.title, 70) or '…'}  ({each.turns})") for each in known]
        found = _("Conversations with “{words}”") if known else _("No conversation contains “{words}”.")
        title = found.format(words=one_line(words, 40)) if words else _("Conversations")
        chosen = await self.app.push_screen_wait(ChooseScreen(title, tuple(rows)))
        if chosen == FIND:
            if wanted := await self.app.push_screen_wait(PromptLine(_("Find"))):
                await self._others(wanted)
        elif chosen is not None:
            self.identity = await _started(self._project) if chosen == NEW else ConversationId(chosen)
            await self.reload(to_end=True)
            if chosen == NEW:
                self.line.focus()

    @attempted(group="talk")
    async def action_delete(self) -> None:
        """Deletes the conversation, after a question."""
        words = _("All its questions and answers are deleted. Accepted changes stay in the book.")
        if await self.app.push_screen_wait(ConfirmScreen(_("Delete this conversation?"), words)):
            await self._project.carry_out(DeleteConversation(self.identity))
            self.identity = await last_used(self._project)
            await self.reload(to_end=True)


async def last_used(project: Project, wanted: ConversationId | None = None) -> ConversationId:
    """The wanted conversation if it exists, else the one used last, else a new one."""
    known = [each.id for each in await project.conversations.conversations()]
    return wanted if wanted in known else known[0] if known else await _started(project)


async def _started(project: Project) -> ConversationId:
    return ConversationId(await project.carry_out(StartConversation()))


def _level_of(key: str) -> ConversationLevel:
    return "do" if key.startswith("do-") else "suggest" if key == "suggest" else "ask"
