"""Candidates among what is killed: chosen, put together, smoothed, sifted, taken back; of a step and of a question."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import Any, Final

from flowcabal_tui.agents.comparing.seams import with_hunks
from flowcabal_tui.domain.comparison import Comparison, ComparisonTarget, Taken, Verdict, composed
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import example
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.comparisons import DecideComparison, SiftCandidates, SmoothSeams, TakeBackChoice
from flowcabal_tui.protocol.runs import ResumeRun, RunWorkflow
from flowcabal_tui.protocol.workflows import EditOutput, SaveWorkflow

STEP: Final = NodeId("draft")
_OPENINGS: Final = "openings"
_OTHERS: Final = (
    "Ines Marlow opened the ledger. She read.\n\nThe bell rang at noon. Nobody came to the landing.",
    "The ledger lay open before her.\n\nNoon came, and Ines Marlow heard no bell.",
)
_PATIENCE: Final = 60.0
_POLL: Final = 0.01


async def write_two_more(project: Project) -> None:
    """Two further texts for a step of the last chapter, by hand; the comparison was opened once."""
    target = await _step(project)
    for text in _OTHERS:
        await project.carry_out(EditOutput(target.workflow, STEP, text, target.chapter))
    await project.comparisons.comparison(target)


async def _step(project: Project) -> ComparisonTarget:
    return ComparisonTarget(workflow="chapter", node=STEP, chapter=(await project.book.chapters())[-1].id)


async def choose(project: Project) -> None:
    """The candidate that does not count yet, of which the text comes first."""
    target = await _step(project)
    shown = await project.comparisons.comparison(target)
    pick = min((each for each in shown.candidates if each.text != _OTHERS[-1]), key=lambda each: each.text)
    await project.carry_out(DecideComparison(target, Verdict("chosen", (pick.digest,))))


async def take_back(project: Project) -> None:
    """The newest choice."""
    (row,) = [each for each in await project.comparisons.comparisons() if each.state == "decided"]
    await project.carry_out(TakeBackChoice(row.id))


def _parts(shown: Comparison) -> tuple[Taken, ...]:
    named = {each.text: each.digest for each in shown.candidates}
    return Taken(named[_OTHERS[0]], 0), Taken(named[_OTHERS[1]], 1)


async def put_together(project: Project) -> None:
    """A paragraph of each text by hand, and what a pass over the seams, which is paid for, changes between them."""
    target = await _step(project)
    shown = await project.comparisons.comparison(target)
    taken = _parts(shown)
    text = composed(shown, taken)
    await project.carry_out(SmoothSeams(target, text, taken))
    changed = await project.comparisons.seam_changes(target, text, taken)
    await project.carry_out(
        DecideComparison(target, Verdict("composed", (), with_hunks(text, changed or ()) + "\n\nBy hand."), taken)
    )


async def sift(project: Project) -> None:
    """Every candidate by rule and by the agents' model."""
    await project.carry_out(SiftCandidates(await _step(project), model=True))


async def ask(project: Project) -> None:
    """A run of the last chapter that waits for a choice among three openings."""
    document = example("five_openings", "en").model_dump(mode="json")
    document["nodes"][0]["params"] |= {"candidates": 3, "rounds": 1}
    await project.carry_out(SaveWorkflow(Workflow.model_validate({**document, "id": _OPENINGS})))
    await project.carry_out(RunWorkflow(RunRequest(_OPENINGS, (await project.book.chapters())[-1].id)))
    await _until(project, "waiting")
    await _asked(project)


async def _asked(project: Project) -> ComparisonTarget | None:
    """The waiting question, looked at; None when it was answered."""
    for question in await project.runs.questions():
        target = ComparisonTarget(question.id)
        await project.comparisons.comparison(target)
        return target
    return None


async def answer(project: Project) -> None:
    """The first opening by its text; the run goes on to its end."""
    target = await _asked(project)
    if target is not None:
        shown = await project.comparisons.comparison(target)
        pick = min(shown.candidates, key=lambda each: each.text)
        await project.carry_out(DecideComparison(target, Verdict("chosen", (pick.digest,))))
    elif (run := (await project.runs.summaries())[0]).state == "interrupted":
        await project.carry_out(ResumeRun(run.id))
    await _until(project, "done")


async def answered(project: Project) -> None:
    """As `ask`, then `answer`."""
    await ask(project)
    await answer(project)


async def _until(project: Project, state: str) -> None:
    async with asyncio.timeout(_PATIENCE):
        while (await project.runs.summaries())[0].state != state:  # noqa: ASYNC110  # the run is polled
            await asyncio.sleep(_POLL)


async def state_of_candidates(project: Project) -> dict[str, Any]:
    """What a writer sees of comparisons and of what counts for each step, and what `blame` will know."""
    rows = await project.comparisons.comparisons()
    with closing(sqlite3.connect(project.info.path / ".flowcabal" / "project.db")) as database:
        parts = database.execute("SELECT paragraph, candidate, number, changed FROM comparison_part ORDER BY 1, 2")
        checks = database.execute("SELECT candidate, body FROM comparison_check ORDER BY 1")
        stored = {"parts": parts.fetchall(), "sifted": checks.fetchall()}
    return stored | {
        "comparisons": sorted((each.target.node, each.state, each.verdict, each.candidates) for each in rows),
        "outcomes": await project.comparisons.outcomes(),
        "counts": await _counting(project),
    }


async def _counting(project: Project) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """For each step of the last chapter how many texts it has, and which of them counts."""
    found, chapter = [], (await project.book.chapters())[-1].id
    for workflow in await project.workflows.newest():
        for node in workflow.nodes:
            versions = await project.workflows.versions(workflow.id, node.id, chapter)
            current = tuple(each.digest for each in versions if each.current)
            found.append((workflow.id, node.id, len(versions), current))
    return found
