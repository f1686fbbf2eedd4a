"""Facts that a rule can read from one sentence, and when two of them contradict each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from flowcabal_tui.models.offline.reading import PERSON, Name, Sentence, mentions, sentences

Angle = Literal["character_state", "timeline", "world_rules", "echoes"]
NOT_SO: Final = re.compile(
    r"\b(?:dream\w*|if|might|would|could|pretend\w*|lied?|imagin\w*|not|no|never|neither|nobody)\b|n['’]t\b"
    "|梦|要是|如果|假如|仿佛|好像|谎|骗|以为|据说|传说|不是|没有|并非|不再",
    re.IGNORECASE,
)
"""In the same clause, this says that something is not told as a fact."""
_CLAUSE: Final = re.compile("[,;:，；：—]")
_PAST: Final = re.compile(
    r"\b(?:had been|once|used to|years? ago|remember\w*|as a (?:child|boy|girl)|in those days)\b"
    "|那年|当年|从前|以前|小时候|那一回|那时|那夜|那晚|那天|记得|生前",
    re.IGNORECASE,
)
_FLASHBACK: Final = re.compile("那年|当年|小时候|那一回|那时|生前")
"""In a paragraph, this says that all of it is told of earlier days; English has the past perfect for that."""
_MARK: Final = re.compile(
    r"\b(?:scar\w*|burns?|burnt|burned|puckered|missing|lost|lame|limp\w*|blind|maimed|crooked|withered|wooden|glass"
    r"|tattoo\w*|birthmark|fingers)\b|疤|伤|烧|断|缺|只剩|残|瞎|跛|瘸|胎记|刺青",
    re.IGNORECASE,
)
_NUMBER_EN: Final = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_DAYS: Final = r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_GOING: Final = re.compile(
    r"\b(?:(?:cross|run|sail|come|open|close|leave|arrive|meet|ring)\w*|came|ran|left|met|goes|went|rang)\b"
)
_TIMES: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|spring|summer|autumn"
    r"|winter)"
)
_MONTHS: Final = frozenset(
    {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"}
    | {"december"}
)
_EVENTS_EN: Final = {
    "burn": r"burn(?:ed|t|s)?|fire",
    "die": r"died|drowned|dies|death",
    "born": r"born",
    "wed": r"married|wedding|wed",
    "build": r"built",
}
_EVENTS_ZH: Final = {
    "burn": "烧|起火|失火",
    "die": "死|去世|淹",
    "born": "出生|生于",
    "wed": "成亲|结婚|嫁",
    "build": "建成|造的",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """What a sentence says of somebody: `value` of `attribute`; `start`/`end` is the value's place in the sentence.

    `habit` is true when it is said to hold always; only such sources bind days of the week. `named` is false when
    a note's title, not the sentence, tells who is meant.
    """

    subject: str
    attribute: str
    value: str
    sentence: Sentence
    start: int
    end: int
    angle: Angle
    habit: bool = True
    named: bool = True


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A fact of the draft against the latest fact of a source that it disagrees with."""

    draft: Fact
    source: Fact


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern whose group `v` is the value and whose group `of`, if any, specifies the attribute."""

    attribute: str
    pattern: re.Pattern[str]
    angle: Angle = "character_state"
    persons: bool = True
    needs: re.Pattern[str] | None = None
    habit: re.Pattern[str] | None = None
    canonical: Callable[[str], str] = str.lower


def _colour(word: str) -> str:
    word = word.lower().removesuffix("色")
    return {"gray": "grey", "blonde": "blond"}.get(word, word)


def _day(word: str) -> str:
    return {"天": "日"}.get(word, word.lower())


def _rules_en() -> tuple[_Rule, ...]:
    part = "hand|arm|leg|eye|foot|ear|cheek|shoulder|knee|wrist|thumb"
    colour = "grey|gray|green|blue|brown|black|hazel|amber"
    hair = "black|brown|red|fair|blonde?|golden|chestnut|auburn"
    rules = [
        _Rule("side", re.compile(rf"\b(?P<v>left|right) (?P<of>{part})\b", re.IGNORECASE), needs=_MARK),
        _Rule("eyes", re.compile(rf"\b(?P<v>{colour}) eyes\b|\beyes (?:were|are|was) (?P<w>{colour})\b", re.IGNORECASE),
              canonical=_colour),
        _Rule("hair", re.compile(rf"\b(?P<v>{hair}) (?:hair|beard|braids?)\b|\bhair (?:was|is) (?P<w>{hair})\b",
                                 re.IGNORECASE), canonical=_colour),
        _Rule("age", re.compile(
            rf"\b(?:aged|age|turned) (?P<v>{_NUMBER_EN})\b|\b(?P<w>{_NUMBER_EN})[ -]years?[ -]old\b"
            rf"|\b(?:of|was|is) (?P<x>{_NUMBER_EN})(?=[.,;!?]| years old| or so)", re.IGNORECASE), angle="timeline"),
        _Rule("day", re.compile(rf"\b(?P<v>{_DAYS})s?\b"), angle="timeline", persons=False,
              needs=_GOING,
              habit=re.compile(rf"\b(?:only|every|always|no other day)\b|(?:{_DAYS})s\b"), canonical=_day),
    ]  # fmt: skip
    when = re.compile(rf"\b[Ii]n (?:the )?(?P<v>{_TIMES})\b")
    ago = re.compile(rf"\b(?P<v>{_NUMBER_EN}) years ago\b", re.IGNORECASE)
    return (*rules, *_event_rules(_EVENTS_EN, when, ago))


def _rules_zh() -> tuple[_Rule, ...]:
    number = "[0-9零一二三四五六七八九十百]"
    rules = [
        _Rule("side", re.compile("(?P<v>左|右)(?P<of>手|臂|胳膊|腿|眼|脚|耳|颊|脸|肩|膝|腕)"), needs=_MARK),
        _Rule("eyes", re.compile("(?P<v>灰|蓝|绿|黑|褐|棕|琥珀|碧)色?的?(?:大|小)?(?:眼睛|眼珠|眸|瞳)"
                                 "|(?:眼睛|眼珠|眸子)是(?P<w>灰|蓝|绿|黑|褐|棕|碧)"), canonical=_colour),
        _Rule("hair", re.compile("(?P<v>[黑红金棕褐栗])色?的?(?:头发|长发|短发|胡子|辫子)"
                                 "|(?:头发|辫子)是(?P<w>[黑红金棕褐])"), canonical=_colour),
        _Rule("age", re.compile(f"(?<!{number})(?![十百]?[一二三四五六七八九]{{2}}岁)(?P<v>{number}{{1,3}})岁"),
              angle="timeline"),
        _Rule("day", re.compile("(?:星期|礼拜|周)(?P<v>[一二三四五六日天])"), angle="timeline", persons=False,
              needs=re.compile("开|走|来|停|渡|关|到|集"), habit=re.compile("只|每|逢|总|才"), canonical=_day),
    ]  # fmt: skip
    when = re.compile("(?P<v>正月|腊月|[一二三四五六七八九十]{1,2}月|春天|夏天|秋天|冬天)")
    ago = re.compile(f"(?P<v>{number}{{1,3}})年前")
    return (*rules, *_event_rules(_EVENTS_ZH, when, ago))


def _event_rules(events: dict[str, str], when: re.Pattern[str], ago: re.Pattern[str]) -> list[_Rule]:
    """When something happened, and how long ago."""
    found: list[_Rule] = []
    for event, verb in events.items():
        needs = re.compile(rf"\b(?:{verb})\b" if verb.isascii() else verb, re.IGNORECASE)
        found.append(_Rule(f"when {event}", when, "timeline", False, needs))
        found.append(_Rule(f"ago {event}", ago, "timeline", False, needs))
    return found


_RULES: Final = {False: _rules_en(), True: _rules_zh()}
_DEAD: Final = {
    False: re.compile(r"^(?:’s body)?,? (?:\w+ ){0,2}?(?:died|drowned|is dead|was dead|was killed|was buried)\b"),
    True: re.compile(
        "^[^，。；、：说道笑想打没不要若]{0,16}?(?:死了|去世|淹死|病故|下葬|断了气|遇难)(?:了|的)?(?=[，。；！]|$)"
    ),
}
_TOLD: Final = re.compile(r"(?<![把叫若怕咒等将让])$(?<!打量)(?<!以为)(?<!听说)(?<!if )(?<!that )")
"""What may stand before the name of one who is said to be dead."""
_ALIVE: Final = {
    False: re.compile(
        r"^ (?:said|says|asked|walked|came|stood|sat|nodded|laughed|smiled|opened|took|looked|turned|ran|shouted)\b"
    ),
    True: re.compile("^(?:说|道|笑|问|点头|走|站|坐|推开|拿起|抬起|喊|转过)"),
}


def facts_in(text: str, names: Sequence[Name], chinese: bool, about: str = "") -> list[Fact]:
    """The facts of every sentence of `text`. A sentence that names nobody is about `about` (a note's title)."""
    chief = next((name for name in names if about and about in name.names), None)
    return [fact for sentence in sentences(text, chinese) for fact in _of_sentence(sentence, names, chinese, chief)]


def _of_sentence(sentence: Sentence, names: Sequence[Name], chinese: bool, about: Name | None) -> list[Fact]:
    named = mentions(sentence.text, names)
    found: list[Fact] = []
    for rule in _RULES[chinese]:
        if rule.needs and not rule.needs.search(sentence.text):
            continue
        if rule.attribute == "age" and _PAST.search(sentence.text):
            continue
        for match in rule.pattern.finditer(sentence.text):
            group = next(key for key in "vwx" if match.groupdict().get(key))
            start, end = match.span(group)
            clause = _clause(sentence.text, start)
            near = [m for m in named if clause[0] <= m[0] < clause[1]] if rule.attribute == "age" else named
            subject = _nearest(sentence.text, near, start, rule.persons) or (about if not named else None)
            if subject is None or NOT_SO.search(sentence.text, *clause):
                continue
            habit = rule.habit is None or rule.habit.search(sentence.text) is not None
            value = rule.canonical(match[group])
            attribute = _attribute(rule.attribute, match, value)
            found.append(Fact(subject.chief, attribute, value, sentence, start, end, rule.angle, habit, bool(named)))
    return [fact for fact in found if not _disputed(fact, found)] + _life(sentence, named, chinese, about)


def _clause(text: str, at: int) -> tuple[int, int]:
    """Where the clause lies that holds a place."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    return next((a, b) for a, b in pairwise(cuts) if a <= at < b)


def _attribute(attribute: str, match: re.Match[str], value: str) -> str:
    """Of which hand; months are compared with months, seasons with seasons."""
    if "of" in match.groupdict():
        return f"{attribute} {match['of'].lower()}"
    if attribute.startswith("when"):
        return f"{attribute} {'month' if value in _MONTHS or value.endswith('月') else 'season'}"
    return attribute


def _disputed(fact: Fact, found: Sequence[Fact]) -> bool:
    """A sentence that gives several values for one thing tells of a change, not of a state."""
    same = (f.value for f in found if (f.subject, f.attribute) == (fact.subject, fact.attribute))
    return any(value != fact.value for value in same)


def _nearest(text: str, named: Sequence[tuple[int, int, Name]], at: int, persons: bool) -> Name | None:
    """The name nearest before a place in the sentence, else the first one after it (二月里烧掉的灯楼: at once that)."""
    fitting = [mention for mention in named if not persons or mention[2].kind == PERSON]
    before = [name for _, end, name in fitting if end <= at]
    after = [(text[at:start], name) for start, _, name in fitting if start >= at]
    if after and (not before or (not persons and re.fullmatch("[^，。；]{1,8}的", after[0][0]))):
        return after[0][1]
    return before[-1] if before else None


def _told_of(text: str, chinese: bool) -> str:
    """A sentence of a note as it would go on after the name."""
    return text if chinese else f" {text[0].lower()}{text[1:]}"


def _life(sentence: Sentence, named: Sequence[tuple[int, int, Name]], chinese: bool, about: Name | None) -> list[Fact]:
    """Dead or acting, as the narrator says; what is told of earlier days says nothing of today."""
    found: list[Fact] = []
    if about and not named and about.kind == PERSON and _DEAD[chinese].match(_told_of(sentence.text, chinese)):
        found.append(Fact(about.chief, "life", "dead", sentence, 0, 0, "character_state", named=False))
    for start, end, name in named:
        rest = sentence.text[end:]
        if name.kind != PERSON or sentence.text[:start].count("“") > sentence.text[:start].count("”"):
            continue
        if _DEAD[chinese].match(rest) and _TOLD.search(sentence.text[:start]):
            found.append(Fact(name.chief, "life", "dead", sentence, start, end, "character_state"))
        elif _ALIVE[chinese].match(rest) and not (_PAST.search(sentence.text) or _FLASHBACK.search(sentence.paragraph)):
            found.append(Fact(name.chief, "life", "alive", sentence, start, end, "character_state"))
    return found


def contradictions(draft: Sequence[Fact], sources: Sequence[Fact]) -> list[Contradiction]:
    """Each fact of the draft that no source says and a source speaks against; `sources` in story order.

    Who was alive may die, so only a death binds; a day of the week binds where it is said to hold always.
    """
    found: list[Contradiction] = []
    for fact in draft:
        said = [s for s in sources if (s.subject, s.attribute) == (fact.subject, fact.attribute) and s.habit]
        if fact.attribute == "life":
            said = [s for s in said if s.value == "dead"] if fact.value == "alive" else []
        if said and fact.value not in {s.value for s in said}:
            by_name = [s for s in said if s.named] or said
            found.append(Contradiction(fact, by_name[-1]))
    return found


def corrected(text: str, wrong: Sequence[Contradiction]) -> str:
    """`text` with the source's value in place of each wrong one; a dead person's sentence is left out."""
    for clash in sorted(wrong, key=lambda c: -(c.draft.sentence.start + c.draft.start)):
        fact, source = clash.draft, clash.source
        at = fact.sentence.start
        if fact.attribute == "life":
            text = text[:at] + text[at + len(fact.sentence.text) :].lstrip(" ")
            continue
        value = source.sentence.text[source.start : source.end]
        text = text[: at + fact.start] + value + text[at + fact.end :]
    return text
