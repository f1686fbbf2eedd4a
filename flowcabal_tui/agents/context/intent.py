"""What a node is about, by rule: who is in the scene, which kind of scene it is, what to look up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.words import word_list
from flowcabal_tui.domain.context import Intent, SceneKind
from flowcabal_tui.domain.memory import Entity

_CUES: Final[tuple[tuple[SceneKind, str], ...]] = (
    (
        "battle",
        "战斗|大战|交战|厮杀|打斗|交锋|攻城|比武|决斗|追杀|伏击|出剑|拔刀|杀阵|battle|fight|duel|ambush|siege|attack|wars?(?![a-z])",
    ),
    ("turn", "转折|真相|揭露|揭穿|背叛|反转|决裂|诀别|遗言|之死|betray|reveal|twist|truth|confess|death|dies"),
    ("journey", "旅途|启程|赶路|出发|途中|逃亡|抵达|上路|跋涉|远行|journey|travel|voyage|depart|arrive|road|sail"),
    (
        "dialogue",
        "对话|交谈|谈话|谈判|争吵|商议|说服|质问|对质|密谈|dialogue|conversation|talk|argue|negotiat|persuade|quarrel",
    ),
    ("daily", "日常|闲聊|家宴|宴席|赏花|节日|起居|吃饭|daily|breakfast|dinner|supper|garden|holiday"),
)
_HAN_RUN: Final = re.compile(r"[\u3007\u4e00-\u9fff]{2,}")
EMPTY_HAN: Final = frozenset(
    "的了着是不在这那我你他她它们么吗呢吧啊些个都没有又便就也将把被让给向对与和跟从之其而且若如虽或但以为于所"
    "请写章回字节段第本一二三四五六七八九十要求根据下面以上内容"
)
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]{3,}")
_CAPITAL: Final = re.compile(r"(?<=[a-z,;’\n] )[A-Z\u00c0-\u00de][\w\u00df-\u00ff-]{2,}")
_EMPTY_WORDS: Final = word_list("empty.en")
_NOT_NAMES: Final = word_list("not_names.en")
_MOST_TERMS: Final = 48
_MOST_CAST: Final = 8
_MOST_NAMES: Final = 32
_MOST_WORDS: Final = 240


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the prompt in all its forms."""

    name: str
    forms: tuple[str, ...]
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """An intent together with the entities that it names, most prominent first.

    `names` and `words` are all that is looked up: every name of the prompt, and its other words; `runs` are
    what the words of Chinese were cut from, as it stands between the names.
    """

    intent: Intent
    cast: tuple[Entity, ...]
    names: tuple[Name, ...]
    words: tuple[str, ...]
    runs: tuple[str, ...] = ()


def named_in(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """The entities whose names stand in `text`, those named most often first, then by place."""
    hits = NameIndex(entity for entity in entities if any(name in text for name in entity.names)).find(text)
    counts = Counter(hit.entity for hit in hits)
    first = {hit.entity: hit.start for hit in reversed(hits)}
    known = {entity.id: entity for entity in entities}
    return tuple(known[each] for each in sorted(counts, key=lambda each: (-counts[each], first[each])))


def read_intent(prompt: str, nearby: str, entities: Sequence[Entity], language: str) -> Reading:
    """The intent of a prompt. When it names fewer than two, those of `nearby` (the last pages) join the cast."""
    named = named_in(prompt, entities)
    cast = named[:_MOST_CAST]
    if len(cast) < 2:
        cast = (*cast, *(entity for entity in named_in(nearby, entities)[:4] if entity not in cast))
    forms = [name for entity in {*named, *cast} for name in entity.names]
    names = [Name(entity.name, entity.names, entity.kind == "location") for entity in named]
    names += [Name(word, (word,)) for word in _unlisted(_without(prompt, forms), language)]
    runs, words = _words(_without(prompt, [form for name in names for form in name.forms]), language)
    intent = Intent(tuple(entity.name for entity in cast), _scene(prompt), search_terms(prompt, forms, language))
    return Reading(intent, cast, tuple(names[:_MOST_NAMES]), words[:_MOST_WORDS], runs)


def _without(text: str, names: Iterable[str]) -> str:
    for name in sorted(set(names), key=lambda each: (-len(each), each)):
        text = text.replace(name, "\n")
    return text


def _unlisted(text: str, language: str) -> tuple[str, ...]:
    """What is written like a name and is nobody's that is known: capitals inside a sentence."""
    if language.startswith("zh"):
        return ()
    words = (word for match in _CAPITAL.finditer(text) for word in match[0].split("-"))
    named = (word for word in words if len(word) > 2 and word.lower() not in _EMPTY_WORDS)
    return tuple(dict.fromkeys(word for word in named if word not in _NOT_NAMES))


def _words(text: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The runs of Chinese, and all words in their order: pairs of characters of those runs, or words of letters."""
    if not language.startswith("zh"):
        found = (word.lower() for word in _WORD.findall(text))
        return (), tuple(dict.fromkeys(word for word in found if word not in _EMPTY_WORDS))
    runs = tuple(_HAN_RUN.findall(text))
    pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return runs, tuple(dict.fromkeys(pair for pair in pairs if EMPTY_HAN.isdisjoint(pair)))


def search_terms(text: str, names: Sequence[str], language: str) -> tuple[str, ...]:
    """What else to look up: character pairs for Chinese, words otherwise, most frequent first; names are left out."""
    text = _without(text, names)
    if language.startswith("zh"):
        pairs = (run[at : at + 2] for run in _HAN_RUN.findall(text) for at in range(len(run) - 1))
        found = Counter(pair for pair in pairs if pair[0] not in EMPTY_HAN and pair[1] not in EMPTY_HAN)
    else:
        found = Counter(word for word in _WORD.findall(text) if word.lower() not in _EMPTY_WORDS)
    return tuple(term for term, _ in found.most_common(_MOST_TERMS))


def _scene(prompt: str) -> SceneKind:
    counts = [(len(re.findall(f"(?<![a-z])(?:{cues})", prompt, re.IGNORECASE)), kind) for kind, cues in _CUES]
    most = max(count for count, _ in counts)
    return next(kind for count, kind in counts if count == most) if most else "unknown"
