"""What a chapter adds to the story, by patterns of single sentences (`curator.story`); every quotation is verbatim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.models.offline.agent_answers import entities, keep_advice, one_sentence, overview
from flowcabal_tui.models.offline.facts import NOT_SO, facts_in
from flowcabal_tui.models.offline.reading import Name, Sentence, mentions, sentences, terms
from flowcabal_tui.models.offline.task import Task

_SPEECH: Final = '“"「‘『'
_MOST: Final = 12
_NAME: Final = "\x02"
"""Stands for a name in a sentence whose names were taken out; the patterns speak of it as N."""


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words.replace("N", f"{_NAME}(\\d+){_NAME}"), re.IGNORECASE)


_KIN_ZH: Final = (
    "(父亲|母亲|爹|娘|女儿|儿子|姐姐|妹妹|哥哥|弟弟|兄长|表妹|表姐|表兄|表弟|妻子|丈夫|未婚妻|未婚夫|师父|徒弟|师兄|师妹"
    "|主人|仆人|朋友|好友|仇人|义兄|义弟|养女|养子|外甥|侄女|侄子|祖母|祖父|叔父|舅舅)"
)
_KIN_EN: Final = (
    "(father|mother|daughter|son|sister|brother|wife|husband|cousin|uncle|aunt|niece|nephew|grandmother|grandfather"
    "|master|apprentice|servant|friend|enemy|rival|ward|guardian|widow|betrothed|partner|captain|mate)"
)
_MUTUAL: Final = frozenset(("朋友", "好友", "仇人", "friend", "enemy", "rival", "partner", "cousin"))
_RELATIONS: Final = {
    True: (
        (_pattern(f"N(?:就|便|原|本|正)?是N的{_KIN_ZH}"), (1, 3, 2)),
        (_pattern(f"N(?:认|拜)N(?:做|作|为){_KIN_ZH}"), (2, 3, 1)),
        (_pattern(f"N的{_KIN_ZH}N"), (3, 2, 1)),
    ),
    False: (
        (_pattern(f"N (?:is|was|became) N['’]s (?:\\w+ )?{_KIN_EN}\\b"), (1, 3, 2)),
        (_pattern(f"N,? (?:is |was |became )?(?:the |a |an )?(?:\\w+ )?{_KIN_EN} (?:of|to) N"), (1, 2, 3)),
        (_pattern(f"N, N['’]s (?:\\w+ )?{_KIN_EN}\\b"), (1, 3, 2)),
        (_pattern(f"N['’]s {_KIN_EN},? N"), (3, 2, 1)),
    ),
}
"""A pattern, and which of its groups are the one, the kind and the other."""
_STATES: Final = {
    True: (
        (_pattern("N(?:如今|从此|后来|终于)?(?:住在|搬到|搬进|搬去|迁到|定居在)了?[^，。；]{2,12}"), "住处"),
        (_pattern("N(?:如今|从此|后来|终于)?(?:当上|做上|升任|出任|接任|改任)了?[^，。；]{2,12}"), "职位"),
        (_pattern("N(?:如今|从此|后来)?(?:归|落在|到了)N(?:手里|手中|所有|名下)"), "持有者"),
    ),
    False: (
        (
            _pattern("N (?:now |then |at last )?(?:lives|lived|settled|moved|(?:has|had) moved) (?:in|to|at) "),
            "lives in",
        ),
        (_pattern("N (?:now |then |at last )?(?:became|was made|was named|was appointed) (?:the )?\\w+"), "office"),
        (_pattern("N (?:now |then )?(?:passed|belonged|belongs|went) (?:in)?to N"), "holder"),
    ),
}
_ATTRIBUTES_ZH: Final = {"side": "哪一边", "eyes": "眼睛", "hair": "头发", "age": "年龄", "life": "生死", "day": "日子"}
_LASTING: Final = frozenset(("side", "eyes", "hair", "age", "life"))
_SECRET: Final = {
    True: _pattern("只有((?:N[、和与跟]?)+)(?:心里|自己)?(?:知道|晓得|清楚)[:：，,]?([^。！？]+)"),
    False: _pattern("Only ((?:N(?:,? and |, )?)+) (?:knew|knows) (?:that )?([^.!?]+)"),
}
_LEARNS: Final = {
    True: _pattern("N(?:这才|终于|也)?(?:得知|知道了|晓得了)"),
    False: _pattern("N (?:at last |now |then )?(?:learned|learnt|found out|discovered|was told) that"),
}
_VOWS: Final = {
    True: _pattern("N[^，。；不没未]{0,6}(?:发誓|立誓|许诺|赌咒|答应(?!道|一声|着|[，。：；！？]|$))"),
    False: _pattern("N (?:\\w+ ){0,2}?(?:swore|vowed|promised)\\b"),
}
_KEPT: Final = {
    True: re.compile("兑现|践约|守住了?(?:诺言|誓言)|如约|应验"),
    False: re.compile(
        r"\b(?:kept|fulfilled|made good) (?:\w+ ){0,2}(?:promise|vow|word|oath)\b|\bas (?:promised|vowed)\b", re.I
    ),
}
_TIME: Final = {
    True: re.compile(
        "(?:[一二三四五六七八九十百数几半两\\d]+(?:年|个?月|天|日)(?:后|前|之后|以后|以前))|次日|翌日|第[一二三四五六七八九十\\d]+[天日年]"
        "|(?:正月|腊月|[一二三四五六七八九十]{1,2}月)(?:初|十|廿|二十|三十)[一二三四五六七八九十]?|那年[春夏秋冬]天?|[^，。；]{2}[元一二三四五六七八九十]+年"
    ),
    False: re.compile(
        r"\b(?:the (?:next|following) (?:day|morning|evening|year|week)|(?:\w+|\d+) (?:days?|weeks?|months?|years?)"
        r" (?:later|before|after|ago)|on the \w+ day|in the (?:spring|summer|autumn|winter) of [^,.;]{3,20}"
        r"|in the \w+ year)\b", re.I),
}  # fmt: skip
_SUCH: Final = 0.6
"""So many of a line's words must stand in a sentence that is said to concern it."""


