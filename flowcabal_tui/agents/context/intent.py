"""What a node is about, by rule: who is in the scene, which kind of scene it is, what to look up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.names import NameIndex
from flowcabal_tui.agents.words import word_list
from flowcabal_tui.domain.context import Intent, SceneKind
from flowcabal_tui.domain.memory import Entity

_CUES: Final[tuple[tuple[SceneKind, str], ...]] = (
    (
        "battle",
        "战斗|大战|交战|厮杀|打斗|交锋|攻城|比武|决斗|追杀|伏击|出剑|拔刀|杀阵|battle|fight|duel|ambush|siege|attack|war",
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
_EMPTY_HAN: Final = frozenset(
    "的了着是不在这那我你他她它们么吗呢吧啊些个都没有又便就也将把被让给向对与和跟从之其而且若如虽或但以为于所"
    "请写章回字节段第本一二三四五六七八九十要求根据下面以上内容"
)
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]{3,}")
_EMPTY_WORDS: Final = word_list("empty.en")
_MOST_TERMS: Final = 48
_MOST_CAST: Final = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """An intent together with the entities that it names, most prominent first."""

    intent: Intent
    cast: tuple[Entity, ...]


def named_in(text: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """The entities whose names stand in `text`, those named most often first, then by place."""
    hits = NameIndex(entities).find(text)
    counts = Counter(hit.entity for hit in hits)
    first = {hit.entity: hit.start for hit in reversed(hits)}
    known = {entity.id: entity for entity in entities}
    return tuple(known[each] for each in sorted(counts, key=lambda each: (-counts[each], first[each])))


def read_intent(prompt: str, nearby: str, entities: Sequence[Entity], language: str) -> Reading:
    """The intent of a prompt. When it names fewer than two, those of `nearby` (the last pages) are taken too."""
    cast = named_in(prompt, entities)[:_MOST_CAST]
    if len(cast) < 2:
        cast = (*cast, *(entity for entity in named_in(nearby, entities)[:4] if entity not in cast))
    terms = search_terms(prompt, [name for entity in cast for name in entity.names], language)
    return Reading(Intent(tuple(entity.name for entity in cast), _scene(prompt), terms), cast)


def search_terms(text: str, names: Sequence[str], language: str) -> tuple[str, ...]:
    """What else to look up: character pairs for Chinese, words otherwise, most frequent first; names are left out."""
    for name in sorted(names, key=lambda each: (-len(each), each)):
        text = text.replace(name, "\n")
    if language.startswith("zh"):
        pairs = (run[at : at + 2] for run in _HAN_RUN.findall(text) for at in range(len(run) - 1))
        found = Counter(pair for pair in pairs if pair[0] not in _EMPTY_HAN and pair[1] not in _EMPTY_HAN)
    else:
        found = Counter(word for word in _WORD.findall(text) if word.lower() not in _EMPTY_WORDS)
    return tuple(term for term, _ in found.most_common(_MOST_TERMS))


def _scene(prompt: str) -> SceneKind:
    counts = [(len(re.findall(cues, prompt, re.IGNORECASE)), kind) for kind, cues in _CUES]
    most = max(count for count, _ in counts)
    return next(kind for count, kind in counts if count == most) if most else "unknown"
