from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.ego_graph import EgoGraph
from flowcabal_tui.tui.widgets.ego_layout import EgoNeighbour, draw_row, lay_out
from tests.tui.hosts import HOSTILE, Host, shown

FATHER = EgoNeighbour("zheng", "贾政", "父亲", inward=True)
MAID = EgoNeighbour("xiren", "袭人", "丫鬟", outward=True)
COUSIN = EgoNeighbour("daiyu", "林黛玉", "表妹", outward=True, inward=True)
GUEST = EgoNeighbour("liu", "刘姥姥", "3x", loose=True)


def drawn(neighbours: list[EgoNeighbour], width: int = 80, height: int = 9, *, plain: bool = False) -> list[str]:
    plan = lay_out(neighbours, height)
    rows = [draw_row(plan, "贾宝玉", row, width, plain=plain) for row in range(plan.rows)]
    return ["".join(piece.text for piece in row).rstrip() for row in rows]


def row_of(rows: list[str], words: str) -> str:
    return next(row for row in rows if words in row)


def test_an_arrow_leads_from_who_it_is_to_whose_it_is() -> None:
    rows = drawn([FATHER, MAID, COUSIN, GUEST])
    assert "贾政 ──父亲─" in row_of(rows, "贾政")
    assert "→" in row_of(rows, "贾政").split("父亲")[1]
    assert row_of(rows, "袭人").split("丫鬟")[1].startswith("─→ 袭人")
    assert {"→", "←"} <= set(row_of(rows, "林黛玉"))
    alone = "".join(drawn([GUEST]))
    assert "┄" in alone
    assert not {"→", "←"} & set(alone)


def test_what_comes_stands_at_the_left_and_what_goes_at_the_right() -> None:
    rows = drawn([MAID, FATHER])
    row = row_of(rows, "贾宝玉")
    assert row.index("贾政") < row.index("贾宝玉") < row.index("袭人")


def test_both_sides_are_equally_long() -> None:
    many = [EgoNeighbour(str(number), f"n{number}", inward=True) for number in range(9)]
    plan = lay_out(many, 20)
    assert sorted((len(plan.left), len(plan.right))) == [4, 5]
    assert {each.id for each in plan.order} == {each.id for each in many}


def test_neighbours_stand_apart_while_there_is_room() -> None:
    def rows(count: int) -> tuple[int, list[int]]:
        plan = lay_out([EgoNeighbour(str(number), "x", outward=True) for number in range(count)], 18)
        return plan.rows, sorted(plan.left)

    for count, apart in ((12, 3), (18, 2), (19, 1)):
        height, places = rows(count)
        assert height == 18
        assert {after - before for before, after in pairwise(places)} == {apart}
    height, places = rows(36)
    assert height == 18
    assert len(places) == 18
    assert rows(50)[0] == 25


def test_plain_terminals_get_ascii() -> None:
    assert (
        "".join(drawn([FATHER, MAID, COUSIN, GUEST], plain=True))
        .translate(str.maketrans("", "", "贾政父亲袭人丫鬟林黛玉表妹刘姥宝"))
        .isascii()
    )


@given(
    st.lists(
        st.builds(
            EgoNeighbour, st.uuids().map(str), st.text("贾a \u0301é中Q", min_size=1, max_size=40),
            st.text("父x/ ", max_size=60), st.booleans(), st.booleans(), st.booleans(),
        ),
        max_size=40,
    ),
    st.integers(40, 160),
    st.integers(1, 40),
)  # fmt: skip
def test_no_row_is_wider_than_the_terminal_and_nobody_is_lost(neighbours, width, height) -> None:
    plan = lay_out(neighbours, height)
    found = set()
    for row in range(plan.rows):
        pieces = draw_row(plan, "贾宝玉", row, width)
        assert cell_width("".join(piece.text for piece in pieces)) <= width
        found |= {piece.neighbour for piece in pieces if piece.role == "name"}
    assert found == {each.id for each in neighbours}


