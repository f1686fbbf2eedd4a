"""What one more chapter costs with all checks on, at chapters 10, 100 and 1,000: calls and prompt tokens.

The models are mocks over HTTP: one writes the beginning of the novel's own next chapter, one finds nothing wrong.
The earlier chapters are imported and indexed by rule, which costs nothing. Without the knowledge server.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.agents.curation.curation_shapes import DIMENSIONS
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol import AddChapter, Decide, ImportManuscript, PersistOutput, RunWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.bench.projects import TITLE, hosted_at, novel, own_folders
from tests.bench.report import Figure, Missing, checked
from tests.faultserver import FaultServer
from tests.trusting import confirmed

CHAPTERS: Final = (10, 100, 1_000)
TEMPLATES: Final = {"quick-draft": NodeId("draft"), "chapter": NodeId("polish")}
"""Templates, and the node whose output is kept."""
WRITTEN: Final = 3_000
"""Characters of the new chapter."""
ANSWERS: Final = {"quick-draft": (WRITTEN,), "chapter": (600, WRITTEN, WRITTEN)}
"""Characters that each node of a template writes: a plan is short."""
MOST_TOKENS: Final = 60_000
FLAT: Final = 0.05
RIVAL: Final = {10: 76_960, 100: 91_810}
"""Prompt tokens of a rival by chapter, InkOS 1.7.2 with moderate hooks and a mock answering; shown in brackets."""
RIVAL_CALLS: Final = "6 to 9"
NOTHING_FOUND: Final = {
    **{kind: [] for kind in ("findings", "entities", "relations", "facts", "promises", "moments", "sequels")},
    "sentences": [],
    "summary": "",
    "line": "写了一章。",
    "keeping": [{"question": each, "passed": True} for each in DIMENSIONS],
}
"""An answer that fits the shape of every agent's question."""
_SUMMED_UP: Final = 6
_TASK: Final = re.compile(r"<task>\s*([\w.]+)\s*</task>")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a mock: for which task, and the tokens of its messages and tools."""

    task: str
    tokens: int


def measure() -> list[Figure]:
    """Chapters 10, 100 and 1,000, each with each template: those after which an arc is told anew too."""
    texts = list(islice(_chapters(novel()), CHAPTERS[-1] + len(TEMPLATES)))
    earlier, following = texts[: CHAPTERS[-1]], texts[CHAPTERS[-1] :]
    figures: list[Figure] = []
    totals: dict[str, list[int]] = {template: [] for template in TEMPLATES}
    for last in CHAPTERS:
        found = asyncio.run(_one(earlier[1 - last :], following))
        for template, (run, kept) in found.items():
            totals[template].append(sum(call.tokens for call in (*run, *kept)))
            name = f"chapter {last}, {template}"
            rival = f" ({RIVAL[last]:,})" if last in RIVAL else ""
            figures += [
                checked(f"{name}: prompt tokens{rival}", totals[template][-1], MOST_TOKENS, "tokens"),
                Figure(f"{name}: calls of the run; after the keep ({RIVAL_CALLS})", f"{len(run)}; {len(kept)}"),
                *_by_task(name, (*run, *kept)),
            ]
    for template, used in totals.items():
        spread = max(used) / min(used) - 1
        figures.append(
            Figure(f"{template}: the most over the least", f"{spread:.1%}", f"<= {FLAT:.0%}", spread <= FLAT)
        )
    return figures


def _by_task(name: str, calls: tuple[Call, ...]) -> Iterator[Figure]:
    tokens: Counter[str] = Counter()
    for call in calls:
        tokens[call.task] += call.tokens
    for task, number in tokens.most_common():
        times = sum(call.task == task for call in calls)
        yield Figure(f"{name}: {task}", f"{times} x, {number:,} tokens")


def _chapters(source: Path) -> Iterator[tuple[str, str]]:
    """Titles and texts of the novel, then of those beside it in the same writing, then from the beginning again."""
    sources = [source, *(path for path in sorted(source.parent.iterdir()) if path != source)]
    found: list[tuple[str, str]] = []
    for path in sources:
        chapters = read_manuscript(path).chapters
        if chapters and chapters[0].text[:1] > "\u2fff":
            found += [(chapter.title, chapter.text) for chapter in chapters]
    if not found:
        raise Missing(f"{source} has no Chinese chapters")
    return cycle(found)


async def _one(
    earlier: list[tuple[str, str]], following: list[tuple[str, str]]
) -> dict[str, tuple[list[Call], list[Call]]]:
    """For each template the calls for the same next chapter: of its run, and of what follows when it is kept."""
    found: dict[str, tuple[list[Call], list[Call]]] = {}
    with own_folders() as folder:
        async with FaultServer() as writer, FaultServer() as helper:
            helper.push(_answer(following))
            models = ModelsSettings(user=hosted_at(writer.url), agent=hosted_at(helper.url))
            await create_project(folder / "book", name=TITLE, language="zh", models=models)
            (folder / "texts").mkdir()
            for number, (name, words) in enumerate(earlier, start=1):
                (folder / "texts" / f"{number:04}.txt").write_text(f"{name}\n\n{words}\n", encoding="utf-8")
            async with _opened(folder / "book") as project:
                await project.carry_out(ImportManuscript(str(folder / "texts")))
                await project.settled()
            assert not helper.log
            for (template, node), (title, text) in zip(TEMPLATES.items(), following, strict=False):
                confirmed(shutil.copytree(folder / "book", folder / template))
                writer.log.clear()
                helper.log.clear()
                writer.push(*({"content": text[:length], "usage": False} for length in ANSWERS[template]))
                async with _opened(folder / template) as project:
                    await _run(project, template, title, text)
                    run, asked = _calls(writer, helper), len(helper.log)
                    await project.carry_out(PersistOutput((await project.runs())[0].id, node))
                    await project.settled()
                found[template] = (run, _calls(helper)[asked:])
    return found


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[Project]:
    project = await Project.open(folder, knowledge=False)
    try:
        yield project
    finally:
        await project.close()


def _answer(chapters: list[tuple[str, str]]) -> dict[str, Any]:
    """What the helper says to everything: nothing is wrong, and the first sentences of a chapter sum it up.

    Without usage, from which estimates of tokens would be learned.
    """
    quotes = [each.strip() for _title, text in chapters for each in text[:WRITTEN].split("。")[:_SUMMED_UP]]
    said = NOTHING_FOUND | {"sentences": [{"sentence": each, "quote": each} for each in quotes]}
    call = {"name": "answer", "arguments": json.dumps(said, ensure_ascii=False)}
    return {"tool_calls": [call], "times": -1, "usage": False}


async def _run(project: Project, template: str, title: str, text: str) -> None:
    """Runs the template to its end; whatever is asked is approved."""
    chapter = await project.carry_out(AddChapter(title))
    wishes = (("instruction", text[:80]),)
    await project.carry_out(RunWorkflow(RunRequest(template, ChapterId(chapter), wishes)))
    while (await project.runs())[0].state not in ("done", "failed", "cancelled"):
        for question in await project.questions():
            await project.carry_out(Decide(question.id, Decision("approve", max(question.attempts))))
        await asyncio.sleep(0.01)
    if (state := (await project.runs())[0].state) != "done":
        raise RuntimeError(f"the run ended as {state}")


def _calls(*servers: FaultServer) -> list[Call]:
    """What the mocks were asked so far, one after the other."""
    count = TokenEstimator("").count
    found = []
    for body in (entry["body"] for server in servers for entry in server.log):
        texts = [message["content"] for message in body["messages"]]
        task = next((match[1] for each in texts if (match := _TASK.search(each))), "node")
        tools = json.dumps(body.get("tools", []), ensure_ascii=False)
        found.append(Call(task, sum(map(count, texts)) + count(tools)))
    return found
