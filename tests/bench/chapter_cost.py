"""What one more chapter of 3,000 or 8,000 characters costs with all checks on, at chapters 10, 100 and 1,000.

Calls and prompt tokens, in all and outside of prefixes that a provider's cache can hold, as the first of its session.

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

from flowcabal_tui.agents.shapes.curation import DIMENSIONS
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.manuscript.reader import read_manuscript
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, PersistOutput
from flowcabal_tui.protocol.runs import Decide, RunWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.bench.cached import cached_tokens, sent
from tests.bench.projects import TITLE, hosted_at, novel, own_folders
from tests.bench.report import Figure, Missing, checked
from tests.faultserver import FaultServer
from tests.trusting import confirmed

CHAPTERS: Final = (10, 100, 1_000)
TEMPLATES: Final = {"quick-draft": NodeId("draft"), "chapter": NodeId("polish")}
"""Templates, and the node whose output is kept."""
WRITTEN: Final = (3_000, 8_000)
"""Characters of the new chapter."""
PLAN: Final = 600
"""Characters of a plan."""
MOST_OUTSIDE: Final = 60_000
"""Tokens outside of cached prefixes for the shorter chapter, all checks included; `prompts` has the limit without."""
FLAT: Final = 0.05
AT_ONCE: Final = 200
"""Chapters that are imported together: the process that reads them may take 120 seconds."""
RIVAL: Final = {10: 76_960, 100: 91_810}
"""Prompt tokens of a rival by chapter, InkOS 1.7.2 with moderate hooks and a mock answering; shown in brackets."""
RIVAL_CALLS: Final = "6 to 9"
NOTHING_FOUND: Final = {
    **{kind: [] for kind in ("findings", "verdicts", "readings", "entities", "relations", "facts")},
    **{kind: [] for kind in ("promises", "moments", "sequels", "sentences")},
    "compatible": [f"c{n}" for n in range(1, 1_000)],
    "summary": "",
    "line": "写了一章。",
    "keeping": [{"question": each, "passed": True} for each in DIMENSIONS],
}
"""An answer that fits the shape of every agent's question."""
_SUMMED_UP: Final = 6
PROFILES: Final = ("p1", "p2", "p3", "p4")
"""Ids of the profiles that are asked for together."""
_TASK: Final = re.compile(r"<task>\s*([\w.]+)\s*</task>")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a mock: for which task, the tokens of its messages and tools, and those that were not cached."""

    task: str
    tokens: int
    outside: int


Case = tuple[str, int]
"""A template, and how many characters its chapter has."""


def measure() -> Iterator[Figure]:
    """Chapters 10, 100 and 1,000, each with each template: those after which the summary of an arc is due too."""
    texts = list(islice(_chapters(novel()), CHAPTERS[-1] + len(TEMPLATES) + 1))
    earlier, following = texts[: CHAPTERS[-1]], texts[CHAPTERS[-1] :]
    totals: dict[Case, list[int]] = {(template, length): [] for template in TEMPLATES for length in WRITTEN}
    for last in CHAPTERS:
        for case, (run, kept) in asyncio.run(_one(earlier[1 - last :], following)).items():
            totals[case].append(sum(call.tokens for call in (*run, *kept)))
            yield from _figures(last, case, run, kept)
    for (template, length), used in totals.items():
        spread = max(used) / min(used) - 1
        name = f"{template}, {length:,} characters: the most over the least"
        yield Figure(name, f"{spread:.1%}", f"<= {FLAT:.0%}", spread <= FLAT)


def _figures(last: int, case: Case, run: list[Call], kept: list[Call]) -> Iterator[Figure]:
    template, length = case
    name = f"chapter {last}, {template}, {length:,} characters"
    rival = f" ({RIVAL[last]:,})" if last in RIVAL else ""
    calls = (*run, *kept)
    yield Figure(f"{name}: prompt tokens{rival}", f"{sum(call.tokens for call in calls):,} tokens")
    outside = sum(call.outside for call in calls)
    if length == WRITTEN[0]:
        yield checked(f"{name}: outside of cached prefixes", outside, MOST_OUTSIDE, "tokens")
    else:
        yield Figure(f"{name}: outside of cached prefixes", f"{outside:,} tokens")
    yield Figure(f"{name}: calls of the run; after the keep ({RIVAL_CALLS})", f"{len(run)}; {len(kept)}")
    yield from _by_task(name, calls)


def _by_task(name: str, calls: tuple[Call, ...]) -> Iterator[Figure]:
    tokens: Counter[str] = Counter()
    for call in calls:
        tokens[call.task] += call.tokens
    for task, number in tokens.most_common():
        of_task = [call for call in calls if call.task == task]
        outside = sum(call.outside for call in of_task)
        yield Figure(f"{name}: {task}", f"{len(of_task)} x, {number:,} tokens, {outside:,} outside")


def answers(template: str, text: str, length: int) -> tuple[str, ...]:
    """What each node of a template writes: a plan is short."""
    written = text[:length]
    return (written,) if template == "quick-draft" else (text[:PLAN], written, written)


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
) -> dict[Case, tuple[list[Call], list[Call]]]:
    """For each template and length the calls for the same next chapter: of its run, and when it is kept."""
    found: dict[Case, tuple[list[Call], list[Call]]] = {}
    with own_folders() as folder:
        async with FaultServer() as writer, FaultServer() as helper:
            helper.push(_answer(following))
            models = ModelsSettings(user=hosted_at(writer.url), agent=hosted_at(helper.url))
            await create_project(folder / "book", name=TITLE, language="zh", models=models)
            async with _opened(folder / "book") as project:
                for start in range(0, len(earlier), AT_ONCE):
                    await _imported(project, folder / f"from-{start}", earlier[start : start + AT_ONCE])
            assert not helper.log
            for at, (template, node) in enumerate(TEMPLATES.items()):
                title, text = following[at][0], following[at][1] + following[at + 1][1]
                for length in WRITTEN:
                    copy = folder / f"{template}-{length}"
                    confirmed(shutil.copytree(folder / "book", copy))
                    writer.log.clear()
                    helper.log.clear()
                    writer.push(*({"content": each, "usage": False} for each in answers(template, text, length)))
                    async with _opened(copy) as project:
                        await _run(project, template, title, text)
                        asked = len(helper.log)
                        await project.carry_out(PersistOutput((await project.runs.summaries())[0].id, node))
                        await project.memory.settled()
                    calls, of_run = _calls(writer, helper), len(writer.log) + asked
                    found[template, length] = (calls[:of_run], calls[of_run:])
                    shutil.rmtree(copy)
    return found


async def _imported(project: Project, texts: Path, chapters: list[tuple[str, str]]) -> None:
    texts.mkdir()
    for number, (name, words) in enumerate(chapters, start=1):
        (texts / f"{number:04}.txt").write_text(f"{name}\n\n{words}\n", encoding="utf-8")
    await project.carry_out(ImportManuscript(str(texts), again=True))
    await project.memory.settled()


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[Project]:
    project = await Project.open(folder, knowledge=False)
    try:
        yield project
    finally:
        await project.close()


def _answer(chapters: list[tuple[str, str]]) -> dict[str, Any]:
    """What the helper says to everything. Without usage, from which estimates of tokens would be learned."""
    call = {"name": "answer", "arguments": json.dumps(answered(chapters), ensure_ascii=False)}
    return {"tool_calls": [call], "times": -1, "usage": False}


def answered(chapters: list[tuple[str, str]]) -> dict[str, Any]:
    """Nothing is wrong, and the first sentences of a chapter sum it up."""
    quotes = [each.strip() for _title, text in chapters for each in text[: WRITTEN[0]].split("。")[:_SUMMED_UP]]
    sentences = [{"sentence": each, "quote": each} for each in quotes]
    lines = [{"profile": profile, "source_id": "chapter", **each} for profile in PROFILES for each in sentences]
    return NOTHING_FOUND | {"sentences": sentences, "lines": lines}


async def _run(project: Project, template: str, title: str, text: str) -> None:
    """Runs the template to its end; whatever is asked is approved."""
    chapter = await project.carry_out(AddChapter(title))
    wishes = (("instruction", text[:80]),)
    await project.carry_out(RunWorkflow(RunRequest(template, ChapterId(chapter), wishes)))
    while (await project.runs.summaries())[0].state not in ("done", "failed", "cancelled"):
        for question in await project.runs.questions():
            await project.carry_out(Decide(question.id, Decision("approve", max(question.attempts))))
        await asyncio.sleep(0.01)
    if (state := (await project.runs.summaries())[0].state) != "done":
        raise RuntimeError(f"the run ended as {state}")


def _calls(*servers: FaultServer) -> list[Call]:
    """What the mocks were asked so far, one after the other; each mock is a model of its own."""
    found = []
    for server in servers:
        bodies = [entry["body"] for entry in server.log]
        requests = [sent(body) for body in bodies]
        for body, request, cached in zip(bodies, requests, cached_tokens(requests), strict=True):
            texts = [message["content"] for message in body["messages"]]
            task = next((match[1] for each in texts if (match := _TASK.search(each))), "node")
            found.append(Call(task, request.tokens, request.tokens - cached))
    return found
