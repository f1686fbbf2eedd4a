"""A knowledge server in memory, as the service of a project tells of it."""

from __future__ import annotations

from dataclasses import replace

from flowcabal_tui.domain.errors import KnowledgePending
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.project.memory.knowledge_contents import KnowledgeContents, KnowledgeEntry, KnowledgeFound
from flowcabal_tui.protocol.memory import KnowledgeStatus
from tests.tui import fake_books as books

_ALL: tuple[Level, ...] = ("L0", "L1", "L2")


class FakeKnowledge:
    """Holds three of the four chapters; `asked` has what was asked of it besides. A query costs while `costs`."""

    def __init__(self, words: books.Words) -> None:
        held = [
            KnowledgeEntry(f"manuscript/{books.chapter_id(n)}", n < 4, step, _ALL if n < 4 else (), n % 4, n)
            for n, step in ((1, "fresh"), (2, "waiting"), (3, "fresh"), (4, "waiting"))
        ]
        failed = KnowledgeEntry("profiles/characters/hero", False, "failed", position=3, error="HTTP 500")
        self.words, self.costs, self.asked = words, False, list[str]()
        self.now = KnowledgeContents(
            KnowledgeStatus("ready"), "/cache/knowledge/book", "lexical-1024-v1/1024",
            (*held, KnowledgeEntry("meta/outline", True, "fresh", ("L0", "L2"), 1), failed),
        )  # fmt: skip

    async def contents(self) -> KnowledgeContents:
        return self.now

    async def text(self, subject: str) -> tuple[tuple[Level, str], ...]:
        return ("L0", self.words.plan), ("L2", self.words.first_draft)

    async def find(self, query: str, *, paid: bool = False) -> tuple[KnowledgeFound, ...]:
        if self.costs and not paid:
            raise KnowledgePending("it costs")
        self.asked.append(f"find {query}")
        return (KnowledgeFound(f"manuscript/{books.chapter_id(2)}", "L2", 0.87, self.words.first_draft),)

    async def look_again(self) -> None:
        self.asked.append("look")
        self.now = replace(self.now, status=KnowledgeStatus("ready"))

    async def stop(self) -> None:
        self.asked.append("stop")
        self.now = replace(self.now, status=KnowledgeStatus("absent"))