@dataclass(frozen=True, slots=True)
class _Masked:
    """A sentence with numbered marks in the place of its names."""

    sentence: Sentence
    text: str
    names: tuple[Name, ...]

    def name(self, number: str) -> str:
        return self.names[int(number)].chief

    def named(self, text: str) -> list[str]:
        return [self.name(number) for number in re.findall(f"{_NAME}(\\d+){_NAME}", text)]


def story(task: Task) -> dict[str, Any]:
    """`curator.story`: names, relations, states, secrets, vows, times, sequels; overview, line and 4-D test."""
    found = entities(task)["entities"]
    names = (*task.names, *(Name(row["kind"], (row["name"],)) for row in found))
    told = [
        _masked(sentence, names)
        for sentence in sentences(task.chapter, task.chinese)
        if sentence.text[0] not in _SPEECH
    ]
    sure = [one for one in told if not NOT_SO.search(one.sentence.text)]
    return {
        "entities": found,
        "relations": _first(_relations(sure, task.chinese)),
        "facts": _first([*_secrets(told, task.chinese), *_states(sure, task.chinese), *_stated(task, names)]),
        "promises": _first(_vows(told, task.chinese)),
        "moments": _first(_moments(told, task.chinese)),
        "sequels": _first(_sequels(told, task)),
        **overview(task),
        "line": one_sentence(task)["sentence"],
        "keeping": [{"question": question, **said} for question, said in keep_advice(task).items()],
    }


def _masked(sentence: Sentence, names: Sequence[Name]) -> _Masked:
    text, cut = "", 0
    found = mentions(sentence.text, names)
    for number, (start, end, _name) in enumerate(found):
        text += f"{sentence.text[cut:start]}{_NAME}{number}{_NAME}"
        cut = end
    return _Masked(sentence, text + sentence.text[cut:], tuple(name for _start, _end, name in found))


