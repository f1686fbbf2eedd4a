"""A revision of the book: locked chapters, and passes with their progress by chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NewType

from flowcabal_tui.domain.comments import CommentKind
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.text import clean_line, slug
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark

PassId = NewType("PassId", str)
WHOLE: Final = ""
"""The item of a tick for a whole chapter."""


@dataclass(frozen=True, slots=True)
class ChapterLock:
    """`version` is the one that the chapter had when it was last locked; after unlocking it serves for comparison."""

    chapter: ChapterId
    version: int
    locked: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class RevisionPass:
    """One way through the book: findings of these checks, comments of these kinds (empty: any), and a checklist.

    The words of built-in passes are marked for translation.
    """

    id: PassId
    title: str
    checks: tuple[str, ...] = ()
    kinds: tuple[CommentKind, ...] = ()
    checklist: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassChapter:
    """Progress of a pass in a chapter. `outdated`: the text changed after it was ticked as done."""

    chapter: ChapterId
    findings: int = 0
    comments: int = 0
    done: bool = False
    outdated: bool = False
    items: frozenset[str] = frozenset()
    """The ticked items of the checklist."""


@dataclass(frozen=True, slots=True)
class PassProgress:
    """The chapters with text, in story order."""

    chapters: tuple[PassChapter, ...]

    @property
    def done(self) -> int:
        """The number of chapters that are done in their present text."""
        return sum(each.done and not each.outdated for each in self.chapters)


PASSES: Final[tuple[RevisionPass, ...]] = (
    RevisionPass(
        PassId("structure"),
        mark("Structure"),
        ("echoes",),
        ("idea", "todo"),
        (
            mark("The chapter changes something: without it, the next ones would not hold."),
            mark("It begins late and ends early."),
            mark("What is planted here is paid later, and what is paid here was planted."),
        ),
    ),
    RevisionPass(
        PassId("continuity"),
        mark("Continuity"),
        ("timeline", "world_rules", "amounts", "others", "possession", "colours", "sides", "dead-acts"),
        ("question", "research"),
        (
            mark("Day, season and time of travel fit with the chapters around."),
            mark("Things are where they were left."),
            mark("The rules of the world hold."),
        ),
    ),
    RevisionPass(
        PassId("people"),
        mark("People"),
        ("character_state", "ages", "looks", "bodily-marks", "kinship", "name-drift", "introductions"),
        ("question",),
        (
            mark("Everyone knows only what they can know."),
            mark("Each voice can be told apart without its name."),
            mark("What people want is visible in what they do."),
        ),
    ),
    RevisionPass(
        PassId("style"),
        mark("Style"),
        ("repeated",),
        ("note",),
        (
            mark("Read aloud, no sentence stumbles."),
            mark("Worn phrases and doubled images are gone."),
            mark("Paragraphs differ in length."),
        ),
    ),
    RevisionPass(
        PassId("proof"),
        mark("Proof"),
        ("quote-marks", "leftovers", "latin"),
        (),
        (mark("Spelling and punctuation are checked."), mark("Headings and scene breaks are right.")),
    ),
)
"""The default passes of a book, in order."""


@dataclass(frozen=True, slots=True)
class Tick:
    """An item of a pass (WHOLE: all of it) that is done in a chapter with the text of `digest`."""

    of: PassId
    chapter: ChapterId
    item: str
    digest: str


def progress(
    wanted: RevisionPass,
    chapters: Mapping[ChapterId, str],
    findings: Mapping[tuple[ChapterId, str], int],
    comments: Mapping[tuple[ChapterId, CommentKind], int],
    ticks: tuple[Tick, ...],
) -> PassProgress:
    """The progress of a pass, from `chapters` with the digests of their texts, `findings` by chapter and check, and
    open `comments` by chapter and kind."""
    whole = {tick.chapter: tick.digest for tick in ticks if tick.of == wanted.id and tick.item == WHOLE}
    rows = []
    for chapter, text in chapters.items():
        found = sum(
            n for (at, check), n in findings.items() if at == chapter and (not wanted.checks or check in wanted.checks)
        )
        noted = sum(
            n for (at, kind), n in comments.items() if at == chapter and (not wanted.kinds or kind in wanted.kinds)
        )
        items = frozenset(
            tick.item for tick in ticks if (tick.of, tick.chapter) == (wanted.id, chapter) and tick.item != WHOLE
        )
        is_done = chapter in whole
        rows.append(PassChapter(chapter, found, noted, is_done, is_done and whole[chapter] != text, items))
    return PassProgress(tuple(rows))


def new_pass(title: str, known: Sequence[RevisionPass]) -> RevisionPass:
    """A pass with an id that no known pass has."""
    base = slug(title, fallback="pass", limit=30)
    taken = {each.id for each in known}
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return RevisionPass(PassId(next(name for name in names if name not in taken)), clean_line(title))
