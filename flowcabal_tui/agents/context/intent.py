"""The intent of a node: who is in the scene, where, when, the kind of scene, and the terms to look up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.agents.context.scene import SceneTexts, kind_of, merged, named_in, place_of, present, time_of
from flowcabal_tui.agents.context.unknown_names import EMPTY_HAN, EMPTY_WORDS, beside, capitalised, listed
from flowcabal_tui.domain.context import NO_SCENE, Intent, Scene
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity

_HAN_RUN: Final = re.compile(r"[\u3007\u4e00-\u9fff]{2,}")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]{3,}")
_MOST_TERMS: Final = 48
_MOST_NAMES: Final = 32
_MOST_WORDS: Final = 240


@dataclass(frozen=True, slots=True)
class PromptName:
    """A name of the prompt in all its forms."""

    name: str
    forms: tuple[str, ...]
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class SceneReading:
    """An intent together with the entities of the scene, most prominent first.

    `names` and `words` are the terms to look up: every name of the prompt, and its other words; `runs` are the
    stretches of Chinese between names from which the words were cut.
    """

    intent: Intent
    cast: tuple[Entity, ...]
    names: tuple[PromptName, ...]
    words: tuple[str, ...]
    runs: tuple[str, ...] = ()
    reasons: Mapping[EntityId, str] = field(default_factory=dict)
    """The reason for each entity of the cast."""


def read_intent(
    prompt: str,
    nearby: str,
    entities: Sequence[Entity],
    language: str,
    *,
    beats: str = "",
    title: str = "",
    writer: Scene = NO_SCENE,
    model: Scene = NO_SCENE,
) -> SceneReading:
    """The intent of a prompt, of the outline's `beats` for its chapter, and of the names in the chapter's `title`.

    A value that the `writer` set wins, then one of the agents' `model`, then the rules. Names that the model gives and
    the book does not know are in the scene, but are not looked up.
    """
    texts = SceneTexts(prompt, beats, nearby)
    given, by = merged(writer, model)
    who_by = dict(by).get("who", "rule")
    named = named_in("\n".join((texts.events, title)), entities)
    scene = present(named, texts, entities, given.who, who_by)
    where = place_of(named, texts, entities) if given.where is None else given.where
    looked_up = {each.id: each for each in (*_of(given, entities), *named)}.values()
    forms = [name for entity in {*looked_up, *scene.cast} for name in entity.names]
    names = [PromptName(entity.name, entity.names, entity.kind == "location") for entity in looked_up]
    names += [PromptName(name, (name,)) for name in scene.others if who_by == "writer"]
    names += [PromptName(word, (word,)) for word in capitalised(_without(texts.events, forms), language)]
    names += [PromptName(item, (item,)) for item in listed(texts.events, forms)]
    names += [PromptName(item[0], item) for item in beside(texts.events, forms)]
    runs, words = _words(_without(texts.events, [form for name in names for form in name.forms]), language)
    intent = Intent(
        scene.names,
        kind_of(texts.events) if given.kind is None else given.kind,
        search_terms(texts.events, forms, language),
        where,
        time_of(texts.events) if given.when is None else given.when,
        by,
    )
    return SceneReading(intent, scene.cast, tuple(names[:_MOST_NAMES]), words[:_MOST_WORDS], runs, scene.reasons)


def _of(scene: Scene, entities: Sequence[Entity]) -> Iterator[Entity]:
    """The entities that the agents' model or the writer names, even if no text names them."""
    for name in scene.who or ():
        yield from (each for each in entities if name in each.names)
    yield from named_in(scene.where or "", entities)


def _without(text: str, names: Iterable[str]) -> str:
    for name in sorted(set(names), key=lambda each: (-len(each), each)):
        text = text.replace(name, "\n")
    return text


def _words(text: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The runs of Chinese, and all words in order: pairs of characters of those runs, or alphabetic words."""
    if not language.startswith("zh"):
        found = (word.lower() for word in _WORD.findall(text))
        return (), tuple(dict.fromkeys(word for word in found if word not in EMPTY_WORDS))
    runs = tuple(_HAN_RUN.findall(text))
    pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return runs, tuple(dict.fromkeys(pair for pair in pairs if EMPTY_HAN.isdisjoint(pair)))


def search_terms(text: str, names: Sequence[str], language: str) -> tuple[str, ...]:
    """Other terms to look up: character pairs for Chinese, words otherwise, most frequent first; names are left out."""
    text = _without(text, names)
    if language.startswith("zh"):
        pairs = (run[at : at + 2] for run in _HAN_RUN.findall(text) for at in range(len(run) - 1))
        found = Counter(pair for pair in pairs if pair[0] not in EMPTY_HAN and pair[1] not in EMPTY_HAN)
    else:
        found = Counter(word for word in _WORD.findall(text) if word.lower() not in EMPTY_WORDS)
    return tuple(term for term, _ in found.most_common(_MOST_TERMS))
