"""Contradictions planted by rule into the writer's own book: a sentence of an earlier chapter with one value swapped.

Numbers, kinship words, places and attributes are swapped, or a person who has died acts. The gold is known by
construction.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, get_args

from flowcabal_tui.agents.checking.rules.ages import ages
from flowcabal_tui.agents.checking.rules.amounts import amounts
from flowcabal_tui.agents.checking.rules.colours import colours
from flowcabal_tui.agents.checking.rules.deaths import deaths, first_acts
from flowcabal_tui.agents.checking.rules.looks import appearances
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText
from flowcabal_tui.agents.checking.rules.quantities import NUMBER_EN, NUMBER_ZH, range_of
from flowcabal_tui.agents.checking.rules.sides import sides
from flowcabal_tui.agents.checking.rules.speech import BLANK
from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import digest
from flowcabal_tui.locale import _
from flowcabal_tui.project.bench.bench_queries import spread
from flowcabal_tui.project.bench.check_rows import CheckRow
from flowcabal_tui.project.bench.scripted_judge import Gold
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.store import Store

PlantKind = Literal["number", "kin", "place", "attribute", "dead"]
KINDS: Final = get_args(PlantKind)
_SHORTEST: Final = {"zh": 8, "en": 30}
_LONGEST: Final = {"zh": 160, "en": 450}
"""Characters of a sentence in which something is swapped."""
_LEAST_TIMES: Final = 2.0
"""Least ratio of a swapped number and the original."""
_NO_NUMBER: Final = frozenset(("a", "one", "一"))
_ACTS: Final = {
    "zh": "{name}走到窗前，向外望了一回，又慢慢坐了下来。",
    "en": "{name} walked to the window, looked out for a while, and slowly sat down again.",
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A row with its gold, the book's own value, and the planted one."""

    kind: PlantKind
    row: CheckRow
    gold: Gold
    own: str
    instead: str


@dataclass(frozen=True, slots=True)
class OwnBook:
    """The texts of a book by the positions of its chapters (from 1), and the contradictions planted into copies of
    them."""

    folder: Path
    texts: tuple[str, ...]
    planted: tuple[Planted, ...]


@dataclass(frozen=True, slots=True)
class _Swap:
    """A sentence of a chapter with a replacement for its words from `start` to `end`."""

    chapter: int
    sentence: Span
    start: int
    end: int
    instead: str


async def own_book(folder: Path, most: int) -> OwnBook:
    """A project's texts with at most `most` plants of each kind. Writes nothing.

    Raises ProjectError, or ManuscriptError when nothing in the book can be changed.
    """
    language = load_project(folder).project.language
    async with await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language=language) as store:
        view = await store.memory.view(None)
        chapters = await view.chapters()
        read = await view.chapter_texts([chapter.id for chapter in chapters])
        texts = [""] * max((chapter.position for chapter in chapters), default=0)
        for chapter in chapters:
            texts[chapter.position - 1] = read[chapter.id]
        entities = await view.entities()
    planted = Planter(texts, language, entities, folder.name).planted(most)
    if not planted:
        raise ManuscriptError(
            _("Nothing can be planted in this book."),
            _("It needs at least two chapters, with numbers, kinship, places, appearances or deaths in the narration."),
        )
    return OwnBook(folder, tuple(texts), planted)


