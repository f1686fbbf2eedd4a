"""Whatever is done to a book in whatever order: what was approved is there, what was taken out is nowhere."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.text import digest_of
from flowcabal_tui.project import Project
from flowcabal_tui.project.book.following import AFTER_KEEP, following
from flowcabal_tui.protocol.book import AddChapter, DeleteOutput, EditChapter, WriteChapter
from flowcabal_tui.protocol.memory import Purge, Rebuild
from flowcabal_tui.settings.project_file import OFFLINE
from flowcabal_tui.store import Keeping
from tests.project.case import both, make, opened
from tests.trusting import confirmed

STEPS = ("keep", "append", "write", "forget", "restore", "delete", "undelete", "move", "rename", "purge", "rebuild")
Plan = list[tuple[str, int, int]]


class Model:
    """What a book should be, in the simplest way: per chapter the parts that stand, by hand or kept."""

    def __init__(self) -> None:
        self.order: list[ChapterId] = []
        self.deleted: dict[ChapterId, int] = {}
        self.parts: dict[ChapterId, list[tuple[str, str, OutputId | None]]] = {}
        """Of each chapter the texts in order: how they came, what they say, under which id they are kept."""
        self.out: set[OutputId] = set()
        self.gone: set[str] = set()

    def text(self, chapter: ChapterId) -> str:
        text = ""
        for how, part, output in self.parts[chapter]:
            if output not in self.out:
                text = f"{text}\n\n{part}" if how == "append" and text else part
        return text

    def noted(self, chapter: ChapterId) -> None:
        """An output of the chapter was taken out or put back: what does not stand now is out."""
        self.gone |= self.marks(chapter)

    def marks(self, chapter: ChapterId) -> set[str]:
        """Of all texts that the chapter ever had."""
        return {word for _how, part, _output in self.parts[chapter] for word in _marks(part)}

    def forbidden(self) -> set[str]:
        """The marks of what is out of the book. What was only replaced is read until it is made anew."""
        deleted = {mark for chapter in self.deleted for mark in self.marks(chapter)}
        return (self.gone | deleted) - {mark for chapter in self.order for mark in _marks(self.text(chapter))}


def _marks(text: str) -> set[str]:
    return {word for word in text.split() if word.startswith("Mark")}


class Play:
    """Does the steps to a project and to the model of it."""

    def __init__(self, project: Project) -> None:
        self.project, self.model, self.number = project, Model(), 0

    async def begin(self) -> None:
        for title in ("One", "Two", "Three"):
            chapter = ChapterId(await self.project.carry_out(AddChapter(title)))
            self.model.order.append(chapter)
            self.model.parts[chapter] = []

    def _new_text(self) -> str:
        self.number += 1
        mark = f"Mark{self.number}ward"
        return f"Ines Marlow met {mark} at the ferry. {mark} knew Ines Marlow. Ines Marlow heard {mark} speak."

    async def step(self, name: str, first: int, second: int) -> None:
        steps: dict[str, Callable[[int, int], Coroutine[Any, Any, None]]] = {
            "keep": lambda at, _: self._keep(at, "replace"),
            "append": lambda at, _: self._keep(at, "append"),
            "write": self._write,
            "forget": self._forget,
            "restore": self._restore,
            "delete": self._delete,
            "undelete": self._undelete,
            "move": self._move,
            "rename": self._rename,
            "purge": self._purge,
            "rebuild": self._rebuild,
        }
        if second % 2:  # what follows is done; else it is only asked for
            await self.project.memory.settled()
        await steps[name](first, second)

    def _at(self, at: int) -> ChapterId | None:
        return self.model.order[at % len(self.model.order)] if self.model.order else None

    async def _keep(self, at: int, mode: str) -> None:
        if (chapter := self._at(at)) is None:
            return
        text = self._new_text()
        parts = self.project._parts
        keeping = Keeping(text, "chapter", mode, chapter)  # type: ignore[arg-type]  # one of the two modes
        kept = await self.project._engine.call(parts.store.book.keep(keeping, following(AFTER_KEEP)))
        again = await self.project._engine.call(parts.store.book.keep(keeping, following(AFTER_KEEP)))
        assert kept.created and not again.created and kept.output.id == again.output.id
        self.model.parts[chapter].append((mode, text, kept.output.id))

    async def _write(self, at: int, _second: int) -> None:
        if (chapter := self._at(at)) is not None:
            text = f"{self.model.text(chapter)}\n\n{self._new_text()}".strip()
            await self.project.carry_out(WriteChapter(chapter, text))
            self.model.parts[chapter].append(("replace", text, None))

    def _outputs(self, *, out: bool) -> list[OutputId]:
        """Kept outputs of chapters that are in the book, in it or taken out."""
        return [
            output
            for chapter in self.model.order
            for _how, _part, output in self.model.parts[chapter]
            if output is not None and (output in self.model.out) is out
        ]

    async def _forget(self, at: int, _second: int) -> None:
        if outputs := self._outputs(out=False):
            await self.project.carry_out(DeleteOutput(outputs[at % len(outputs)]))
            self.model.out.add(outputs[at % len(outputs)])
            self._note(outputs[at % len(outputs)])

    async def _restore(self, at: int, _second: int) -> None:
        if outputs := self._outputs(out=True):
            await self.project.carry_out(DeleteOutput(outputs[at % len(outputs)], restore=True))
            self.model.out.discard(outputs[at % len(outputs)])
            self._note(outputs[at % len(outputs)])

    def _note(self, output: OutputId) -> None:
        for chapter, parts in self.model.parts.items():
            if output in [kept for _how, _part, kept in parts]:
                self.model.noted(chapter)

    async def _delete(self, at: int, _second: int) -> None:
        if (chapter := self._at(at)) is not None:
            await self.project.carry_out(EditChapter(chapter, deleted=True))
            self.model.deleted[chapter] = self.model.order.index(chapter)
            self.model.order.remove(chapter)

    async def _undelete(self, at: int, _second: int) -> None:
        if self.model.deleted:
            chapter = sorted(self.model.deleted)[at % len(self.model.deleted)]
            await self.project.carry_out(EditChapter(chapter, deleted=False))
            self.model.order.insert(self.model.deleted.pop(chapter), chapter)

    async def _move(self, at: int, to: int) -> None:
        if (chapter := self._at(at)) is not None:
            position = to % len(self.model.order)
            await self.project.carry_out(EditChapter(chapter, position=position + 1))
            self.model.order.remove(chapter)
            self.model.order.insert(position, chapter)

    async def _rename(self, at: int, number: int) -> None:
        if (chapter := self._at(at)) is not None:
            await self.project.carry_out(EditChapter(chapter, title=f"Title {number}"))

    async def _purge(self, at: int, _second: int) -> None:
        chapters = sorted({*self.model.order, *self.model.deleted})
        if len(chapters) < 2:
            return
        chapter = chapters[at % len(chapters)]
        await self.project.carry_out(Purge(chapter=chapter))
        self.model.noted(chapter)
        self.model.parts.pop(chapter)
        self.model.deleted.pop(chapter, None)
        if chapter in self.model.order:
            self.model.order.remove(chapter)

    async def _rebuild(self, _first: int, _second: int) -> None:
        await self.project.memory.settled()
        before = await self.derived()
        await self.project.carry_out(Rebuild())
        await self.project.memory.settled()
        assert await self.derived() == before

    async def look(self) -> None:
        """Nothing approved is lost; nothing that was taken out can be read anywhere, also before the work is done."""
        chapters = await self.project.book.chapters()
        assert [chapter.id for chapter in chapters] == self.model.order
        for chapter in self.model.order:
            assert await self.project.book.chapter_text(chapter) == self.model.text(chapter)
        read = str(await self.derived()).split()
        assert [word for word in read if any(mark in word for mark in self.model.forbidden())] == []

    async def derived(self) -> dict[str, Any]:
        """All that a context could read of the book beside its texts."""
        view = await self.project._parts.store.memory.view(None)
        chapters = await view.chapters()
        return {
            "texts": [
                [to_plain(state.text) for state in await view.derived_under(root, level)]
                for root in ("manuscript/", "profiles/", "summaries/")
                for level in ("L0", "L1")
            ],
            "passages": [[each.text for each in await view.passages(chapter.id)] for chapter in chapters],
            "mentions": [digest_of(to_plain(await view.mentions_in(chapter.id))) for chapter in chapters],
            "story": to_plain(await view.story()),
            "names": [entity.name for entity in await view.entities()],
        }


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_any_order_of_steps_leaves_what_was_approved_and_nothing_else(base: Path, plan: Plan) -> None:
    async def play() -> None:
        with tempfile.TemporaryDirectory() as place:
            async with opened(confirmed(shutil.copytree(base, Path(place) / "book"))) as case:
                played = Play(case.project)
                await played.begin()
                for step in plan:
                    await played.step(*step)
                    await played.look()
                await case.settled()
                await played.look()
                await played.step("rebuild", 0, 0)

    asyncio.run(play())


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty book."""
    folder = tmp_path_factory.mktemp("base") / "book"
    asyncio.run(make(folder, both(OFFLINE)))
    return folder
