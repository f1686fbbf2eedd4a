"""A quote names what runs of the same workflow have usually cost in this book."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.domain.run import Quote, QuoteLine, RunRequest, Spend, UsualCost
from flowcabal_tui.locale import use_language
from flowcabal_tui.project.words import spend_lines
from flowcabal_tui.protocol.book import AddChapter
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, make_one, opened


async def usual(case: Case, chapter: int, **wishes: object) -> UsualCost | None:
    request = RunRequest("quick-draft", await case.chapter(chapter), **wishes)
    return (await case.project.runs.quote(request)).usual


async def test_three_whole_runs_of_the_workflow_are_enough_for_a_usual_range(folder: Path, server: FaultServer) -> None:
    await make_one(folder, both(endpoint(server, price_in=Decimal(2), price_out=Decimal(10), max_output=900)))
    async with opened(folder) as case:
        for number in range(2, 9):
            await case.project.carry_out(AddChapter(f"Chapter {number}"))
        costs = []
        for number in range(1, 7):
            assert (await usual(case, number) is None) == (number <= 3)
            before = (await case.project.runs.totals()).cost
            server.push({"content": "river " * 50 * number})
            await case.run("quick-draft", number)
            costs.append((await case.project.runs.totals()).cost - before)
        assert sorted(costs) == costs and len({*costs}) == 6
        assert await usual(case, 7) == UsualCost(costs[1], costs[4], 6), "without the cheapest and the dearest"
        assert await usual(case, 1) is None, "its output is there: the run costs nothing like that"
        assert await usual(case, 7, overrides=(("draft", {"temperature": 0.3}),)) is None


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Model: m", "Usually: $0.20–$0.35 (the last 8 runs)", "Calls: writing 3, checks 2", "At most: $0.93"]),
        ("zh", ["模型：m", "通常：$0.20–$0.35（最近 8 次运行）", "调用次数：写作 3、核查 2", "上限：$0.93"]),
    ],
)
def test_the_usual_range_comes_first_and_the_bound_last(language: str, words: list[str]) -> None:
    use_language(language)
    likely, most = Spend(5, 9_000, 3_000, Decimal("0.31")), Spend(90, 1_000_000, 600_000, Decimal("47.27"))
    lines = tuple(QuoteLine(kind, Spend(n), Spend(40)) for kind, n in (("writing", 3), ("checks", 2)))
    usual = UsualCost(Decimal("0.20"), Decimal("0.35"), 8)
    quote = Quote((), (), likely, most, lines, currency="USD", usual=usual)
    shown = spend_lines(quote, models="m")
    assert shown[: len(words)] == words
    assert "47.27" not in " ".join(shown)
    use_language("en")
