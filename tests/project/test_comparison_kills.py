"""Candidates whose program is killed: nothing is lost, half chosen, or paid twice. See also `tests/bench/kills.py`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from flowcabal_tui.domain.comparison import Comparison, ComparisonTarget, Taken, Verdict, composed
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.comparisons import DecideComparison, SmoothSeams, TakeBackChoice, WriteCandidates
from flowcabal_tui.protocol.runs import ResumeRun
from flowcabal_tui.protocol.workflows import SaveWorkflow
from tests.faultserver import FaultServer
from tests.project.case import Case, both, calls, endpoint, make_one, opened
from tests.project.test_comparisons import BEATS, DRAFT, TEXTS, chapter_flow, current_text
from tests.waiting import PATIENCE

CHILD = """
import asyncio, sys
from pathlib import Path
from flowcabal_tui.project import Project
from flowcabal_tui.store.file.connection import Writer
from tests.bench.kill_victim import Points
from tests.project.test_comparison_kills import judge
async def main():
    points = Points(int(sys.argv[2]))
    Writer._commit = points.around(Writer._commit)
    project = await Project.open(Path(sys.argv[1]), knowledge=False, trust=True)
    points.counting = True
    await judge(project)
    await project.close()
    print(points.count)
asyncio.run(main())
"""
SEAMS = {"seams": [{"seam": 1, "before": "She read on.", "after": "It was noon."}]}
ANSWERS = ({"content": TEXTS[1]}, {"content": TEXTS[2]}, {"content": json.dumps(SEAMS)})
"""What is paid for: two further candidates, and a pass over the seams."""
COMMITS = range(20) if os.environ.get("FLOWCABAL_KILLS") else range(0, 20, 5)
"""All twenty with FLOWCABAL_KILLS set."""


async def the_drafts(project: Project) -> ComparisonTarget:
    return ComparisonTarget(workflow="chapter-flow", node=DRAFT, chapter=(await project.book.chapters())[0].id)


def parts(shown: Comparison) -> tuple[Taken, ...]:
    """The first paragraph of the first draft, and the second one of the second."""
    named = {each.text: each.digest for each in shown.candidates}
    return Taken(named[TEXTS[0]], 0), Taken(named[TEXTS[1]], 1)


async def judge(project: Project) -> None:
    """Two further candidates, parts of two put together, a pass over their seam, taken back, another one chosen.

    What a killed process has done of it is not done again.
    """
    target = await the_drafts(project)
    for run in await project.runs.summaries():
        if run.state == "interrupted":
            await project.carry_out(ResumeRun(run.id))
            await ended(project)
    missing = len(TEXTS) - await candidates(project, target)
    if missing:
        await project.carry_out(WriteCandidates(target, missing))
    shown = await project.comparisons.comparison(target)
    (first,) = [each for each in await project.comparisons.comparisons() if each.candidates == len(TEXTS)]
    if first.state == "open":
        taken = parts(shown)
        text = composed(shown, taken)
        await project.carry_out(SmoothSeams(target, text, taken))
        await project.carry_out(DecideComparison(target, Verdict("composed", (), text), taken))
    if first.state != "taken back":
        await project.carry_out(TakeBackChoice(first.id))
    last = next(each for each in shown.candidates if each.text == TEXTS[2])
    await project.carry_out(DecideComparison(target, Verdict("chosen", (last.digest,))))


async def candidates(project: Project, target: ComparisonTarget) -> int:
    return len(set(await texts(project, target)) & set(TEXTS))


async def texts(project: Project, target: ComparisonTarget) -> list[str]:
    versions = await project.workflows.versions(target.workflow, target.node, target.chapter)
    return list(await project.workflows.texts(versions))


async def ended(project: Project) -> None:
    async with asyncio.timeout(PATIENCE):
        while any(run.state == "running" for run in await project.runs.summaries()):  # noqa: ASYNC110  # it is polled
            await asyncio.sleep(0.01)


async def killed(folder: Path, point: int) -> tuple[int, str]:
    """The exit code and the words of the child; killed at a point before or behind a commit (0: never)."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CHILD, str(folder), str(point)), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        said, _errors = await child.communicate()
    return child.returncode or 0, said.decode()


async def drafted(folder: Path, server: FaultServer) -> None:
    """A chapter with a plan and one draft; the answers to what is paid for then wait."""
    server.push({"content": BEATS}, {"content": TEXTS[0]})
    async with opened(await make_one(folder, both(endpoint(server, idle_timeout=30.0)))) as case:
        await case.project.carry_out(SaveWorkflow(chapter_flow()))
        await case.run("chapter-flow", chapter=1)
    server.log.clear()
    server.clear()
    server.push(*ANSWERS)


async def require_whole(case: Case) -> None:
    """What counts is what was chosen, or what counted before; nothing lies between."""
    project = case.project
    target, text = await the_drafts(project), await current_text(case)
    if await candidates(project, target) < len(TEXTS):
        assert text == TEXTS[0]
        return
    shown = await project.comparisons.comparison(target)
    wanted = {"": TEXTS[0], "composed": composed(shown, parts(shown)), "chosen": TEXTS[2]}
    decided = [each for each in await project.comparisons.comparisons() if each.state == "decided"]
    assert len(decided) <= 1
    assert text == wanted[decided[0].verdict if decided else ""]
    counted = sum(row.won + row.tied + row.lost for row in await project.comparisons.outcomes())
    assert counted == sum(each.candidates for each in decided)


@pytest.mark.parametrize("moment", COMMITS)
async def test_killed_at_a_commit_a_choice_is_made_or_not(
    folder: Path, tmp_path: Path, server: FaultServer, moment: int
) -> None:
    await drafted(tmp_path / "counted", server)
    code, said = await killed(tmp_path / "counted", 0)
    assert (code, calls(server)) == (0, len(ANSWERS))
    await drafted(folder, server)
    code, _said = await killed(folder, 1 + moment * int(said) // 20)
    assert code in (-signal.SIGKILL, 0)  # pieces share commits, so there can be fewer of them
    async with opened(folder, trust=True) as case:
        await require_whole(case)
        known = await texts(case.project, await the_drafts(case.project))
        unwritten = [each for each in ANSWERS[:2] if each["content"] not in known]
        answered = len([entry for entry in server.log if entry["outcome"] == "complete"])
        server.clear()
        server.push(*unwritten, ANSWERS[2])
        await judge(case.project)
        assert await current_text(case) == TEXTS[2]
        await require_whole(case)
    lost = min(answered, 2) - (2 - len(unwritten))  # both candidates can be on their way to the disk
    assert calls(server) <= len(ANSWERS) + max(lost, 1)
