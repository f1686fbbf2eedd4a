"""The design language: its page, a sign for every state, and rows that are columns, not chains."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, Tree

from flowcabal_tui.domain.proposals import ProposalState
from flowcabal_tui.domain.run import NodeState, RunState
from flowcabal_tui.locale import use_language
from flowcabal_tui.tui.app.themes import GROUNDS, SECONDARY_CONTRAST, TEXT_CONTRAST
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.story.proposal_list import _SIGNS as PROPOSAL_SIGNS
from flowcabal_tui.tui.story.words import PROMISE_STATES
from flowcabal_tui.tui.widgets.rail_graph import STATE_ROLES, STATE_SIGNS
from flowcabal_tui.tui.widgets.roles import ROLES
from tests.pages.design import design_page
from tests.snapshots.test_whole import SOUGHT, opened, project, typed
from tests.tui.waiting import answered

CHAIN = " · "
LISTS = {
    "chapters": (),
    "workflows": ("2", "w"),
    "receipt": ("end", "enter", "6", "u"),
    "profiles": ("7",),
    "runs": ("f3",),
    "names": ("8",),
    "promises": ("9",),
    "timeline": ("9", "2"),
    "facts": ("9", "3"),
    "manuscript": ("M", "g", "j", "l"),
    "search": ("F",),
    "findings": ("L",),
    "proposals": ("shift+f8",),
    "background": ("Q", "f"),
    "outline": ("O",),
}
"""Keys that lead to each list from the workspace."""


def test_the_page_is_the_one_in_the_docs() -> None:
    use_language("en")
    page = (Path(__file__).parents[2] / "docs" / "design-language.md").read_text(encoding="utf-8")
    assert page == design_page(page)
    limits = f"{TEXT_CONTRAST} for text on every ground that text appears on, {SECONDARY_CONTRAST} for secondary text"
    assert limits in " ".join(page.split())
    assert f"Grounds: {', '.join(f'`{ground}`' for ground in GROUNDS)}." in page


@pytest.mark.parametrize("state", [*get_args(NodeState), *get_args(RunState)])
def test_every_state_of_nodes_and_runs_has_a_sign_and_a_role(state: str) -> None:
    sign, plain = STATE_SIGNS[state]
    assert len(sign) == len(plain) == 1 and plain.isascii()
    assert STATE_ROLES[state] in ROLES


def test_no_two_states_look_the_same_without_colour() -> None:
    for place in (0, 1):
        signs = [both[place] for both in STATE_SIGNS.values()]
        assert len(set(signs)) == len(signs)


@pytest.mark.parametrize("state", get_args(ProposalState))
def test_every_state_of_a_proposal_but_the_usual_one_has_a_sign(state: ProposalState) -> None:
    sign, role = PROPOSAL_SIGNS[state]
    assert bool(sign) == (state != "applied")
    assert role in ROLES


def test_every_state_of_a_promise_but_the_usual_one_has_a_sign() -> None:
    assert {state: sign.strip() for state, (sign, _words) in PROMISE_STATES.items() if not sign.strip()} == {"open": ""}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", LISTS)
async def test_rows_are_columns_and_chain_nothing(name: str, language: str) -> None:
    app = opened(language)
    async with app.run_test(size=(140, 40)) as pilot:
        await typed()(pilot)
        project(pilot).findings.fill()
        project(pilot).proposal_list.fill()
        for key in (*LISTS[name], *(SOUGHT[language] if name == "search" else ())):
            await pilot.press(key)
            await answered(pilot)
        found = list(rows(pilot))
        assert found, "a list has rows"
        for row in found:
            assert row.count(CHAIN) <= 1, row
        for words in heads(pilot) if name not in ("findings", "proposals") else ():
            assert CHAIN not in words and "`" not in words, words


def heads(pilot: Pilot[int]) -> list[str]:
    """The words above and below the lists of the screen on top."""
    places = pilot.app.screen.query(".head, .told, .empty, DetailText > Static").results(Static)
    return [str(each.render()) for each in places]


def rows(pilot: Pilot[int]) -> list[str]:
    """The words of all rows of the lists and trees of the screen on top."""
    lists = [str(option.prompt) for each in pilot.app.screen.query(PickList) for option in each.options]
    trees = [str(line.node.label) for each in pilot.app.screen.query(Tree) for line in each._tree_lines]
    return [*lists, *trees]
