"""The list of proposals over an invented project: read by the page, decided by keys, taken back."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.domain.proposals import Difference, ProposalFilter, ProposalId, Reason
from flowcabal_tui.domain.story import Fact, Promise, RecordId
from flowcabal_tui.protocol.story import CorrectProposal, DecideProposals, UndoDecision
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import Trouble
from flowcabal_tui.tui.story.proposal_list import PAGE, ProposalList
from flowcabal_tui.tui.story.proposals import ProposalsScreen
from flowcabal_tui.tui.widgets.list_detail import DetailText
from tests.effort import effort
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE
from tests.tui.test_names import RefusingProject, opened, press, screen
from tests.tui.test_workspace import settled, workspace

THREE = books.chapter_id(3)


def filled(project: FakeProject) -> FakeProject:
    project.proposal_list.fill()
    return project


def page(project: FakeProject) -> ProposalsScreen:
    return ProposalsScreen(project, THREE)


def listed(pilot) -> list[str]:
    return [option.id for option in pilot.app.screen.query_one(ProposalList).options]


def told(pilot) -> str:
    return pilot.app.screen.query_one(DetailText).plain


async def test_what_waits_is_marked_and_says_why_with_its_quotation():
    project = filled(FakeProject())
    async with opened(page(project), (100, 30)) as pilot:
        assert listed(pilot) == [f"p{n}" for n in range(1, 11)]
        assert "3 wait for your decision   7 in use" in screen(pilot)
        assert "Mara = Mar" in told(pilot) and "occurs once" in told(pilot)
        await press(pilot, "j")
        assert "Previously: The salt is in the city." in told(pilot)
        assert "may be unintended" in told(pilot)
        await press(pilot, "j")
        assert "? → brother of" in told(pilot) or "? ─ brother of" in told(pilot)
        assert books.EN.texts[2][:12].strip() in told(pilot)
        heads = next(row for row in screen(pilot).splitlines() if "proposal" in row)
        assert heads.split()[:3] == ["ch.", "proposal", "kind"]


async def test_one_is_confirmed_one_dropped_and_each_is_taken_back():
    project = filled(FakeProject())
    async with opened(page(project)) as pilot:
        await press(pilot, "j", "a")
        assert project.sent[-1] == DecideProposals((ProposalId("p2"),), "confirm")
        assert listed(pilot)[:3] == ["p1", "p3", "p4"]
        assert pilot.app.screen.query_one(ProposalList).picked == "p3"
        await press(pilot, "x")
        assert project.sent[-1] == DecideProposals((ProposalId("p3"),), "drop")
        await press(pilot, "3")
        assert listed(pilot) == ["p2", "p3"]
        await press(pilot, "u", "u")
        assert isinstance(project.sent[-1], UndoDecision)
        assert listed(pilot) == []
        assert "Nothing is listed here:" in told(pilot)


async def test_marked_rows_are_decided_at_once():
    project = filled(FakeProject())
    async with opened(page(project)) as pilot:
        await press(pilot, "space", "space")
        assert "2 rows marked" in told(pilot)
        await press(pilot, "x")
        assert project.sent[-1] == DecideProposals((ProposalId("p1"), ProposalId("p2")), "drop")
        await press(pilot, "asterisk", "a")
        assert len(project.sent[-1].proposals) == 8
        assert listed(pilot) == []


async def test_a_fact_is_corrected_in_its_form_and_an_ending_in_that_of_its_record():
    project = filled(FakeProject())
    async with opened(page(project)) as pilot:
        await press(pilot, "j", "e")
        assert isinstance(pilot.app.screen, FormScreen)
        await press(pilot, "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, CorrectProposal) and isinstance(sent.change, Fact)
        assert (sent.proposal, sent.change.id) == ("p2", "f9")
        await press(pilot, "j", "j", "e", "ctrl+s")
        sent = project.sent[-1]
        assert isinstance(sent, CorrectProposal) and isinstance(sent.change, Promise)
        assert (sent.proposal, sent.change.id) == ("p5", "p1")


async def test_enter_shows_the_words_and_a_filter_and_a_chapter_narrow_the_list():
    project = filled(FakeProject())
    async with opened(page(project)) as pilot:
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, SourceScreen)
        await press(pilot, "escape", "o")
        assert listed(pilot) == ["p1", "p2", "p3", "p4", "p5"]
        await press(pilot, "o", "slash", *"salt", "enter")
        assert set(listed(pilot)) < {f"p{n}" for n in range(1, 11)} and "p2" in listed(pilot)
        await press(pilot, "2")
        assert "p4" not in listed(pilot)


def many(project: FakeProject, count: int) -> None:
    row = project.proposal_list.rows[1]
    fact = row.difference.after
    assert isinstance(fact, Fact)
    project.proposal_list.rows = [
        replace(row, id=ProposalId(f"n{n}"), difference=Difference(replace(fact, id=RecordId(f"n{n}"))))
        for n in range(count)
    ]


async def test_five_thousand_rows_are_read_by_the_page():
    project = filled(FakeProject())
    many(project, 5_000)
    async with opened(page(project)) as pilot:
        assert (len(listed(pilot)), project.proposal_list.asked) == (PAGE, [(0, PAGE)])
        await press(pilot, "G")
        assert (len(listed(pilot)), project.proposal_list.asked[-1]) == (2 * PAGE, (PAGE, PAGE))
        assert "5000 wait" in screen(pilot) or "5,000 wait" in screen(pilot)


async def test_a_page_of_rows_that_could_not_be_read_once_is_read_when_the_cursor_moves():
    failures = [ProjectError("The disk is busy.")]

    class FailingOnce(FakeProject):
        async def proposals(self, where, offset=0, limit=PAGE):
            if offset and failures:
                raise failures.pop()
            return await super().proposals(where, offset, limit)

    project = filled(FailingOnce())
    many(project, 3 * PAGE)
    async with opened(page(project)) as pilot:
        await press(pilot, "G")
        assert (len(listed(pilot)), failures) == (PAGE, [])
        await press(pilot, "k")
        assert len(listed(pilot)) == 2 * PAGE


async def test_opening_five_thousand_rows_takes_the_steps_of_one_page():
    steps = []
    for count in (PAGE, 5_000):
        project = filled(FakeProject())
        many(project, count)
        rows = project.proposal_list.page(ProposalFilter(), 0, PAGE).rows
        async with opened(page(project)) as pilot:
            cast = pilot.app.screen.cast
            with effort() as counted:
                pilot.app.screen.query_one(ProposalList).show_rows(rows, count, cast)
            steps.append(counted.calls)
    assert steps[1] <= steps[0] * 1.1


async def test_hostile_words_stand_as_they_are():
    project = filled(FakeProject())
    row = project.proposal_list.rows[7]
    fact = row.difference.after
    assert isinstance(fact, Fact)
    hostile = replace(
        row, quotation=HOSTILE, difference=Difference(replace(fact, text=HOSTILE)), reason=Reason("unquoted", HOSTILE)
    )
    project.proposal_list.rows = [hostile]
    async with opened(page(project), (120, 30)) as pilot:
        assert "[/] [b]bold[/b] red" in told(pilot)
        assert "\x1b" not in told(pilot)
        await press(pilot, "space", "a")
        assert project.sent[-1] == DecideProposals((row.id,), "confirm")


async def test_a_refused_decision_is_said_and_the_list_stays():
    project = filled(RefusingProject())
    async with opened(page(project)) as pilot:
        await press(pilot, "a")
        assert next(str(item.error) for item in pilot.app.seen if isinstance(item, Trouble)).startswith("No.")
        assert listed(pilot)[0] == "p1"


async def test_the_list_opens_from_the_workspace(tmp_path):
    project = filled(FakeProject())
    async with workspace(project, tmp_path) as pilot:
        assert "3 proposals: Shift+F8" in pilot.app.screen.status.words
        await pilot.press("shift+f8")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ProposalsScreen)
        await press(pilot, "asterisk", "x", "escape")
        assert "proposal" not in pilot.app.screen.status.words
