from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Select

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, VirtualBlock, Workflow
from flowcabal_tui.nodes.kinds.human import HumanParams
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from flowcabal_tui.tui.workflows.blocks import with_params
from flowcabal_tui.tui.workflows.node_form import NodeForm
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

DOCUMENT = books.workflow(books.EN)
TEXT = books.EN.prompts[1]


def host() -> tuple[Host, BlockEditor]:
    pane = BlockEditor()
    return Host(pane), pane


def edited(app: Host) -> list[Workflow]:
    return [item.workflow for item in app.seen if isinstance(item, BlockEditor.Edited)]


def prompt(workflow: Workflow, node: NodeId = books.DRAFT) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = workflow.node(node).params["prompt"]
    return blocks


async def open_draft(pilot: Pilot[None], pane: BlockEditor, *, read_only: bool = False) -> None:
    pane.show(DOCUMENT, books.DRAFT, read_only)
    pane.query_one(PickList).focus()
    await pilot.pause()


async def test_blocks_are_listed_with_chips_and_the_parameters_in_one_line() -> None:
    app, pane = host()
    async with app.run_test(size=(110, 24)) as pilot:
        await open_draft(pilot, pane)
        screen = "\n".join(shown(app))
        assert "Draft   a model writes" in screen
        assert "with context   checked from 3 angles   you are asked when in doubt" in screen
        assert "[output of Plan]" in screen
        assert f"[asks] {books.EN.inquiry}" in screen
        assert pane.query_one(ProseArea).text == TEXT


async def test_a_row_of_the_head_ends_between_two_facts() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await open_draft(pilot, pane)
        params = {"model": "a-model-with-a-long-name", "temperature": 0.8, "max_tokens": 4000}
        pane.show(with_params(DOCUMENT, books.DRAFT, params), books.DRAFT, False, newer=True)
        await pilot.pause()
        rows = shown(app)[: pane.query_one(".head").size.height]
        facts = [fact for row in rows for fact in row.strip().split("   ")]
        assert len(rows) == 4 and {"at most 4,000 tokens", "checked from 3 angles"} < set(facts)
        assert facts[-1] == "you are asked when in doubt"


async def test_typing_gives_a_new_document_and_leaves_the_old_one_alone() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("enter", "X", "escape")
        (changed,) = edited(app)
        assert prompt(changed)[0] == {"kind": "text", "text": f"X{TEXT}"}
        assert prompt(changed)[1:] == [{"kind": "virtual", "node": "plan", "frozen": None}, prompt(DOCUMENT)[2]]
        assert prompt(DOCUMENT)[0]["text"] == TEXT
        assert changed.nodes[0] == DOCUMENT.nodes[0]


async def test_an_inquiry_is_edited_as_text_and_an_output_is_not() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("j", "enter")
        assert not pane.query_one(ProseArea).display
        await pilot.press("j", "enter", "X", "escape")
        assert prompt(edited(app)[-1])[2]["question"] == f"X{books.EN.inquiry}"


async def test_blocks_are_added_moved_removed_and_the_last_change_undone() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("plus", "N", "escape")
        assert [item.get("text", item["kind"]) for item in prompt(edited(app)[-1])] == [TEXT, "N", "virtual", "inquiry"]
        await pilot.press("greater_than_sign")
        assert [item["kind"] for item in prompt(edited(app)[-1])] == ["text", "virtual", "text", "inquiry"]
        await pilot.press("D")
        assert [item["kind"] for item in prompt(edited(app)[-1])] == ["text", "virtual", "inquiry"]
        await pilot.press("u", "u")
        assert [item.get("text", item["kind"]) for item in prompt(edited(app)[-1])] == [TEXT, "N", "virtual", "inquiry"]


async def test_undo_keeps_what_was_typed_meanwhile() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("G", "D", "g", "enter", "X", "escape", "u")
        assert [item["kind"] for item in prompt(edited(app)[-1])] == ["text", "virtual", "inquiry"]
        assert prompt(edited(app)[-1])[0]["text"] == f"X{TEXT}"


async def test_only_nodes_that_do_not_need_this_one_can_be_read_by_it() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("v")
        choices = app.screen.query_one(PickList)
        assert [option.id for option in choices.options] == ["plan"]
        await pilot.press("enter")
        assert prompt(edited(app)[-1])[1] == VirtualBlock(node=books.PLAN).model_dump()


async def test_a_question_to_the_context_agent_is_added_where_the_cursor_is() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("i", *"Who?", "enter")
        assert prompt(edited(app)[-1])[1] == {"kind": "inquiry", "question": "Who?"}


async def test_parameters_are_changed_in_a_form_that_refuses_what_is_invalid() -> None:
    app, pane = host()
    async with app.run_test(size=(80, 24)) as pilot:
        await open_draft(pilot, pane)
        await pilot.press("p")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, NodeForm)
        ticks = [row.split("check:")[0][-4:] for row in shown(app) if "check:" in row]
        assert ["X" in tick for tick in ticks] == [True, True, True, False]
        form.query_one("#temperature", Input).value = "9"
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert app.screen is form
        assert "temperature" in "\n".join(shown(app))
        form.query_one("#temperature", Input).value = "0.7"
        form.query_one("#max_tokens", Input).value = "4000"
        form.query_one("#review", Select).value = "always"
        form.query_one("#context", Checkbox).value = False
        form.query_one("#echoes", Checkbox).value = True
        await pilot.press("ctrl+s")
        params = PromptParams.model_validate(edited(app)[-1].node(books.DRAFT).params)
        assert (params.temperature, params.max_tokens, params.review, params.context) == (0.7, 4000, "always", False)
        assert params.angles == ("timeline", "character_state", "world_rules", "echoes")
        assert params.prompt == PromptParams.model_validate(DOCUMENT.node(books.DRAFT).params).prompt


