from __future__ import annotations

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import NodeState
from flowcabal_tui.domain.workflow import Edge, Node, Workflow
from flowcabal_tui.tui.shared.lists import PickTree
from flowcabal_tui.tui.workflows.rows import NodeMarks
from flowcabal_tui.tui.workflows.workflow import WorkflowPane
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.waiting import until

DOCUMENT = books.workflow(books.ZH)
STATES: dict[NodeId, NodeState] = {books.PLAN: "done", books.DRAFT: "waiting", books.POLISH: "pending"}


def host() -> tuple[Host, WorkflowPane]:
    pane = WorkflowPane()
    return Host(pane), pane


async def test_the_tree_shows_every_node_with_its_sign_and_its_sources_below() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, STATES)
        await pilot.press("tab", "j", "l")
        rows = [row.strip() for row in shown(app)]
        assert rows[0].split() == ["Chapter", "chapter@1"]
        assert rows[1] == "● 计划"
        assert "? 初稿 waiting for you" in rows[2]
        assert "reads 计划" in rows[3]
        assert rows[4] == "▶ ○ 润色"


async def test_moving_and_enter_tell_which_node_and_keys_speak_of_it() -> None:
    app, pane = host()
    async with app.run_test() as pilot:
        pane.show(DOCUMENT, STATES)
        await pilot.pause()
        app.seen.clear()
        await pilot.press("tab", "j", "enter", "c", "x", "X", "r")
        assert app.posted(WorkflowPane) == [
            WorkflowPane.NodeChosen(books.DRAFT),
            WorkflowPane.NodeOpened(books.DRAFT),
            WorkflowPane.PreviewRequested(books.DRAFT),
            WorkflowPane.StopRequested(books.DRAFT),
            WorkflowPane.StopRequested(None),
            WorkflowPane.RunRequested(),
        ]


async def test_another_state_changes_its_row_and_the_reason_is_left_to_the_output() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, STATES)
        await pilot.press("tab", "j")
        pane.set_state(books.DRAFT, "failed", "no answer\nfor 60 s")
        pane.show(DOCUMENT, STATES | {books.DRAFT: "failed", books.POLISH: "blocked"})
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "✗ 初稿 failed" in screen
        assert "no answer" not in screen
        assert "⊘ 润色 blocked" in screen
        assert pane.highlighted == books.DRAFT


async def test_what_stands_of_an_earlier_run_is_not_done_in_the_one_that_begins() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, {})
        pane.show_marks({node: NodeMarks(has_output=True) for node in STATES})
        await pilot.pause()
        assert "● 润色" in "\n".join(shown(app))
        pane.set_state(books.PLAN, "running")
        await pilot.pause()
        assert "○ 润色" in "\n".join(shown(app))


async def test_t_shows_rails_with_the_cursor_at_the_same_node_and_back() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, STATES)
        await pilot.press("tab", "j", "t")
        await pilot.pause()
        rows = [row.rstrip() for row in shown(app)]
        assert rows[1].strip() == "? 初稿 waiting for you"
        assert [row[0] for row in rows[2:5]] == ["●", "?", "○"]
        app.seen.clear()
        await pilot.press("j", "enter", "t", "k")
        assert app.posted(WorkflowPane) == [
            WorkflowPane.NodeChosen(books.POLISH),
            WorkflowPane.NodeOpened(books.POLISH),
            WorkflowPane.NodeChosen(books.DRAFT),
        ]


async def test_w_chooses_a_template() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, STATES)
        other = DOCUMENT.model_copy(update={"id": "scene", "name": "Scene", "description": "One scene."})
        pane.show_templates([DOCUMENT, other], DOCUMENT.reference)
        await pilot.press("tab", "w")
        assert any(row.split() == ["Scene", "scene@1", "One", "scene."] for row in shown(app))
        await pilot.press("j", "enter")
        assert app.posted(WorkflowPane)[-1] == WorkflowPane.TemplateChosen("scene@1")
        assert not pane.is_choosing


async def test_a_document_that_goes_in_a_circle_is_shown_with_its_trouble() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        circle = DOCUMENT.model_copy(update={"edges": (Edge(source=books.POLISH, target=books.PLAN),)})
        pane.show(circle, {})
        await pilot.pause()
        screen = "\n".join(shown(app))
        assert "cycle" in screen
        assert "润色" in screen


async def test_hostile_names_are_shown_as_words() -> None:
    app, pane = host()
    async with app.run_test(size=(100, 14)) as pilot:
        node = Node(id=NodeId("a"), name=HOSTILE)
        pane.show(Workflow(id="w", name=HOSTILE, nodes=(node,)), {})
        pane.set_state(node.id, "failed", HOSTILE)
        pane.show_templates([Workflow(id="w", name=HOSTILE, description=HOSTILE)], "")
        await pilot.press("tab")
        screen = "\n".join(shown(app))
        await pilot.press("w")
        screen += "\n".join(shown(app))
        assert screen.count("[/] [b]bold[/b] red") >= 3
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_the_cursor_follows_the_view_and_chooses_nothing() -> None:
    app, pane = host()
    async with app.run_test(size=(60, 14)) as pilot:
        pane.show(DOCUMENT, STATES)
        await pilot.pause()
        app.set_focus(None)
        pane.follow(books.DRAFT)
        pane.follow(books.POLISH)
        tree = pane.query_one(PickTree)
        await until(pilot, lambda: tree.cursor_node is not None and tree.cursor_node.data == books.POLISH)
        assert pane.highlighted == books.POLISH
        assert app.focused is None
        assert app.posted(WorkflowPane) == []