class Planter:
    """Plants into the chapters of one book; the same book gives the same plants."""

    def __init__(self, texts: Sequence[str], language: str, entities: Sequence[Entity], name: str) -> None:
        self._language: Literal["zh", "en"] = "zh" if language.startswith("zh") else "en"
        narrated = tuple(NarratedText(text, self._language, str(number)) for number, text in enumerate(texts, start=1))
        self._narrated, self._name = narrated, name
        self._book = EarlierBook(self._language, narrated, tuple(entities))
        self._places = sorted({entity.name for entity in entities if entity.kind == "location"})
        self._last = max((number for number, text in enumerate(texts, start=1) if text.strip()), default=0)

    def planted(self, most: int) -> tuple[Planted, ...]:
        """At most `most` plants of each kind, spread evenly over the book, one of a kind in a chapter."""
        found = []
        for kind in KINDS:
            swaps = list(self._deaths() if kind == "dead" else self._swaps(kind))
            for each in spread([next(of) for _chapter, of in groupby(swaps, lambda swap: swap.chapter)], most):
                found.append(self._plant(kind, each))
        return tuple(found)

    def _plant(self, kind: PlantKind, swap: _Swap) -> Planted:
        """Plants into a later chapter, chosen at random by the place of the words."""
        text = self._narrated[swap.chapter - 1].text
        words, sentence = text[swap.start : swap.end], swap.sentence
        later = [at for at in range(swap.chapter + 1, self._last + 1) if self._narrated[at - 1].text.strip()]
        if kind == "dead":
            draft, span = swap.instead, Span(0, len(swap.instead))
        else:
            at = swap.start - sentence.start
            draft = text[sentence.start : swap.start] + swap.instead + text[swap.end : sentence.end]
            span = Span(at, at + len(swap.instead))
        chance = random.Random(digest(f"{kind} {swap.chapter} {swap.start}"))
        now = later[0] if kind == "dead" else chance.choice(later)
        row = CheckRow(f"{kind}-{swap.chapter}", self._language, self._name, now, draft)
        return Planted(kind, row, Gold(span, ((swap.chapter, sentence),)), words, swap.instead)

    def _swaps(self, kind: PlantKind) -> Iterator[_Swap]:
        finds: dict[PlantKind, Callable[[NarratedText], Iterator[tuple[int, int, str]]]] = {
            "number": self._numbers,
            "kin": self._kin,
            "place": self._named_places,
            "attribute": self._attributes,
        }
        for number, narrated in enumerate(self._narrated[: max(0, self._last - 1)], start=1):
            for start, end, instead in finds[kind](narrated):
                sentence = self._sentence(narrated, start, end)
                if sentence is not None and instead not in narrated.text[sentence.start : sentence.end]:
                    yield _Swap(number, sentence, start, end, instead)

    def _sentence(self, narrated: NarratedText, start: int, end: int) -> Span | None:
        """The sentence of narration around the words, unless it is too short or too long."""
        around = narrated.around(start)
        words = narrated.text[around.start : around.end]
        span = Span(around.start + len(words) - len(words.lstrip()), around.start + len(words.rstrip()))
        length = span.end - span.start
        fits = _SHORTEST[self._language] <= length <= _LONGEST[self._language] and end <= span.end
        whole = (
            BLANK not in narrated.narration[span.start : span.end] and "\n" not in narrated.text[span.start : span.end]
        )
        return span if fits and whole else None

    def _numbers(self, narrated: NarratedText) -> Iterator[tuple[int, int, str]]:
        pattern = NUMBER_ZH if self._language == "zh" else rf"\b{NUMBER_EN}\b"
        for value in sorted((*narrated.made(amounts), *narrated.made(ages)), key=lambda each: each.start):
            for match in re.finditer(pattern, narrated.text[value.start : value.end], re.IGNORECASE):
                if match[0].lower() not in _NO_NUMBER and (other := self._other_number(match[0])):
                    yield value.start + match.start(), value.start + match.end(), other
                    break

    def _other_number(self, number: str) -> str:
        """The nearest of a few numbers at least twice as large or half as small; "" for one that cannot be read."""
        size = range_of(number, "", self._language)
        if size is None or size.least <= 0:
            return ""
        numbers: list[str] = _words(self._language)["numbers"]
        for each in numbers:
            other = range_of(each, "", self._language)
            if other and max(other.least / size.most, size.least / other.most) >= _LEAST_TIMES:
                return each
        return ""

    def _kin(self, narrated: NarratedText) -> Iterator[tuple[int, int, str]]:
        """Kinship words of a sentence that names somebody."""
        for match in _pattern("kin", self._language).finditer(narrated.narration):
            if self._names_somebody(narrated, match.start()):
                yield match.start(), match.end(), _table("kin", self._language)[match[0]]

    def _attributes(self, narrated: NarratedText) -> Iterator[tuple[int, int, str]]:
        values = (*narrated.made(appearances), *narrated.made(colours), *narrated.made(sides))
        table, pattern = _table("attribute", self._language), _pattern("attribute", self._language)
        for value in sorted(values, key=lambda each: each.start):
            if match := pattern.search(narrated.narration, value.start, value.end):
                yield match.start(), match.end(), table[match[0].lower()]

    def _named_places(self, narrated: NarratedText) -> Iterator[tuple[int, int, str]]:
        """A place in a sentence that names somebody, and another place of the book."""
        for hit in self._book.hits(narrated):
            name = narrated.text[hit.start : hit.end]
            if self._book.by_id[hit.entity].kind == "location" and self._names_somebody(narrated, hit.start):
                others = [each for each in self._places if name not in each and each not in name]
                if others:
                    yield hit.start, hit.end, random.Random(digest(f"{narrated.uri} {hit.start}")).choice(others)

    def _names_somebody(self, narrated: NarratedText, place: int) -> bool:
        around = narrated.around(place)
        hits = self._book.hits_within(narrated, around.start - 1, around.end)
        return any(self._book.by_id[hit.entity].kind == "character" for hit in hits)

    def _deaths(self) -> Iterator[_Swap]:
        """Deaths of people who do not act in any later chapter."""
        for number, narrated in enumerate(self._narrated[: max(0, self._last - 1)], start=1):
            for name, span in narrated.made_of_names(deaths, self._book):
                rest = (each.made_of_names(first_acts, self._book) for each in self._narrated[number:])
                if not any(name in acts for acts in rest):
                    yield _Swap(number, span, span.start, span.end, _ACTS[self._language].format(name=name))


def clean_rows(book: OwnBook, most: int) -> tuple[CheckRow, ...]:
    """The true chapters with plants, each once, at most `most`."""
    rows = {each.row.now: replace(each.row, id=f"clean-{each.row.now}", draft=None) for each in book.planted}
    return tuple(spread([rows[now] for now in sorted(rows)], most))


@cache
def _words(language: str) -> dict[str, Any]:
    """The words of a language in `own_plants.toml`."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[language]
    return table


@cache
def _table(kind: str, language: str) -> dict[str, str]:
    pairs: str = _words(language)[kind]
    return {word: instead for word, _colon, instead in (each.partition(":") for each in pairs.split())}


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str]:
    words = "|".join(sorted(_table(kind, language), key=lambda word: (-len(word), word)))
    return re.compile(words if language == "zh" else rf"\b(?:{words})\b")
