"""Comments, locks and passes of the tiny books."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from flowcabal_tui.domain.comments import Comment, CommentFilter, CommentId, CommentKind
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite, RewriteId, RewriteState
from flowcabal_tui.domain.revision import (
    PASSES,
    WHOLE,
    ChapterLock,
    PassId,
    PassProgress,
    RevisionPass,
    Tick,
    progress,
)
from flowcabal_tui.domain.run import Quote, Spend
from flowcabal_tui.protocol.book import RewriteSelection
from flowcabal_tui.protocol.revision import (
    AddComment,
    EditComments,
    LockChapters,
    PutPasses,
    RemoveComments,
    TickPass,
)
from tests.tui.fake_books import NOW, Words, chapter_id


def comments(words: Words) -> list[Comment]:
    """Two of chapter 1, one each of chapters 2 and 3."""
    zh = words.language == "zh"

    def row(
        number: int,
        chapter: int,
        said: str,
        kind: CommentKind,
        author: str = "",
        lost: str = "",
        resolved: bool = False,
    ) -> Comment:
        text = words.texts[chapter - 1]
        quoted = lost or text[4:16].strip()
        start = 0 if lost else text.index(quoted)
        place = (quoted, start, start + len(quoted))
        return Comment(chapter_id(chapter), said, kind, *place, author, resolved, bool(lost), NOW, CommentId(number))

    said = (
        ("这里的雨是不是下得太久了？", "查一下盐价", "读到这里有点慢。", "换个开头")
        if zh
        else ("Does the rain last too long?", "Look up the price of salt", "This is slow.", "Another beginning")
    )
    gone = "被删掉的一句话。" if zh else "A sentence that was cut."
    return [
        row(1, 1, said[0], "question"),
        row(2, 1, said[3], "idea", resolved=True),
        row(3, 2, said[1], "research", lost=gone),
        row(4, 3, said[2], "note", "林编辑" if zh else "J. Hale"),
    ]


class FakeRevision:
    """Lists and changes, as a project does."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.rows: list[Comment] = []
        self.locked: dict[ChapterId, ChapterLock] = {}
        self.pass_rows: tuple[RevisionPass, ...] = PASSES
        self.ticks: list[Tick] = []
        self.rewrites: list[ProposedRewrite] = []
        self.price: Decimal | None = Decimal(0)
        self.found: dict[tuple[ChapterId, str], int] = {}

    def fill(self) -> None:
        """Some of each."""
        self.rows = comments(self._words)
        self.locked = {chapter_id(1): ChapterLock(chapter_id(1), 1, True, NOW)}
        self.ticks = [Tick(PASSES[0].id, chapter_id(n), WHOLE, str(n if n == 1 else 0)) for n in (1, 2)]
        self.ticks.append(Tick(PASSES[0].id, chapter_id(1), PASSES[0].checklist[1], "1"))
        self.found = {(chapter_id(3), "echoes"): 2, (chapter_id(3), "ages"): 4, (chapter_id(2), "ages"): 1}

    async def comments(self, where: CommentFilter) -> tuple[Comment, ...]:
        return tuple(row for row in self.rows if where.fits(row))

    async def proposed_rewrites(self) -> tuple[ProposedRewrite, ...]:
        return tuple(row for row in self.rewrites if row.state == "waiting")

    async def quote_rewrite(self, selection: RewriteSelection) -> Quote:
        spend = Spend(1, 900, 300, self.price)
        return Quote((), (), spend, spend, currency="USD")

    def propose(self, asked: RewriteSelection) -> ProposedRewrite:
        """What a model makes of it: an exclamation mark behind each paragraph, and the instruction behind the last."""
        lines = [f"{line}!" if line.strip() else line for line in asked.text.split("\n")]
        after = "\n".join(lines) if len(lines) > 1 else f"{asked.text} ({asked.instruction})"
        row = ProposedRewrite(
            asked.chapter, asked.start, asked.text, after, "writer-1", asked.instruction, asked.findings,
            id=RewriteId(len(self.rewrites) + 1),
        )  # fmt: skip
        self.rewrites.append(row)
        return row

    def decide(self, rewrite: RewriteId, state: RewriteState) -> None:
        self.rewrites = [replace(row, state=state) if row.id == rewrite else row for row in self.rewrites]

    async def locks(self) -> dict[ChapterId, ChapterLock]:
        return dict(self.locked)

    async def passes(self) -> tuple[RevisionPass, ...]:
        return self.pass_rows

    async def pass_progress(self, of: PassId) -> PassProgress:
        wanted = next(each for each in self.pass_rows if each.id == of)
        noted = Counter((row.chapter, row.kind) for row in self.rows if CommentFilter().fits(row))
        return progress(wanted, {chapter_id(n): str(n) for n in (1, 2, 3)}, self.found, noted, tuple(self.ticks))

    def carry_out(
        self, command: AddComment | EditComments | RemoveComments | LockChapters | PutPasses | TickPass
    ) -> str:
        match command:
            case LockChapters(chapters=chapters, locked=locked):
                self.locked |= {each: ChapterLock(each, 1, locked, NOW) for each in chapters}
            case PutPasses(passes=passes):
                self.pass_rows = passes
            case TickPass(of=of, chapter=chapter, items=items, on=on):
                self.ticks = [
                    each
                    for each in self.ticks
                    if (each.of, each.chapter, each.item) not in {(of, chapter, item) for item in items}
                ]
                self.ticks += [Tick(of, chapter, item, chapter[-1]) for item in items if on]
            case AddComment():
                number = CommentId(len(self.rows) + 10)
                end = command.start + len(command.quotation)
                place = (command.quotation, command.start, end)
                self.rows.append(Comment(command.chapter, command.words, command.kind, *place, at=NOW, id=number))
                return str(number)
            case EditComments(comments=ids, words=words, kind=kind, resolved=resolved):
                given = {"words": words, "kind": kind, "resolved": resolved}
                changed = {name: value for name, value in given.items() if value is not None}
                self.rows = [replace(row, **changed) if row.id in ids else row for row in self.rows]
            case RemoveComments(comments=ids):
                self.rows = [row for row in self.rows if row.id not in ids]
        return ""
