"""The chronicle benchmark: runs a novel with known facts through the product and compares its contexts with these
facts.

Names are written by the author. Everything else is made by the background steps with the offline model, which reads the
planted sentences by rule; records that it misses count as missing, not as wrong.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Final

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.demo.chronicle import Chronicle, PlantedSecret
from flowcabal_tui.domain.context import Injection
from flowcabal_tui.domain.ids import EntityId, NodeId
from flowcabal_tui.domain.prompt_parts import read_parts, words_of
from flowcabal_tui.domain.text import digest
from flowcabal_tui.domain.workflow import Node, PromptParams, TextBlock, Workflow
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.bench.context_bench import COUNTED_AS
from flowcabal_tui.project.book.following import AFTER_KEEP, following
from flowcabal_tui.project.create import create_project
from flowcabal_tui.project.project import Project
from flowcabal_tui.settings.paths import cache_folder
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from flowcabal_tui.store import Store

_READY: Final = "bench-ready"
_NODE: Final = Node(id=NodeId("bench"))
_WORKFLOW: Final = Workflow(id="bench", nodes=(_NODE,))
_FIRST: Final = 3
"""The first chapter that is measured: before it the contexts contain little."""


@dataclass(frozen=True, slots=True)
class ChronicleReport:
    """Counts over the texts of the contexts.

    `told` counts planted states that a context presents as current, `stale` those of them that had ended; `expected`
    are the current states of the cast, `missing` those that no part of the context contains. `secrets` counts those
    that one of the cast and the point of view know by then, `withheld` those of them that are left out. Leaks must be
    0.
    """

    counts: Counter[str]
    seconds: tuple[float, ...]

    @property
    def leaks(self) -> int:
        """Number of facts in contexts that their chapter or their point of view must not know."""
        return self.counts["future"] + self.counts["viewpoint"]

    def share(self, part: str, whole: str) -> float:
        """A count as a share of another, 0 to 1."""
        return self.counts[part] / self.counts[whole] if self.counts[whole] else 0.0


async def built(chronicle: Chronicle, *, fresh: bool = False) -> tuple[Path, float]:
    """A project with the chronicle and its complete memory, in the user's cache folder; and the seconds it took to
    build."""
    content = digest("\0".join(chapter.text for chapter in chronicle.chapters))
    folder = cache_folder() / "bench" / f"chronicle-{chronicle.language}-{content[:12]}"
    if (folder / _READY).exists() and not fresh:
        return folder, 0.0
    shutil.rmtree(folder, ignore_errors=True)
    start = perf_counter()
    offline = ModelsSettings(user=OFFLINE, agent=OFFLINE)
    await create_project(folder, name="chronicle", language=chronicle.language, models=offline)
    async with await Store.open(
        folder, clock=lambda: datetime.now(UTC), language=chronicle.language, durability="NORMAL"
    ) as store:
        for entity in chronicle.entities:
            await store.memory.put_entity(entity)
        await store.book.import_chapters(chronicle.chapters, following(AFTER_KEEP))
    async with await Project.open(folder, knowledge=False, pace=0.0) as project:
        await project.memory.settled()
    (folder / _READY).touch()
    return folder, perf_counter() - start


async def measured(folder: Path, chronicle: Chronicle, contexts: int, budget: int) -> ChronicleReport:
    """Assembles contexts spread over the book, each for the narrator and for the points of view of two of the cast."""
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    async with await Store.open(
        folder, read_only=True, clock=lambda: datetime.now(UTC), language=chronicle.language
    ) as store:
        agent = ContextAgent(store.memory, TokenEstimator(COUNTED_AS), budget)
        generation = await store.memory.generation()
        ids = {chapter.position: chapter.id for chapter in await store.book.chapters()}
        for number in _targets(len(chronicle.chapters), contexts):
            cast = chronicle.casts[number - 1]
            prompt = _prompt(chronicle, number)
            for view in ("", *cast[:2]):
                params = PromptParams(prompt=(TextBlock(text=prompt),), point_of_view=view)
                start = perf_counter()
                injection = await agent.assemble(_WORKFLOW, _NODE, params, prompt, ids[number], generation, ())
                seconds.append(perf_counter() - start)
                counts.update(judged(chronicle, injection, number, view))
    return ChronicleReport(counts, tuple(seconds))


def _targets(chapters: int, contexts: int) -> list[int]:
    """Chapter numbers spread evenly over the book."""
    least = min(_FIRST, chapters)
    many = min(contexts, chapters - least + 1)
    return [least + round(at * (chapters - least) / max(1, many - 1)) for at in range(many)]


def _prompt(chronicle: Chronicle, number: int) -> str:
    """A prompt in which three of the chapter's cast meet; place and thing are drawn at random."""
    draw = Random(number)
    names = {entity.id: entity.name for entity in chronicle.entities}
    one, other, third = (names[each] for each in chronicle.casts[number - 1][:3])
    places = [entity.name for entity in chronicle.entities if entity.kind == "location"]
    things = [entity.name for entity in chronicle.entities if entity.kind == "item"]
    return chronicle.wish.format(a=one, b=other, c=third, place=draw.choice(places), thing=draw.choice(things))


def judged(chronicle: Chronicle, injection: Injection, number: int, view: str) -> dict[str, int]:
    """Compares one context with the true facts, by its text alone."""
    text = words_of(f"{injection.system_prefix}\n{injection.user_suffix}")
    cast = chronicle.casts[number - 1][:3]
    later = [secret.text for secret in chronicle.secrets if secret.chapter >= number]
    known = {secret.text for secret in chronicle.secrets if _is_known(secret, view, number)}
    past = [secret for secret in chronicle.secrets if secret.chapter < number]
    about_cast = [secret.text for secret in past if secret.text in known and _knowers(secret, number) & set(cast)]
    return {
        "contexts": 1,
        "future": sum(mark in text for mark in (*chronicle.marks[number - 1 :], *later)),
        "viewpoint": sum(secret.text in text for secret in past if view and secret.text not in known),
        "secrets": len(about_cast),
        "withheld": sum(secret not in text for secret in about_cast),
        **_states(chronicle, injection.user_suffix, text, number, cast),
    }


def _is_known(secret: PlantedSecret, view: str, number: int) -> bool:
    return not view or view in _knowers(secret, number)


def _knowers(secret: PlantedSecret, number: int) -> set[EntityId]:
    """The entities that know it before a chapter."""
    return {who for who, since in secret.known.items() if since < number}


def _states(chronicle: Chronicle, suffix: str, text: str, number: int, cast: tuple[EntityId, ...]) -> Mapping[str, int]:
    """Counts of states in the context, of ended ones among them, of valid states of the cast, and of missing ones."""
    section = "\n".join(part.whole for part in read_parts(suffix) if part.key in ("facts", "untold"))
    holding = chronicle.holding(number)
    valid = {state.sentence for state in holding.values()}
    included = {state.sentence for state in chronicle.states if state.chapter < number and state.sentence in section}
    expected = {state.sentence for state in holding.values() if state.of in cast}
    return {
        "told": len(included),
        "stale": len(included - valid),
        "expected": len(expected),
        "missing": sum(sentence not in text for sentence in expected),
    }