async def test_a_document_that_is_older_than_the_typing_does_not_take_it_back() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("enter", "X")
        pane.show(DOCUMENT, books.DRAFT, False)
        pane.show(DOCUMENT, books.PLAN, False)
        pane.show(DOCUMENT, books.DRAFT, False)
        await pilot.pause()
        assert pane.query_one(ProseArea).text == f"X{TEXT}"
        saved = edited(app)[-1].model_copy(update={"version": 2})
        pane.show(saved, books.DRAFT, False)
        assert pane.workflow == saved


async def test_a_frozen_output_goes_back_to_the_live_one() -> None:
    app, pane = host()
    async with app.run_test(size=(100, 24)) as pilot:
        params = PromptParams(prompt=(VirtualBlock(node=books.PLAN, frozen="Old plan."),)).model_dump(mode="json")
        nodes = (DOCUMENT.nodes[0], Node(id=books.DRAFT, params=params))
        pane.show(Workflow(id="w", nodes=nodes), books.DRAFT, False)
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "[frozen output of Plan]" in screen
        assert "a frozen text of 9 characters" in screen
        await pilot.press("f")
        assert prompt(edited(app)[-1]) == [VirtualBlock(node=books.PLAN).model_dump()]


async def test_another_document_replaces_what_is_shown() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        params = PromptParams(prompt=(TextBlock(text="Other."),)).model_dump(mode="json")
        pane.show(Workflow(id="other", nodes=(Node(id=books.DRAFT, params=params),)), books.DRAFT, False)
        assert pane.query_one(ProseArea).text == "Other."
        assert edited(app) == []


async def test_the_question_and_proposal_of_a_human_node_are_edited() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        params = HumanParams(question="Which one?", proposal=(TextBlock(text="A"),)).model_dump(mode="json")
        pane.show(Workflow(id="w", nodes=(Node(id=NodeId("h"), kind="human", params=params),)), NodeId("h"), False)
        await pilot.press("enter", "X", "escape", "D", "j", "enter", "B", "escape")
        changed = HumanParams.model_validate(edited(app)[-1].nodes[0].params)
        assert (changed.question, changed.proposal) == ("XWhich one?", (TextBlock(text="BA"),))


async def test_read_only_changes_nothing() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane, read_only=True)
        await pilot.press("plus", "v", "i", "D", "greater_than_sign", "u", "p", "enter", "X", "escape")
        assert edited(app) == []


async def test_r_asks_for_a_run_of_this_node() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        await open_draft(pilot, pane)
        await pilot.press("r")
        assert app.posted(BlockEditor) == [BlockEditor.BlockRunRequested(books.DRAFT)]


async def test_a_node_that_cannot_be_read_is_said_to_be_so_and_left_alone() -> None:
    app, pane = host()
    async with app.run_test(size=(90, 20)) as pilot:
        broken = Node(id=NodeId("b"), params={"prompt": [{"kind": "strange"}], "temperature": "hot"})
        pane.show(Workflow(id="w", nodes=(broken, Node(id=NodeId("s"), kind="start"))), NodeId("b"), False)
        await pilot.press("p")
        screen = "\n".join(shown(app))
        assert "The parameters cannot be read" in screen
        assert "cannot be read; correct the document" in screen
        pane.show(Workflow(id="w", nodes=(broken, Node(id=NodeId("s"), kind="start"))), NodeId("s"), False)
        await pilot.press("plus", "D")
        assert "It has no prompt: p edits its parameters." in "\n".join(shown(app))
        assert edited(app) == []


@pytest.mark.parametrize("key", ["e", "plus", "v", "i"])
async def test_a_node_without_blocks_says_where_they_are(key: str) -> None:
    app, pane = host()
    voices = Node(id=NodeId("voices"), kind="evolution", params={"write": {"prompt": []}})
    async with app.run_test(size=(90, 20)) as pilot:
        pane.show(Workflow(id="w", nodes=(voices,)), voices.id, False)
        await pilot.press("tab", key)
        assert [notice.message for notice in app._notifications] == [
            "Its steps are nested in it: Space unfolds it in the workflow."
        ]


async def test_hostile_text_is_shown_as_words_and_a_million_characters_are_kept() -> None:
    app, pane = host()
    story = "雨" * 1_000_000
    async with app.run_test(size=(120, 24)) as pilot:
        params = PromptParams(prompt=(TextBlock(text=HOSTILE), TextBlock(text=story))).model_dump(mode="json")
        pane.show(Workflow(id="w", nodes=(Node(id=NodeId("n"), name=HOSTILE, params=params),)), NodeId("n"), False)
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert screen.count("[/] [b]bold[/b] red") == 3
        assert "\x1b" not in screen
        assert "\u202e" not in screen
        await pilot.press("j", "enter", "X", "escape")
        assert prompt(edited(app)[-1], NodeId("n"))[1]["text"] == f"X{story}"