def _first(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each sentence tells one thing of a kind; the first ones of the chapter."""
    return list({row["quote"]: row for row in reversed([*rows])}.values())[::-1][:_MOST]


def _relations(told: Iterable[_Masked], chinese: bool) -> Iterator[dict[str, Any]]:
    for one in told:
        for pattern, (source, kind, target) in _RELATIONS[chinese]:
            if match := pattern.search(one.text):
                said = match[kind].lower()
                yield {
                    "source": one.name(match[source]),
                    "kind": said if chinese else f"{said} of",
                    "target": one.name(match[target]),
                    "directed": said not in _MUTUAL,
                    "quote": one.sentence.text,
                }
                break


def _states(told: Iterable[_Masked], chinese: bool) -> Iterator[dict[str, Any]]:
    for one in told:
        for pattern, attribute in _STATES[chinese]:
            if match := pattern.search(one.text):
                yield _fact(one, one.sentence.text, one.named(one.text[match.start() :]), attribute)
                break


def _secrets(told: Iterable[_Masked], chinese: bool) -> Iterator[dict[str, Any]]:
    for one in told:
        if match := _SECRET[chinese].search(one.text):
            known, text = one.named(match[1]), match.groups()[-1]
            about = one.named(text) or known
            plain = _unmasked(one, text)
            yield _fact(one, plain, about, "") | {"secret": True, "known_by": known}


def _stated(task: Task, names: Sequence[Name]) -> Iterator[dict[str, Any]]:
    """Bodies, ages and deaths, by the rules that find contradictions."""
    for fact in facts_in(task.chapter, names, task.chinese):
        root, _space, part = fact.attribute.partition(" ")
        if root in _LASTING and fact.value != "alive" and fact.sentence.text[0] not in _SPEECH:
            attribute = f"{part}{_ATTRIBUTES_ZH[root]}" if task.chinese else fact.attribute
            yield _fact(_Masked(fact.sentence, "", ()), fact.sentence.text, [fact.subject], attribute)


def _fact(one: _Masked, text: str, about: Sequence[str], attribute: str) -> dict[str, Any]:
    return {
        "text": text,
        "about": list(dict.fromkeys(about)),
        "attribute": attribute,
        "secret": False,
        "known_by": [],
        "quote": one.sentence.text,
    }


def _vows(told: Iterable[_Masked], chinese: bool) -> Iterator[dict[str, Any]]:
    for one in told:
        if _VOWS[chinese].search(one.text):
            yield {"text": one.sentence.text, "about": one.named(one.text), "quote": one.sentence.text}


def _moments(told: Iterable[_Masked], chinese: bool) -> Iterator[dict[str, Any]]:
    for one in told:
        match = _TIME[chinese].search(one.sentence.text)
        if match and one.names:
            about = list(dict.fromkeys(one.named(one.text)))
            yield {"text": one.sentence.text, "about": about, "when": match[0], "quote": one.sentence.text}


def _sequels(told: Sequence[_Masked], task: Task) -> Iterator[dict[str, Any]]:
    """Vows that a sentence says were kept, and secrets that somebody learns, told again in their own words."""
    for line in task.tag("open").splitlines():
        number, _space, rest = line.partition(" ")
        kind, _colon, text = rest.partition(": ")
        wanted = terms(text, task.chinese)
        for one in told:
            about = len(wanted & terms(one.sentence.text, task.chinese)) >= _SUCH * len(wanted)
            if kind == "promise" and about and _KEPT[task.chinese].search(one.sentence.text):
                yield {"open": number, "learned_by": "", "quote": one.sentence.text}
            elif kind == "secret" and text in one.sentence.text and (match := _LEARNS[task.chinese].search(one.text)):
                yield {"open": number, "learned_by": one.name(match[1]), "quote": one.sentence.text}


def _unmasked(one: _Masked, text: str) -> str:
    return re.sub(f"{_NAME}(\\d+){_NAME}", lambda match: one.name(match[1]), text).strip("，,：: ")
