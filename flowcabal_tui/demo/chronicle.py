"""A seeded novel of any length with known facts: states by chapter, knowers of secrets, names of people.

The prose consists of randomly drawn sentences, into which changing states, secrets and their knowers are planted, each
as one sentence. It measures the memory: the content of a context is compared with the facts before a chapter.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from random import Random
from typing import Any, Final

from flowcabal_tui.demo import BookLanguage
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import slug, word_count

_LEAST_PEOPLE: Final = 12
_MOST_PEOPLE: Final = 60
_SCENE: Final = 5
_SENTENCES: Final = (3, 6)
_LISTS: Final = ("surnames", "given", "nicknames", "places", "offices", "things", "marks", "tools", "spots")
_CHANCES: Final = {"residence": 0.7, "office": 0.4, "holder": 0.4, "secret": 0.5, "learns": 0.5}
_BY_ALIAS: Final = 0.3


@dataclass(frozen=True, slots=True)
class PlantedState:
    """A state from `chapter` on, given by `sentence`; the next one of the same kind ends it."""

    of: EntityId
    attribute: str
    value: str
    chapter: int
    sentence: str


@dataclass(frozen=True, slots=True)
class PlantedSecret:
    """A secret in `chapter`; `known` has the chapter from which on each person knows it."""

    text: str
    chapter: int
    known: dict[EntityId, int]


@dataclass(frozen=True, slots=True)
class Chronicle:
    """The novel and its facts. `marks` are words that occur in one chapter only, by its number from 1."""

    language: BookLanguage
    chapters: tuple[ImportedChapter, ...]
    entities: tuple[Entity, ...]
    casts: tuple[tuple[EntityId, ...], ...]
    states: tuple[PlantedState, ...]
    secrets: tuple[PlantedSecret, ...]
    marks: tuple[str, ...]
    wish: str

    def holding(self, before: int) -> dict[tuple[EntityId, str], PlantedState]:
        """The states valid just before a chapter, by person and attribute."""
        return {(each.of, each.attribute): each for each in self.states if each.chapter < before}


def chronicle(words: int, seed: int, language: BookLanguage) -> Chronicle:
    """A novel of about `words` words (characters in Chinese). The same arguments give the same novel on every
    machine."""
    return _Writer(words, seed, language).write()


@dataclass
class _Writer:
    words: int
    seed: int
    language: BookLanguage
    states: list[PlantedState] = field(default_factory=list)
    secrets: list[PlantedSecret] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    casts: list[tuple[EntityId, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(f"{self.seed} {self.language}")
        sheet = files("flowcabal_tui.demo") / self.language / "chronicle.toml"
        self._sheet: dict[str, Any] = tomllib.loads(sheet.read_text(encoding="utf-8"))
        self._lists: dict[str, list[str]] = {
            name: [word.replace("|", " ") for word in self._sheet[name].split()] for name in _LISTS
        }
        length = self._sheet["chapter_length"]
        self._chapters = max(6, round(self.words / length))
        self._people = self._cast(min(_MOST_PEOPLE, _LEAST_PEOPLE + self._chapters // 6))
        self._used: set[str] = set()

    def write(self) -> Chronicle:
        chapters = tuple(self._chapter(number) for number in range(1, self._chapters + 1))
        places = (Entity(EntityId(slug(name)), "location", name) for name in self._lists["places"])
        things = (Entity(EntityId(slug(name)), "item", name) for name in self._lists["things"])
        entities = (*self._people, *places, *things)
        return Chronicle(
            self.language, chapters, entities, tuple(self.casts), tuple(self.states), tuple(self.secrets),
            tuple(self.marks), self._sheet["wish"],
        )  # fmt: skip

    def _cast(self, number: int) -> tuple[Entity, ...]:
        """People with a nickname each. Given names and family names are shared, so that some are alike."""
        chinese = self.language == "zh"
        people: dict[str, Entity] = {}
        taken: set[str] = set()
        while len(people) < number:
            surname, given = self._draw("surnames"), self._draw("given")
            name = surname + given if chinese else f"{given} {surname}"
            nickname = self._draw("nicknames").format(given[-1] if chinese else given)
            if name not in people and nickname not in taken:
                taken.add(nickname)
                people[name] = Entity(EntityId(slug(name)), "character", name, (nickname,))
        return tuple(people.values())

    def _chapter(self, number: int) -> ImportedChapter:
        """A scene of a few people; those who were on stage lately are likelier to be there."""
        lately = [each for cast in self.casts[-3:] for each in cast]
        people = {person.id: person for person in self._people}
        cast: dict[EntityId, Entity] = {}
        while len(cast) < _SCENE:
            pool = lately if lately and self._random.random() < 0.5 else list(people)
            chosen = self._random.choice(pool)
            cast[chosen] = people[chosen]
        self.casts.append(tuple(cast))
        planted = [self._mark(), *self._planted(number, list(cast.values()))]
        self._random.shuffle(planted)
        place = self._draw("places")
        text = self._prose(list(cast.values()), planted)
        return ImportedChapter(self._sheet["title"].format(n=number, place=place), text, number=number)

    def _prose(self, cast: list[Entity], planted: list[str]) -> str:
        paragraphs: list[str] = []
        waiting, length = list(planted), 0
        while waiting or length < self._sheet["chapter_length"]:
            count = self._random.randint(*_SENTENCES)
            sentences = [self._filler(cast) for _ in range(count)]
            if waiting:
                sentences.insert(self._random.randrange(1, count), waiting.pop())
            paragraphs.append(self._sheet["joint"].join(sentences))
            length += word_count(paragraphs[-1])
        return "\n\n".join(paragraphs)

    def _filler(self, cast: list[Entity]) -> str:
        one, other = self._random.sample(cast, 2)
        comma, stop = ("，", "。") if self.language == "zh" else (", ", ".")
        action = self._random.choice(self._sheet["actions"]).format(
            a=self._called(one), b=self._called(other), tool=self._draw("tools"), spot=self._draw("spots")
        )
        opening, ending = self._random.choice(self._sheet["openings"]), self._random.choice(self._sheet["endings"])
        return f"{opening}{comma}{action}{ending}{stop}"

    def _planted(self, number: int, cast: list[Entity]) -> list[str]:
        """Chooses the events of a chapter, each kind with its probability."""
        happens = {kind: self._random.random() < chance for kind, chance in _CHANCES.items()}
        sentences: list[str] = []
        for kind, values in (("residence", "places"), ("office", "offices")):
            if happens[kind]:
                sentences.append(self._state(number, kind, self._random.choice(cast), self._draw(values)))
        if happens["holder"]:
            sentences.append(self._holder(number, self._random.choice(cast)))
        if happens["secret"]:
            sentences.append(self._secret(number, cast))
        if happens["learns"]:
            sentences += self._learned(number, cast)
        return sentences

    def _state(self, number: int, kind: str, person: Entity, value: str) -> str:
        sentence = self._random.choice(self._sheet[kind]).format(a=self._called(person), place=value, office=value)
        self.states.append(PlantedState(person.id, self._sheet[f"{kind}_attribute"], value, number, sentence))
        return str(sentence)

    def _holder(self, number: int, person: Entity) -> str:
        thing = self._draw("things")
        sentence = self._random.choice(self._sheet["holder"]).format(a=self._called(person), thing=thing)
        attribute = self._sheet["holder_attribute"]
        self.states.append(PlantedState(EntityId(slug(thing)), attribute, person.id, number, sentence))
        return str(sentence)

    def _secret(self, number: int, cast: list[Entity]) -> str:
        one, other, third = self._random.sample(cast, 3)
        while True:
            text = self._random.choice(self._sheet["secrets"]).format(
                thing=self._draw("things"), place=self._draw("places"), who=third.name, n=self._random.randint(2, 999)
            )
            if text not in self._used:
                break
        self._used.add(text)
        self.secrets.append(PlantedSecret(text, number, {one.id: number, other.id: number}))
        return str(self._sheet["secret"].format(a=one.name, b=other.name, secret=text))

    def _learned(self, number: int, cast: list[Entity]) -> list[str]:
        """Someone of the cast learns an earlier secret from someone of the cast who knows it."""
        present = {person.id: person for person in cast}
        open_ones = [
            (secret, person)
            for secret in self.secrets
            if secret.chapter < number and present.keys() & secret.known.keys()
            for person in cast
            if person.id not in secret.known
        ]
        if not open_ones:
            return []
        secret, person = self._random.choice(open_ones)
        secret.known[person.id] = number
        return [str(self._sheet["learns"].format(a=person.name, secret=secret.text))]

    def _mark(self) -> str:
        """A word that is in this chapter only."""
        while (mark := "".join(self._random.choice(self._lists["marks"]) for _ in range(3))) in self.marks:
            pass
        self.marks.append(mark)
        return str(self._sheet["mark"].format(mark=mark))

    def _called(self, person: Entity) -> str:
        """Chooses a name for a person: mostly the main name, sometimes a nickname."""
        return person.aliases[0] if self._random.random() < _BY_ALIAS else person.name

    def _draw(self, name: str) -> str:
        return self._random.choice(self._lists[name])
