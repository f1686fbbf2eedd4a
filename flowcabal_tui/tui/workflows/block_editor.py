"""The prompt of a node: its blocks, edited one at a time, and its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from pydantic import ValidationError
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.workflow import (
    Block,
    Blocks,
    InquiryBlock,
    Node,
    PromptParams,
    TextBlock,
    VirtualBlock,
    Workflow,
)
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.subscriptions import Request
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.facts_text import FactsText
from flowcabal_tui.tui.widgets.find_in_text import ask_to_find
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.role_words import key_words
from flowcabal_tui.tui.workflows.blocks import (
    FIELD_WORDS,
    FIELDS,
    Field,
    Slot,
    block_hint,
    block_row,
    blocks_of,
    no_blocks,
    node_head,
    same_content,
    sources_for,
    text_of,
    with_block_replaced,
    with_blocks,
    with_params,
    with_text,
)
from flowcabal_tui.tui.workflows.node_form import FormAnswer, NodeForm


class BlockEditor(Vertical):
    """Shows the blocks of one node; every change yields a new document. Ignores documents older than its own."""

    help = HelpData(
        mark("Prompt"),
        mark(
            "The blocks that make up the prompt. Enter edits one; `+` `v` `i` add text, another node's output, a "
            "question."
        ),
    )
    jump_key, models = "p", tuple[str, ...]()
    DEFAULT_CSS = """
    BlockEditor > .head { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }
    BlockEditor > PickList { height: auto; max-height: 40%; padding: 0 1; }
    BlockEditor > .details { height: 1; padding: 0 1; color: $text-muted; }
    BlockEditor > ProseArea { height: 1fr; padding: 0 1; }
    BlockEditor > ProseArea, BlockEditor > ProseArea:focus { border: none; }
    BlockEditor.-chip > ProseArea { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", mark("Edit"), id="block.edit"),
        Binding("plus", "add_text", mark("Add text"), id="block.add"),
        Binding("v", "add_virtual", mark("Add output"), tooltip=mark("Add the output of another node."),
                id="block.add-output"),
        Binding("i", "add_inquiry", mark("Add question"), show=False, id="block.add-question",
                tooltip=mark("Add a question to the Context agent, answered at this point.")),
        Binding("D,delete", "remove", mark("Remove"), show=False, id="block.remove"),
        Binding("greater_than_sign,shift+down", "shift(1)", mark("Move down"), show=False, id="block.down"),
        Binding("less_than_sign,shift+up", "shift(-1)", mark("Move up"), show=False, id="block.up"),
        Binding("f", "live", mark("Live output"), show=False, tooltip=mark("Use the live output, not the frozen one."),
                id="block.live"),
        Binding("u", "undo", mark("Undo"), show=False, tooltip=mark("Undo the last change of blocks."),
                id="block.undo"),
        Binding("p", "params", mark("Parameters"), tooltip=mark("Temperature, length, checks, review."),
                id="block.params"),
        Binding("r", "run", mark("Run node"), id="block.run",
                tooltip=mark("Run this node and the nodes that it needs.")),
        Binding("escape,ctrl+s", "leave", mark("To the list"), id="block.leave"),
        Binding("ctrl+f", "find", mark("Find"), show=False, priority=True, id="block.find"),
    ]  # fmt: skip

    class Edited(Request):
        """The user changed the document; holds the whole new one."""

        workflow: Workflow

    class ParamsRequested(Request):
        """The writer requests the parameters of a node that is not a prompt."""

    class BlockRunRequested(Request):
        """The writer requests a run of the node with its dependencies."""

        node: NodeId

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.workflow: Workflow | None = None
        """The document with all edits."""
        self._given: Workflow | None = None
        self._node_id: NodeId | None = None
        self._read_only = False
        self._slot: Slot | None = None
        self._undo: list[Workflow] = []

    def compose(self) -> ComposeResult:
        """Yields the node, its blocks, and the text of the one under the cursor."""
        yield FactsText(key_words(_("No node is chosen: Enter in the workflow (`2`) opens one.")), classes="head")
        yield PickList()
        yield Static(markup=False, classes="details")
        yield ProseArea()

    def show(self, workflow: Workflow, node: NodeId, read_only: bool, *, newer: bool = False) -> None:
        """Shows a node of a document, after reporting the typed text. `newer`: the document is newer than the
        editor's."""
        self._take_typed()
        is_stale = not newer and same_content(workflow, self._given) and not same_content(workflow, self.workflow)
        if not is_stale:
            is_known = same_content(workflow, self.workflow)
            self._given = workflow
            if not is_known:
                self.workflow, self._undo = workflow, []
            elif node == self._node_id and read_only == self._read_only:
                self.workflow = workflow
                return
        if node != self._node_id:
            self._slot, self._undo = None, []
        self._node_id, self._read_only = node, read_only
        self._refresh_all()

    # The document

    def _node(self) -> Node | None:
        nodes = self.workflow.nodes if self.workflow else ()
        return next((item for item in nodes if item.id == self._node_id), None)

    def _fields(self) -> tuple[Field, ...]:
        node = self._node()
        return FIELDS.get(node.kind, ()) if node else ()

    def _blocks(self, field: Field) -> Blocks:
        node = self._node()
        return (blocks_of(node, field) or ()) if node else ()

    def _block(self) -> Block | None:
        """The block under the cursor."""
        if self._slot is None:
            return None
        blocks = self._blocks(self._slot.field)
        return blocks[self._slot.index] if self._slot.index < len(blocks) else None

    def _change(self, changed: Workflow) -> None:
        """Takes a new document and reports it."""
        self.workflow = changed
        self.post_message(self.Edited(changed))

    def _restructure(self, field: Field, blocks: Blocks, index: int) -> None:
        """Other blocks in a list: one step for undo; the cursor goes to `index`."""
        if self.workflow is None or self._node_id is None:
            return
        self._undo.append(self.workflow)
        self._slot = Slot(field, max(0, min(index, len(blocks) - 1)))
        self._change(with_blocks(self.workflow, self._node_id, field, blocks))
        self._refresh_all()

    def _take_typed(self) -> None:
        """Puts the editor's text into its block."""
        block, slot, node = self._block(), self._slot, self._node_id
        if block is None or slot is None or self.workflow is None or node is None or self._read_only:
            return
        known, text = text_of(block), self.query_one(ProseArea).text
        if known is None or clean(known) == text:
            return
        typed = with_text(block, text)
        blocks = self._blocks(slot.field)
        blocks = (*blocks[: slot.index], typed, *blocks[slot.index + 1 :])
        self._undo = [with_block_replaced(item, node, slot.field, block, typed) for item in self._undo]
        self._change(with_blocks(self.workflow, node, slot.field, blocks))
        row = f"{slot.field}:{slot.index}"
        self.query_one(PickList).replace_option_prompt(row, self._row(typed))

    # What is on the screen

    def _refresh_all(self) -> None:
        node = self._node()
        if node is None or self.workflow is None:
            return
        self.query_one(FactsText).show(*node_head(node, read_only=self._read_only))
        rows: list[Option] = []
        for field in self._fields():
            rows.append(Option(Text(_(FIELD_WORDS[field]), style="bold"), disabled=True))
            if blocks_of(node, field) is None:
                rows.append(Option(_("  cannot be read; correct the document"), disabled=True))
            for index, block in enumerate(self._blocks(field)):
                rows.append(Option(self._row(block), id=f"{field}:{index}"))
        names, slot = self.query_one(PickList), self._slot
        names.set_options(rows)
        names.pick(f"{slot.field}:{slot.index}" if slot else None)
        if names.highlighted is None:
            prompts = [option.id for option in names.options if option.id and option.id.startswith("prompt")]
            names.pick(prompts[0]) if prompts else names.action_first()
        self._show_block()

    def _row(self, block: Block) -> Text:
        words = block_row(block, self.workflow or Workflow(id="none"))
        return Text("  ", no_wrap=True).append(words, style="" if isinstance(block, TextBlock) else "bold")

    def _show_block(self) -> None:
        """The block under the cursor: text in the editor, the output of a node as words."""
        picked, area = self.query_one(PickList).picked, self.query_one(ProseArea)
        field, _colon, index = (picked or "").partition(":")
        self._slot = next((Slot(item, int(index)) for item in self._fields() if item == field), None)
        block = self._block()
        text = text_of(block)
        self.set_class(text is None, "-chip")
        area.read_only = self._read_only
        if area.text != clean(text or ""):
            area.load_text(text or "")
        self.query_one(".details", Static).update(key_words(block_hint(block)))

    @on(OptionList.OptionHighlighted)
    def _follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        message.stop()
        if message.option.id == self.query_one(PickList).picked:
            self._take_typed()
            self._show_block()

    @on(OptionList.OptionSelected)
    def _open_block(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.action_edit()

    @on(ProseArea.Edited)
    def _note_typed(self, message: ProseArea.Edited) -> None:
        message.stop()
        if message.text == self.query_one(ProseArea).text:
            self._take_typed()

    # Keys

    def _may_change(self) -> bool:
        """True when blocks can be changed; otherwise shows the reason."""
        if self._read_only:
            self.notify(_("The project is open read-only."), markup=False)
        self._take_typed()
        return not self._read_only and self._has_blocks()

    def _has_blocks(self) -> bool:
        """True when the node has blocks; otherwise names the parts that it has instead."""
        node, fields = self._node(), self._fields()
        if not fields:
            self.notify(
                no_blocks(node) if node is not None else _("No node is chosen: Enter in the workflow (`2`) opens one."),
                markup=False,
            )
        return bool(fields)

    def _list_for_new(self) -> tuple[Field, int]:
        """The list for a new block, and its place behind the cursor."""
        if self._slot is not None and self._slot.field != "question":
            return self._slot.field, self._slot.index + 1
        field = self._fields()[-1]
        return field, len(self._blocks(field))

    def _add(self, block: Block) -> None:
        field, index = self._list_for_new()
        blocks = self._blocks(field)
        self._restructure(field, (*blocks[:index], block, *blocks[index:]), index)

    def action_edit(self) -> None:
        """Goes into the text of the block."""
        if self._has_blocks() and not self.has_class("-chip"):
            self.query_one(ProseArea).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enables the way back to the list only inside the text."""
        return action != "leave" or self.query_one(ProseArea).has_focus

    def action_leave(self) -> None:
        """Returns to the list."""
        self._take_typed()
        self.query_one(PickList).focus()

    def action_find(self) -> None:
        """Asks for the words to find in the block."""
        ask_to_find(self.app, self.query_one(ProseArea).find)

    def action_add_text(self) -> None:
        """Adds an empty text block and goes into it."""
        if self._may_change():
            self._add(TextBlock())
            self.action_edit()

    def action_add_virtual(self) -> None:
        """Adds the output of another node, chosen from those that do not need this one."""
        if not self._may_change() or self.workflow is None or self._node_id is None:
            return
        choices = tuple((str(item.id), one_line(item.title, 80)) for item in sources_for(self.workflow, self._node_id))
        if not choices:
            self.notify(_("No other node has an output that could be used here."), markup=False)
            return
        add = self._if_answered(lambda node: self._add(VirtualBlock(node=NodeId(node))))
        self.app.push_screen(ChooseScreen(_("Output of which node?"), choices), add)

    def action_add_inquiry(self) -> None:
        """Adds a question to the Context agent."""
        if self._may_change():
            add = self._if_answered(lambda question: self._add(InquiryBlock(question=question)))
            self.app.push_screen(PromptLine(_("What should the Context agent find out?")), add)

    def _if_answered(self, use: Callable[[str], None]) -> Callable[[str | None], None]:
        """Uses an answer, if there is one and the same node is still shown."""
        node = self._node_id

        def answered(answer: str | None) -> None:
            if answer and answer.strip() and self._node_id == node:
                use(answer)

        return answered

    def action_remove(self) -> None:
        """Removes the block."""
        slot = self._slot
        if slot is not None and slot.field != "question" and self._may_change():
            blocks = self._blocks(slot.field)
            self._restructure(slot.field, (*blocks[: slot.index], *blocks[slot.index + 1 :]), slot.index)

    def action_shift(self, step: int) -> None:
        """Moves the block in its list."""
        slot = self._slot
        if slot is None or slot.field == "question" or not self._may_change():
            return
        blocks, place = list(self._blocks(slot.field)), slot.index + step
        if 0 <= place < len(blocks):
            blocks.insert(place, blocks.pop(slot.index))
            self._restructure(slot.field, tuple(blocks), place)

    def action_live(self) -> None:
        """Unfreezes a frozen block, which reads the live output again."""
        slot, block = self._slot, self._block()
        if slot is not None and isinstance(block, VirtualBlock) and block.frozen is not None and self._may_change():
            blocks = list(self._blocks(slot.field))
            blocks[slot.index] = block.model_copy(update={"frozen": None})
            self._restructure(slot.field, tuple(blocks), slot.index)

    def action_undo(self) -> None:
        """Restores the document before the last change of blocks."""
        if self._read_only or not self._undo:
            self.notify(_("There is nothing to undo."), markup=False)
            return
        self._change(self._undo.pop())
        self._refresh_all()

    def action_params(self) -> None:
        """Opens the form of the parameters."""
        node = self._node()
        if node is not None and node.kind != "prompt":
            self.post_message(self.ParamsRequested())
            return
        if node is None or not self._may_change():
            return
        try:
            params = PromptParams.model_validate(node.params)
        except ValidationError:
            self.notify(_("The parameters cannot be read: correct the document."), markup=False)
            return

        def take(answer: FormAnswer | None) -> None:
            if answer is not None and self.workflow is not None and self._node_id == node.id:
                self._undo.append(self.workflow)
                self._change(with_params(self.workflow, node.id, answer[1], answer[0]))
                self._refresh_all()

        self.app.push_screen(NodeForm(node.name, params, self.models), take)

    def action_run(self) -> None:
        """Asks for a run of this node."""
        self._take_typed()
        if self._node_id is not None:
            self.post_message(self.BlockRunRequested(self._node_id))
