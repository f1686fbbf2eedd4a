"""The beats of a chapter beside its text: which of their names occur in it, by rule, and which a model found in it."""

from __future__ import annotations

from typing import Literal

from flowcabal_tui.domain.ids import ChapterId, EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.value_class import dataclass

BeatState = Literal["unnamed", "missing", "partly", "found"]
"""The names of a beat in the text: it has none, none occurs, some do, all do."""
BeatVerdict = Literal["brought", "not found", "not checked"]
"""A model's verdict on a beat and the text. `not checked`: there was no readable answer, or no proof for it."""


@dataclass(frozen=True, slots=True)
class BeatName:
    """A name in a beat. `places` are the first of its `count` places in the text, by any name of the entity.

    `entity` is None for a name that the book does not know yet.
    """

    name: str
    entity: EntityId | None = None
    places: tuple[Span, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class BeatAdvice:
    """A model's advice on one beat. `place` is the quotation that proves it (None unless it is brought).

    `is_stale`: the text or the beats have changed since.
    """

    verdict: BeatVerdict
    place: Span | None = None
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class Beat:
    """One line of the outline, without its list mark.

    `place` is the shortest stretch of the text with all of its names that are in the text (None: none is), and `scene`
    the scene of the text in which it begins (0: none). `advice` is None until a model was asked.
    """

    text: str
    names: tuple[BeatName, ...] = ()
    place: Span | None = None
    scene: int = 0
    advice: BeatAdvice | None = None

    @property
    def state(self) -> BeatState:
        found = sum(bool(name.count) for name in self.names)
        if not self.names:
            return "unnamed"
        return "missing" if not found else "found" if found == len(self.names) else "partly"


@dataclass(frozen=True, slots=True)
class PartBeats:
    """The beats of one planned scene, or those of the chapter as a whole (no title, `number` 0).

    `number` is its place among the planned scenes, from 1; `scene` the scene of the text that it is compared with (0:
    the whole chapter). `part` is the index of its part among those of the chapter.
    """

    title: str
    number: int
    beats: tuple[Beat, ...]
    scene: int = 0
    part: int = 0


@dataclass(frozen=True, slots=True)
class BeatCount:
    """The number of beats of a written chapter that name somebody or something, and of those whose names are all in its
    text.
    """

    found: int
    named: int


@dataclass(frozen=True, slots=True)
class ChapterBeats:
    """The outline's beats of a chapter, and their names in the text.

    `volume` is the text of the volume's own part. `shared`: a heading of the outline covers several chapters, so not
    all of its beats belong to this one. `scenes` is the number of scenes in the text.
    """

    chapter: ChapterId
    parts: tuple[PartBeats, ...] = ()
    volume: str = ""
    shared: bool = False
    scenes: int = 0

    @property
    def beats(self) -> tuple[Beat, ...]:
        """All beats, in the order of the outline."""
        return tuple(beat for part in self.parts for beat in part.beats)

    @property
    def named(self) -> int:
        """The number of beats that name somebody or something."""
        return sum(beat.state != "unnamed" for beat in self.beats)

    @property
    def found(self) -> int:
        """The number of beats whose names are all in the text."""
        return sum(beat.state == "found" for beat in self.beats)

    @property
    def brought(self) -> int:
        """The number of beats that a model found in this text."""
        return sum(each.verdict == "brought" and not each.is_stale for each in self._advice)

    @property
    def checked(self) -> int:
        """The number of beats about which a model was asked, for this text."""
        return sum(not each.is_stale for each in self._advice)

    @property
    def _advice(self) -> list[BeatAdvice]:
        return [beat.advice for beat in self.beats if beat.advice is not None]
