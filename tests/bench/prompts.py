"""What of the prompts of one chapter a provider's cache can hold, and what they are made of.

A recording mock answers the run, the check, the keep and the reading of chapters 1, 10, 60 and 119 of a book of 120
chapters, each the first of its session, and of the next chapter. A prompt token counts as cached when it stands in a
beginning of at least 1,024 tokens that an earlier request of the session to the same model had, tools first, and that
was used within the life of the cache. Chapters 10, 60 and 119 are asked about once more with the Monitor switched off:
what is outside then is what the check leaves room beside; and with a helper that doubts a share of all pairs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.memory import MetaName
from flowcabal_tui.domain.prompt_parts import read_parts
from flowcabal_tui.domain.run import Decision, RunRequest
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, PersistOutput, WriteMeta
from flowcabal_tui.protocol.runs import Decide, RunWorkflow
from flowcabal_tui.settings.project_file import ModelsSettings, load_project, save_project
from tests.bench.cached import Sent, cached_tokens, count, sent
from tests.bench.chapter_cost import WRITTEN, _chapters, _opened, answered, answers
from tests.bench.doubting import DoubtingServer
from tests.bench.projects import TITLE, hosted_at, novel, own_folders
from tests.bench.report import Figure, checked
from tests.faultserver import FaultServer
from tests.outside_parts import outside_parts
from tests.trusting import confirmed

CHAPTERS: Final = (1, 10, 60, 119)
SHARE: Final = 0.5
MOST_OUTSIDE: Final = 40_000
MOST_CHECKED: Final = 60_000
"""Tokens outside a cached prefix: of a chapter in a book whose checks are switched off, and of one that is checked."""
DOUBTED: Final = (0.1, 0.25)
"""Of the pairs of a check."""
PAUSES: Final = ((0, 300), (300, 300), (1_800, 300), (1_800, 3_600))
"""Seconds that the writer takes at each gate, and seconds that an entry of the cache lives unused."""
TEMPLATE, KEPT = "chapter", NodeId("polish")
NOTES: Final[tuple[tuple[MetaName, str], ...]] = (
    (
        "style-guide",
        "\n".join(f"- 第{n}条：白话叙事，少用形容词；对话要短，人物各有口吻，不解释典故。" for n in range(1, 16)),
    ),
    (
        "world-rules",
        "\n".join(f"- 第{n}条：府中的规矩不能破，月例、辈分、时令与前文所写的一致。" for n in range(1, 16)),
    ),
)
"""What every book has beside its outline and its chapters."""


def layers(requests: Sequence[Sent]) -> Counter[str]:
    """Tokens by part; `orders` are what stands outside of all parts."""
    found: Counter[str] = Counter()
    for request in requests:
        for part in read_parts(request.text):
            found[part.key] += count(part.source)
        found["orders"] += count(outside_parts(request.text))
    return found


def measure() -> list[Figure]:
    """The chapters one after the other, each in a project of its own that ends before it."""
    texts = list(islice(_chapters(novel()), CHAPTERS[-1] + 2))
    return [figure for number in CHAPTERS for figure in _of_chapter(texts, number)]


def _of_chapter(texts: Sequence[tuple[str, str]], number: int) -> Iterator[Figure]:
    yield from _figures(number, asyncio.run(session(texts, number)))
    if number > 1:
        yield from _unchecked(number, *asyncio.run(session(texts, number, checks=False)))
        for share in DOUBTED:
            yield from _doubted(number, share, *asyncio.run(session(texts, number, doubted=share)))


def _unchecked(number: int, requests: list[Sent], following: list[Sent]) -> Iterator[Figure]:
    """What stands outside where no check asks anything, by request."""
    return _outside(number, "outside, with the check switched off", MOST_OUTSIDE, requests, following)


def _doubted(number: int, share: float, requests: list[Sent], following: list[Sent]) -> Iterator[Figure]:
    """What stands outside where so many pairs are judged again and defended, by request."""
    return _outside(number, f"outside, {share:.0%} of the pairs doubted", MOST_CHECKED, requests, following)


def _outside(number: int, what: str, most: int, requests: list[Sent], following: list[Sent]) -> Iterator[Figure]:
    session, first = [*requests, *following], len(requests)
    outside = [each.tokens - cached for each, cached in zip(session, cached_tokens(session), strict=True)]
    parts = ((f"chapter {number}", 0, first), (f"chapter {number + 1}, in the same session", first, len(session)))
    for name, start, end in parts:
        told = f"{name}: {what}"
        yield checked(told, sum(outside[start:end]), most, "tokens")
        for each, tokens in list(zip(session, outside, strict=True))[start:end]:
            yield Figure(f"{told}: {_task(each)}", f"{tokens:,} of {each.tokens:,}")


def _task(request: Sent) -> str:
    return request.text.rpartition("<task>")[2].partition("</task>")[0]


def _figures(number: int, chapters: tuple[list[Sent], list[Sent]]) -> Iterator[Figure]:
    requests, following = chapters
    name, then = f"chapter {number}", f"chapter {number + 1}, in the same session"
    yield from _shares(name, requests, 0, has_goal=number > 1)
    yield from _shares(then, [*requests, *following], len(requests), has_goal=number > 1)
    yield from beats_told(name, number, requests)
    for part, tokens in layers(requests).most_common():
        yield Figure(f"{name}: {part}", f"{tokens:,} tokens")


def _shares(name: str, session: Sequence[Sent], since: int, *, has_goal: bool) -> Iterator[Figure]:
    """What of the requests from `since` on stands in a prefix that an earlier one of the session left."""
    whole = sum(each.tokens for each in session[since:])
    for pause, life in PAUSES:
        cached = sum(cached_tokens(session, pause, life)[since:])
        said = f"{name}: in a cached prefix" + (f", pauses {pause // 60} min, life {life // 60} min" if pause else "")
        goal = None if pause or not has_goal else cached >= SHARE * whole
        yield Figure(said, f"{cached:,} of {whole:,}, {cached / whole:.1%}", f">= {SHARE:.0%}" * (not pause), goal)
        outside = f"{name}: outside" + (f", pauses {pause // 60} min, life {life // 60} min" if pause else "")
        if pause:
            yield Figure(outside, f"{whole - cached:,} tokens")
        else:
            yield checked(outside, whole - cached, MOST_CHECKED, "tokens")
    cached_of = cached_tokens(session)
    for each, cached in list(zip(session, cached_of, strict=True))[since:]:
        yield Figure(f"{name}: {each.model}, {_task(each)}, gate {each.gates}", f"{cached:,} of {each.tokens:,}")


def beats_of(number: int) -> str:
    """Three beats that no other chapter has."""
    return f"- 第{number}号信使在渡口等人。\n- 说出暗号甲{number}乙，换得一封信。\n- 结尾是灯{number}灭。"


def outline_of(titles: Sequence[str]) -> str:
    """A full outline: a heading and beats for each chapter, those that are not written yet too."""
    return "\n\n".join(f"## {title}\n{beats_of(n)}" for n, title in enumerate(titles, start=1))


def beats_told(name: str, number: int, requests: Sequence[Sent]) -> Iterator[Figure]:
    """Has each request of the writer that carries an outline the chapter's beats whole, and no later ones?"""
    told = [each for each in requests if "<beats" in each.text]
    for at, request in enumerate(told[:3]):
        node = ("plan", "draft", "polish")[at]
        own = [part.whole for part in read_parts(request.text) if part.key == "beats"]
        later = sum(f"甲{n}乙" in request.text for n in range(number + 1, CHAPTERS[-1] + 3))
        yield Figure(f"{name}: {node}, beats of the chapter", "whole" if own == [beats_of(number)] else "not whole")
        yield checked(f"{name}: {node}, beats of later chapters", later, 0, "chapters")


