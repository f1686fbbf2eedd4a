"""The rules over a book, in the helper process: what they find, what is waived, what is off, what fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from flowcabal_tui.agents.checking.feedback import finding_lines
from flowcabal_tui.agents.checking.monitor import Monitor
from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.errors import HelperFailed, ModelError, ModelFault
from flowcabal_tui.domain.ids import ChapterId, Generation, NodeId
from flowcabal_tui.domain.run import AngleCheck, Compared
from flowcabal_tui.domain.workflow import Node, PromptParams
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, OutputChecked
from tests.agents.fakes import FakeAnswers, FakeBook, FakeModel, FakeTokens, as_checker, person
from tests.faultserver import FaultServer
from tests.project.case import NO_FINDINGS, both, change, endpoint, make, opened, write_chapters

DEATH = "那夜沈知微病故，众人举哀。"
DRAFT = "沈知微走进院子，她的绿眼睛亮了。作为一个AI，我不能再写。"
PEOPLE = (person("沈知微", note="一双蓝眼睛"),)


@pytest_asyncio.fixture
async def workshop() -> AsyncIterator[Workshop]:
    workshop = Workshop()
    yield workshop
    await workshop.close()


def book(**more: Any) -> FakeBook:
    return FakeBook([("第1章", DEATH), ("第2章", "灯灭了。"), ("第3章", "")], PEOPLE, **more)


async def checked(workshop: Workshop, of: FakeBook, off: tuple[str, ...] = (), draft: str = DRAFT) -> AngleCheck:
    view = await of.view(ChapterId("c3"), Generation(1))
    (check,) = await RuleChecks(workshop, lambda: off).check(view, draft, "draft/write", "第3章")
    return check


async def test_findings_name_their_rule_and_both_places(workshop: Workshop) -> None:
    check = await checked(workshop, book())
    assert (check.angle, check.outcome) == ("rules", "found")
    said = {each.rule: (each.draft.text, each.source.text, each.source.uri) for each in check.findings}
    assert said == {
        "dead-acts": ("沈知微走进院子", DEATH, "manuscript/c1"),
        "looks": ("绿眼睛", "一双蓝眼睛", "entities/characters/e-沈知微"),
        "leftovers": ("作为一个AI，我", "", ""),
    }
    assert all(each.draft.uri == "draft/write" and each.confidence < 0.8 for each in check.findings)


async def test_a_book_does_without_some_rules(workshop: Workshop) -> None:
    check = await checked(workshop, book(), off=("looks", "leftovers"))
    assert [each.rule for each in check.findings] == ["dead-acts"]


async def test_what_the_writer_intends_is_not_found_again(workshop: Workshop) -> None:
    waived = frozenset({("沈知微走进院子", DEATH), ("绿眼睛", "一双蓝眼睛"), ("作为一个AI，我", "")})
    check = await checked(workshop, book(waived=waived))
    assert check == AngleCheck("rules", "passed", compared=Compared(statements=2)), "two sentences were read"


async def test_a_new_helper_process_reads_the_book_again(workshop: Workshop) -> None:
    before = await checked(workshop, book())
    await workshop.close()
    assert await checked(workshop, book()) == before


async def test_rules_that_cannot_run_are_not_checked() -> None:
    class Broken(Workshop):
        async def do(self, *_arguments: Any, **_limits: Any) -> Any:
            raise HelperFailed("died", "The helper process ended.")

    assert await checked(Broken(), book()) == AngleCheck("rules", "not checked", "The helper process ended.")


def _none() -> PaidOnce:
    raise ModelError(ModelFault.NOT_CONFIGURED, "No model.")


@pytest.mark.parametrize("model", ["answers", "none"])
async def test_a_draft_is_checked_by_rule_with_and_without_a_model(workshop: Workshop, model: str) -> None:
    paid = PaidOnce(FakeModel(as_checker(lambda _request: {"findings": []})), FakeAnswers())
    monitor = Monitor(
        book(),
        _none if model == "none" else lambda: paid,
        FakeTokens(),
        rules=RuleChecks(workshop, lambda: ("leftovers",)),
    )
    node, params = Node(id=NodeId("write"), name="Write"), PromptParams(angles=("timeline",))
    said = await monitor.evaluate(node, params, DRAFT, ChapterId("c3"), Generation(1), 1)
    assert said.verdict == "approve", "a rule decides nothing"
    assert [(each.angle, each.outcome) for each in said.checks] == [
        ("rules", "found"),
        ("timeline", "not checked" if model == "none" else "passed"),
    ]
    assert DEATH in finding_lines(said.findings), "a retry is told"


async def test_a_kept_chapter_is_checked_by_rule(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server)))
    change(folder, "checks", off=("latin",))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4"))
        await case.settled()
        said = {"content": "The lamp died. As an AI language model, I cannot go on."}
        server.push(said, {"content": NO_FINDINGS, "times": -1})
        run = await case.run("quick-draft", 4)
        await case.keep(run, "draft")
        await case.settled()
        (told,) = case.told(OutputChecked)
    by_rule = [check for check in told.checks if check.angle == "rules"]
    assert [each.rule for check in by_rule for each in check.findings] == ["leftovers"]
