"""A weapon, animal, material or season that differs from the book's earlier one, in words that exclude each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flowcabal_tui.agents.checking.rules.finding import RuleFinding
from flowcabal_tui.agents.checking.rules.material import EarlierBook, Told
from flowcabal_tui.agents.checking.rules.values import Value, clashes, same_event
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.locale import _

NAME: Final[RuleName] = "others"
_LEAST: Final = {"zh": 9.0, "en": 6.0}
_ONE_ZH: Final = r"[一这那两][把口杆条柄根对只个匹头尾枝支][^，。！？；、\n\0]{0,4}?"
_ANIMALS_ZH: Final = (
    "獐|鼠|狼|虎|豹|狐|鹿|兔|猴|猿|熊|蛇|龟|鱼|狮|象|牛|羊|马|驴|犬|狗|猫|鸡|鹤|鹰|蝎|蜘蛛|蜈蚣|鹦鹉|燕|雁|龙|猪"
)
_THINGS_ZH: Final = "簪|钗|镯|戒指|指环|印|牌|盒|匣|杯|碗|壶|箫|笛|箱|钟|门|桥|像"
_PATTERNS_ZH: Final = (
    re.compile(rf"{_ONE_ZH}(?P<weapon>枪|刀|剑|斧|棒|杵|叉|锤|鞭|钯|戟|弓|杖|铲|矛|棍|匕首)(?![㐀-鿿]?[法手])"),
    re.compile(rf"{_ONE_ZH}(?P<animal>{_ANIMALS_ZH})"),
    re.compile(rf"(?P<material>[金银铜铁玉木石锡竹瓷])(?:制|质|打)?的?(?P<of>{_THINGS_ZH})"),
    re.compile(r"(?P<season>[春夏秋冬](?=[天日季])|(?<=[隆盛深初暮])[春夏秋冬])"),
    re.compile(r"(?P<feast>元宵|清明|端午|端阳|七夕|中秋|重阳|除夕|腊八)"),
)
_MATERIALS_EN: Final = (
    "gold|golden|silver|iron|brass|bronze|copper|ivory|oak|oaken|ebony|mahogany|leather|silk|velvet|wooden|marble|pearl|"
    "diamond|ruby"
)
_ANIMALS_EN: Final = (
    "dog|cat|horse|mare|pony|donkey|parrot|monkey|raven|canary|blackbird|goat|cow|bear|wolf|falcon|mule|ox"
)
_WEAPONS_EN: Final = "pistol|sword|dagger|knife|gun|musket|rifle|carbine|spear|axe|rapier"
_PATTERNS_EN: Final = (
    re.compile(rf"\b(?P<material>{_MATERIALS_EN}) (?P<of>[a-z]{{3,14}})\b"),
    re.compile(r"\b(?P<season>spring|summer|autumn|winter)\b"),
    re.compile(
        r"\b(?P<month>January|February|March|April|June|July|August|September|October|November|December)\b"
        r"|\b(?P<weekday>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
    ),
    re.compile(rf"\b(?:a|an|his|her|the) (?:[a-z]+ )?(?P<animal>{_ANIMALS_EN})\b"),
    re.compile(rf"\b(?:a|an|his|her|the) (?:[a-z]+ )?(?P<weapon>{_WEAPONS_EN})\b"),
)
_SAME: Final = {"golden": "gold", "oaken": "oak", "mare": "horse", "pony": "horse", "端阳": "端午"}


def find(draft: Told, book: EarlierBook) -> Iterator[RuleFinding]:
    """One finding a word."""
    for clash in clashes(draft, book, others, str.__ne__, _LEAST[book.language[:2]], same_event):
        said = _("The book gave a different one before.")
        mine = draft.quoted(clash.value.start, clash.value.end)
        yield RuleFinding(NAME, "memory contradiction", said, mine, clash.source)


def others(told: Told) -> Sequence[Value]:
    """The words of closed sets in the narration; a sentence with two of one set is skipped."""
    found: dict[tuple[str, int], list[Value]] = {}
    for pattern in _PATTERNS_ZH if told.language.startswith("zh") else _PATTERNS_EN:
        for match in pattern.finditer(told.narration):
            said = {kind: word for kind, word in match.groupdict().items() if word}
            thing = said.pop("of", "")
            ((kind, word),) = said.items()
            value = Value(f"{kind} {thing}".strip(), _SAME.get(word, word), *match.span())
            found.setdefault((value.part, told.sentence_number(match.start())), []).append(value)
    return tuple(values[0] for values in found.values() if len({value.value for value in values}) == 1)