def test_the_stems_stand_in_one_column() -> None:
    rows = drawn([FATHER, COUSIN, GUEST, MAID, EgoNeighbour("long", "Elizabeth Bennet of Longbourn", "friend")])
    plan = lay_out([FATHER, COUSIN, GUEST, MAID], 9)
    columns = []
    for row in range(plan.rows):
        pieces = draw_row(plan, "贾宝玉", row, 80)
        text = "".join(piece.text for piece in pieces)
        columns += [cell_width(text[:at]) for at, sign in enumerate(text) if sign in "┌├└┐┤┘" and row != plan.middle]
    assert len(set(columns)) == 2
    assert "Elizabeth Benne" in "".join(rows)


async def test_keys_walk_round_both_sides_and_choose_a_new_centre() -> None:
    graph = EgoGraph()
    app = Host(graph)
    async with app.run_test(size=(80, 20)) as pilot:
        graph.focus()
        graph.show("贾宝玉", [FATHER, MAID, COUSIN, GUEST])
        await pilot.pause()
        order = [graph.cursor]
        for _step in range(4):
            await pilot.press("j")
            order.append(graph.cursor)
        assert order[0] == order[4] == "zheng"
        assert len(set(order)) == 4
        await pilot.press("l")
        assert graph.cursor in ("xiren", "liu", "daiyu")
        await pilot.press("h", "enter")
        await pilot.pause()
        assert app.posted(EgoGraph)[-1] == EgoGraph.NeighbourChosen(graph.cursor)


async def test_a_graph_with_more_rows_than_the_terminal_scrolls_with_the_cursor() -> None:
    graph = EgoGraph()
    async with Host(graph).run_test(size=(80, 10)) as pilot:
        graph.focus()
        graph.show("贾宝玉", [EgoNeighbour(str(number), f"n{number}", outward=True) for number in range(40)])
        await pilot.pause()
        for _step in range(40):
            await pilot.press("k")
            name = f"n{graph.cursor} "
            assert any(name in f"{row} " for row in shown(pilot.app)), name


async def test_the_cursor_stays_with_its_neighbour() -> None:
    graph = EgoGraph()
    async with Host(graph).run_test(size=(80, 20)) as pilot:
        graph.show("贾宝玉", [FATHER, MAID, COUSIN], "xiren")
        graph.show("贾宝玉", [COUSIN, MAID])
        await pilot.pause()
        assert graph.cursor == "xiren"
        graph.show("贾宝玉", [])
        assert graph.cursor == ""


@pytest.mark.parametrize("key", ["j", "k", "h", "l", "enter"])
async def test_nobody_around_is_no_trouble(key) -> None:
    graph = EgoGraph()
    async with Host(graph).run_test(size=(80, 20)) as pilot:
        graph.show("贾宝玉", [])
        graph.focus()
        await pilot.press(key)
        assert any("│ 贾宝玉 │" in row for row in shown(pilot.app))


async def test_a_second_click_moves_a_neighbour_to_the_middle() -> None:
    graph = EgoGraph()
    app = Host(graph)
    async with app.run_test(size=(80, 9)) as pilot:
        graph.show("贾宝玉", [FATHER, MAID, GUEST])
        await pilot.pause()
        rows = shown(app)
        y = next(at for at, row in enumerate(rows) if "袭人" in row)
        x = cell_width(rows[y].split("袭人")[0])
        await pilot.click(EgoGraph, offset=(x, y))
        assert graph.cursor == "xiren"
        await pilot.click(EgoGraph, offset=(x, y))
        await pilot.pause()
        assert app.posted(EgoGraph)[-1] == EgoGraph.NeighbourChosen("xiren")


async def test_hostile_names_are_shown_as_words() -> None:
    graph = EgoGraph()
    async with Host(graph).run_test(size=(120, 12)) as pilot:
        graph.show(HOSTILE, [EgoNeighbour("x", HOSTILE, HOSTILE, outward=True)])
        await pilot.pause()
        screen = "\n".join(shown(pilot.app))
        assert "\x1b" not in screen
        assert "\x07" not in screen