async def session(
    texts: Sequence[tuple[str, str]], number: int, *, checks: bool = True, doubted: float = 0
) -> tuple[list[Sent], list[Sent]]:
    """What the models are asked for a chapter and for the next one, from the run of each to its reading."""
    said = answered(list(texts[number - 1 : number + 1]))
    with own_folders() as folder:
        async with FaultServer() as writer, DoubtingServer(said, doubted) as helper:
            models = ModelsSettings(user=hosted_at(writer.url, "writer"), agent=hosted_at(helper.url, "helper"))
            await create_project(folder / "book", name=TITLE, language="zh", models=models)
            if not checks:
                known = load_project(folder / "book")
                agents = known.agents.model_copy(update={"monitor": False})
                save_project(folder / "book", known.model_copy(update={"agents": agents}))
                confirmed(folder / "book")
            (folder / "texts").mkdir()
            for at, (name, words) in enumerate(texts[: number - 1], start=1):
                (folder / "texts" / f"{at:04}.txt").write_text(f"{name}\n\n{words}\n", encoding="utf-8")
            async with _opened(folder / "book") as project:
                if number > 1:
                    await project.carry_out(ImportManuscript(str(folder / "texts")))
                    await project.memory.settled()
                for meta, words in (*NOTES, ("outline", outline_of([name for name, _text in texts]))):
                    await project.carry_out(WriteMeta(meta, words))
                await project.memory.settled()
                writer.log.clear()
                helper.log.clear()
                watched = _Watched(project, writer, helper)
                first = await watched.written(*texts[number - 1])
                return first, await watched.written(*texts[number])


class _Watched:
    """A project and the servers of its models; each decision of the writer is a gate."""

    def __init__(self, project: Project, writer: FaultServer, helper: FaultServer) -> None:
        self._project, self._writer, self._servers = project, writer, (writer, helper)
        self._gates: list[tuple[int, int]] = []

    async def written(self, title: str, text: str) -> list[Sent]:
        """The requests of a chapter that is run, kept and read."""
        before = self._asked()
        await self._run(title, text)
        self._gate()
        await self._project.carry_out(PersistOutput((await self._project.runs.summaries())[0].id, KEPT))
        await self._project.memory.settled()
        found = [
            sent(entry["body"], sum(gate[at] <= place for gate in self._gates))
            for at, server in enumerate(self._servers)
            for place, entry in enumerate(server.log)
            if place >= before[at]
        ]
        self._gate()
        return found

    def _asked(self) -> tuple[int, int]:
        writer, helper = self._servers
        return len(writer.log), len(helper.log)

    def _gate(self) -> None:
        self._gates.append(self._asked())

    async def _run(self, title: str, text: str) -> None:
        """Runs the template to its end; whatever is asked is approved."""
        written = answers(TEMPLATE, text, WRITTEN[0])
        self._writer.push(*({"content": each, "usage": False} for each in written))
        chapter = await self._project.carry_out(AddChapter(title))
        request = RunRequest(TEMPLATE, ChapterId(chapter), (("instruction", text[:80]),))
        await self._project.carry_out(RunWorkflow(request))
        while (await self._project.runs.summaries())[0].state not in ("done", "failed", "cancelled"):
            for question in await self._project.runs.questions():
                self._gate()
                await self._project.carry_out(Decide(question.id, Decision("approve", max(question.attempts))))
            await asyncio.sleep(0.01)
