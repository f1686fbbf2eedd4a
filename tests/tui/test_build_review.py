"""The review of a build over an invented project: what each key shows, keeps and sends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.domain.builds import NearTemplate
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.run import Spend
from flowcabal_tui.project.builder.prices import BuildPrice
from flowcabal_tui.protocol.base import Command, Event
from flowcabal_tui.protocol.builds import (
    AcceptBuild,
    AnswerBuild,
    BuildProgress,
    EditChange,
    MarkChanges,
    RejectBuild,
    RequestBuild,
    ResumeBuild,
    ReviseBuild,
    StopBuild,
    SuggestionMade,
    UndoBuild,
)
from flowcabal_tui.protocol.memory import Purge
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
from flowcabal_tui.tui.workflows.builds_list import BuildsScreen
from flowcabal_tui.tui.workflows.data_editor import DataEditor
from tests.tui.fake_builds import suggestion
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.test_names import press
from tests.tui.test_workspace import screen_of, workspace
from tests.tui.waiting import settled, until

NODE, READS = "c2", "c3"
PRICE = BuildPrice(Spend(8, 40_000, 3_000, Decimal("0.5")), Spend(20, 200_000, 9_000, Decimal(3)), "mock", "USD")


def project(**how: object) -> FakeProject:
    made = FakeProject()
    made.build_records["build-1"] = replace(suggestion(), **how)
    return made


@asynccontextmanager
async def review(made: FakeProject, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.push_screen(BuildReviewScreen(made, "build-1"))
        await settled(pilot)
        yield pilot


def rows(pilot: Pilot[None]) -> list[str]:
    return [str(option.prompt).strip() for option in pilot.app.screen.query_one(PickList).options]


def head(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one(".head", Static).content)


def screen(pilot: Pilot[None]) -> str:
    return "\n".join(shown(pilot.app))


async def typed(pilot: Pilot[None], words: str) -> None:
    await press(pilot, *("space" if sign == " " else sign for sign in words))


async def told(pilot: Pilot[int], made: FakeProject, *events: Event) -> None:
    """The engine tells something, and the screen has heard it; a screen that waits for the writer stays open."""
    made.emit(*events)
    screen_of(pilot).drain()
    await settled(pilot)


async def test_changes_are_grouped_by_what_they_serve_with_reason_and_difference():
    async with review(project()) as pilot:
        assert rows(pilot) == [
            "The names are checked", "[x] + new node Names (names)",
            "The polish sees what was found", "[x] ~ polish reads another output (prompt)",
            "Other changes", "[ ] ~ draft: temperature",
        ]  # fmt: skip
        assert "2 of 3 changes are accepted" in head(pilot)
        assert "For: The names are checked" in screen(pilot) and "List every name" in screen(pilot)


async def test_the_first_change_of_a_long_prompt_is_in_view():
    made = project()
    made.build_records["build-1"] = suggestion("zh")
    async with review(made) as pilot:
        assert "{+" in screen(pilot)
        await press(pilot, "j")
        await settled(pilot)
        assert "[output of names]+}" in screen(pilot)


async def test_one_is_turned_down_and_what_needs_it_falls_with_it():
    made = project()
    async with review(made) as pilot:
        await press(pilot, "x")
        assert made.sent[-1] == MarkChanges("build-1", (NODE,), ticked=False)
        assert "[!] ~ polish reads another output (prompt)" in rows(pilot)
        assert "1 is left out: it needs a rejected change" in head(pilot)
        assert "Left out, because it needs: new node Names" in screen(pilot)
        await press(pilot, "k", "a")
        assert made.sent[-1] == MarkChanges("build-1", (NODE,), ticked=True)
        await press(pilot, "A")
        assert made.sent[-1] == MarkChanges("build-1", ("c1", "c2", "c3"), ticked=True)
        assert "3 of 3" in head(pilot)


async def test_saving_is_one_version_and_one_key_takes_it_back():
    made = project()
    async with review(made) as pilot:
        await press(pilot, "u")
        assert not any(isinstance(each, UndoBuild) for each in made.sent)
        await press(pilot, "ctrl+s")
        assert made.sent[-1] == AcceptBuild("build-1")
        assert "saved as chapter@2" in head(pilot)
        sent = len(made.sent)
        await press(pilot, "x", "ctrl+s", "X")
        assert len(made.sent) == sent, "what was saved is not decided again"
        await press(pilot, "u")
        assert made.sent[-1] == UndoBuild("build-1")
        assert "waits for you" in head(pilot)


class RefusesOnce(FakeProject):
    """The first edit of a change is refused."""

    async def carry_out(self, command: Command) -> str:
        if isinstance(command, EditChange) and not any(isinstance(each, EditChange) for each in self.sent):
            self.sent.append(command)
            raise FlowCabalError("The edit would break the workflow.", "temperature: too high")
        return await super().carry_out(command)


async def test_an_edit_that_is_refused_is_asked_again_with_what_was_typed():
    made = RefusesOnce()
    made.build_records["build-1"] = suggestion()
    async with review(made, (100, 30)) as pilot:
        await press(pilot, "j", "j", "e")
        assert isinstance(pilot.app.screen, DataEditor)
        await press(pilot, "9", "ctrl+s")
        assert made.sent[-1] == EditChange("build-1", "c1", 1.59)
        assert isinstance(pilot.app.screen, DataEditor), "what was typed is still there"
        await press(pilot, "1", "ctrl+s")
        assert made.sent[-1] == EditChange("build-1", "c1", 1.591)
        assert isinstance(pilot.app.screen, BuildReviewScreen)


async def test_a_reason_goes_back_to_the_builder_after_its_price():
    made = project()
    made.price = PRICE
    async with review(made) as pilot:
        await press(pilot, "r")
        await typed(pilot, "colder")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ConfirmScreen)
        assert "Model: mock" in screen(pilot) and "Likely: 8 calls" in screen(pilot)
        await press(pilot, "n")
        assert not any(isinstance(each, ReviseBuild) for each in made.sent)
        await press(pilot, "r")
        await typed(pilot, "colder")
        await press(pilot, "enter", "y")
        assert made.sent[-1] == ReviseBuild("build-1", "colder")


async def test_a_question_is_answered_there():
    made = project(status="asks", questions=("How many scenes?",), offline=True)
    async with review(made) as pilot:
        assert rows(pilot) == ["? How many scenes?"]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, PromptLine)
        await typed(pilot, "three")
        await press(pilot, "enter")
        assert made.sent[-1] == AnswerBuild("build-1", "three")


@pytest.mark.parametrize(
    ("how", "key", "command"),
    [
        ({"status": "building"}, "f9", StopBuild("build-1")),
        ({"status": "stopped", "stopped": "The model repeated."}, "C", ResumeBuild("build-1")),
        ({}, "X", RejectBuild("build-1")),
    ],
)
async def test_a_build_is_stopped_gone_on_with_and_turned_down(how, key, command):
    made = project(**how)
    async with review(made) as pilot:
        await press(pilot, key, *("y" if key == "f9" else ""))
        assert made.sent[-1] == command


async def test_nothing_is_decided_while_it_is_being_built():
    made = project(status="building")
    async with review(made) as pilot:
        await press(pilot, "a", "x", "e", "ctrl+s", "r", "X", "f")
        assert made.sent == []
        assert "F9 stops it" in head(pilot)


async def test_the_graph_and_the_rounds_are_shown_beside_the_list():
    async with review(project(), (140, 40)) as pilot:
        await press(pilot, "g")
        assert "+ Names" in screen(pilot) and "~ Polish" in screen(pilot)
        assert screen(pilot).count("Draft") >= 2, "before and after"
        await press(pilot, "o")
        assert "round 1   4,510 tokens" in screen(pilot) and "✗ connect" in screen(pilot)
        assert "There is no node x" in screen(pilot)
        await press(pilot, "o")
        assert "List every name" in screen(pilot)


async def test_hostile_words_are_shown_as_words():
    made = project(
        wish=HOSTILE, items=(("i1", HOSTILE),), explanation=HOSTILE, assumptions=(HOSTILE,), problems=(HOSTILE,)
    )
    async with review(made, (100, 30)) as pilot:
        assert "[b]bold[/b]" in head(pilot)
        assert all("\x1b" not in row for row in [*rows(pilot), *shown(pilot.app)])


async def test_a_read_only_project_decides_nothing():
    made = FakeProject(read_only=True)
    made.build_records["build-1"] = suggestion()
    async with review(made) as pilot:
        await press(pilot, "x", "ctrl+s", "X", "u")
        assert made.sent == []


# From the workspace


async def test_what_waits_is_counted_and_opened_by_one_key(tmp_path):
    made = project()
    async with workspace(made, tmp_path) as pilot:
        assert "1 suggested workflow: V" in pilot.app.screen.query_one(StatusLine).words
        await press(pilot, "V")
        assert isinstance(pilot.app.screen, BuildReviewScreen)
        await press(pilot, "escape")
        made.waiting.clear()
        await press(pilot, "f8")
        assert isinstance(pilot.app.screen, BuildReviewScreen), "it waits like any question"


async def test_several_are_listed_and_one_is_purged(tmp_path):
    made = project()
    made.build_records["build-2"] = replace(suggestion(), id="build-2", decided="rejected")
    made.build_records["build-3"] = replace(suggestion(), id="build-3", status="asks", questions=("Which?",))
    async with workspace(made, tmp_path, (80, 24)) as pilot:
        await press(pilot, "V")
        assert isinstance(pilot.app.screen, BuildsScreen)
        assert [row.rpartition(" ")[2] for row in rows(pilot)] == ["build-3", "build-1", "build-2"]
        await press(pilot, "G", "shift+delete", "y")
        assert made.sent[-1] == Purge(build="build-2")


async def test_the_list_is_read_again_when_a_page_above_it_is_left(tmp_path):
    made = project()
    made.build_records["build-1"] = replace(suggestion(), status="building")
    async with workspace(made, tmp_path) as pilot:
        await press(pilot, "V")
        assert rows(pilot)[0].startswith("is being built")
        await press(pilot, "f1")
        made.build_records["build-1"] = suggestion()
        await press(pilot, "escape")
        await until(pilot, lambda: "waits for you" in rows(pilot)[0])


async def test_a_build_by_a_model_shows_its_price_and_opens_when_it_begins(tmp_path):
    made = FakeProject()
    made.price = PRICE
    async with workspace(made, tmp_path, (80, 24)) as pilot:
        await press(pilot, "2", "w", "R")
        await typed(pilot, "shorter")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ChooseScreen)
        assert "the agents' model: likely $0.50; mock" in screen(pilot)
        await press(pilot, "enter")
        assert "Likely: 8 calls, 43,000 tokens, $0.50" in screen(pilot)
        await press(pilot, "y")
        assert made.sent[-1] == RequestBuild("shorter", "chapter")
        made.build_records["build-1"] = replace(suggestion(), status="building")
        await told(pilot, made, BuildProgress("build-1", 0, 0, 3))
        assert isinstance(pilot.app.screen, BuildReviewScreen)
        assert "building 1 workflow: V" in screen_of(pilot).query_one(StatusLine).words
        made.build_records["build-1"] = suggestion()
        await told(pilot, made, SuggestionMade("build-1", "finished", 3))
        assert "waits for you" in head(pilot)
        assert "building" not in screen_of(pilot).query_one(StatusLine).words


async def test_a_suggestion_that_comes_while_the_writer_is_elsewhere_is_announced(tmp_path):
    made = FakeProject()
    async with workspace(made, tmp_path) as pilot:
        made.build_records["build-1"] = suggestion()
        await told(pilot, made, SuggestionMade("build-1", "finished", 3))
        assert "suggested workflow waits for you: V" in screen(pilot)
        assert "1 suggested workflow: V" in screen_of(pilot).query_one(StatusLine).words


async def test_a_near_template_is_offered_and_taken_without_a_form(tmp_path):
    made = FakeProject()
    made.near = (NearTemplate("chapter", "A [b]chapter[/b]", 2, 3),)
    made.results[RequestBuild] = "build-1"
    made.build_records["build-1"] = suggestion()
    async with workspace(made, tmp_path, (80, 24)) as pilot:
        await press(pilot, "2", "w", "B")
        await typed(pilot, "Plan it, draft it, print it.")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ChooseScreen)
        assert "“A [b]chapter[/b]”: 2 of 3 points" in screen(pilot)
        await press(pilot, "down", "enter")
        assert isinstance(pilot.app.screen, BuildReviewScreen)
        asked = [each for each in made.sent if isinstance(each, RequestBuild)]
        assert [(each.template, each.offline, each.form) for each in asked] == [("chapter", True, None)]


async def test_without_a_model_the_form_is_filled_from_the_wish(tmp_path):
    made = FakeProject()
    made.results[RequestBuild] = "build-1"
    made.build_records["build-1"] = suggestion()
    async with workspace(made, tmp_path) as pilot:
        await press(pilot, "2", "w", "B")
        await typed(pilot, "plan it")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, FormScreen)
        assert "Plan, Draft" in screen(pilot)
        await press(pilot, "ctrl+s")
        sent = made.sent[-1]
        assert isinstance(sent, RequestBuild) and sent.offline and sent.form is not None
        assert [(step["does"], step["pause"]) for step in sent.form["steps"]] == [("plan", True), ("write", False)]
        assert "A new workflow is being built." in [each.words for each in pilot.app.announcer.notices.listed]
        assert isinstance(pilot.app.screen, BuildReviewScreen)


async def test_several_critics_pass_the_form_unchanged(tmp_path):
    made = FakeProject()
    critics = [{"does": "check", "name": name, "text": f"You are {name}."} for name in ("cruel", "kind")]
    steps = [{"does": "write"}, {"does": "together", "steps": critics}, {"does": "revise"}]
    made.filled = {"steps": steps}
    made.results[RequestBuild] = "build-1"
    made.build_records["build-1"] = suggestion()
    async with workspace(made, tmp_path) as pilot:
        await press(pilot, "2", "w", "B")
        await typed(pilot, "two critics")
        await press(pilot, "enter", "ctrl+s")
        form = Form.model_validate(made.sent[-1].form)
        assert form.steps == Form.model_validate({"steps": steps}).steps


async def test_what_the_form_of_the_screen_does_not_ask_for_stays_open(tmp_path):
    made = FakeProject()
    made.filled = {"steps": [{"does": "candidates", "number": 6}, {"does": "write"}]}
    made.results[RequestBuild] = "build-1"
    made.build_records["build-1"] = suggestion()
    async with workspace(made, tmp_path) as pilot:
        await press(pilot, "2", "w", "B")
        await typed(pilot, "six openings")
        await press(pilot, "enter", "ctrl+s")
        candidates = made.sent[-1].form["steps"][0]
        assert candidates["number"] == 6 and "rounds" not in candidates, "one round, not three"


def test_the_first_frame_and_the_workspace_import_neither_the_builder_nor_the_conversation():
    code = (
        "import re, sys, flowcabal_tui.tui.app.app, flowcabal_tui.tui.workspace.workspace, flowcabal_tui.project;"
        "late = r'[.]builder|build_review|build_form|(agents|project|tui)[.](conversation|comparing|decisions[.]comp)';"
        "print([name for name in sys.modules if re.search(late, name)])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


async def test_the_name_of_a_workflow_is_edited_on_a_line() -> None:
    made = project()
    old = made.build_records["build-1"]
    made.build_records["build-1"] = new = replace(old, document={**old.document, "name": "Names first"})
    async with review(made) as pilot:
        pilot.app.screen.query_one(PickList).pick(next(each.id for each in new.changes if each.field == "name"))
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, PromptLine)
        await press(pilot, "N", "e", "w", "enter")
        assert isinstance(made.sent[-1], EditChange) and made.sent[-1].value == "New"
