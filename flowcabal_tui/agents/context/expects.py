"""Implicit requirements: the length of the chapter, its voice and tense, and the style of the writer's own pages. All
of them are determined by rule from the book before the chapter and from the writer's instruction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.agents.context.candidates import HIDDEN
from flowcabal_tui.agents.context.viewpoint import VeiledView, look_through
from flowcabal_tui.agents.ports import MemoryView
from flowcabal_tui.agents.words import alternatives_of
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.overview import LONGEST_CHAPTER, usual_length
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.workflow import Workflow

_LENGTH_ZH: Final = re.compile(r"(?<!\d)(\d[\d,，]{0,12}(?:\.\d{1,4})?)\s*(千|万)?\s*[余多来]?个?汉?字")
_LENGTH_EN: Final = re.compile(r"(?<!\d)(\d[\d,]{0,12}(?:\.\d{1,4})?)\s*(k)?[ -]words?\b", re.IGNORECASE)
_TIMES: Final = {"千": 1_000, "万": 10_000, "k": 1_000, "": 1}
_LEAST: Final = 200
"""A smaller number in an instruction is the length of a letter or a line in the chapter, not of the chapter."""
_CLAUSES: Final = re.compile(r"[\n.,;:!?—–，。；：！？、]|\b(?:and|but)\b")
_ZH: Final = alternatives_of("requirements", "length_zh")
_EN: Final = alternatives_of("requirements", "length_en")
_OWN_LENGTH_EN: Final = re.compile(
    rf"(?:(?:{_EN['before']}) ){{0,8}}"
    rf"(?:{_EN['sizes']}|(?:{_EN['counts']}) (?:{_EN['units']}))(?: (?:{_EN['after']})){{0,3}}",
    re.IGNORECASE,
)
_OWN_LENGTH_ZH: Final = re.compile(
    rf"(?:{_ZH['before']}){{0,8}}"
    rf"(?:{_ZH['sizes']}|[\d一二两三四五六七八九十百几半]{{1,6}}(?:个?字|[句段页]))(?:{_ZH['after']}){{0,2}}"
)
"""A whole clause of an instruction about the length, in words (`Keep it short.`) or as a number below `_LEAST`."""
_LAST: Final = 3
"""Number of previous chapters from which voice and tense are determined."""
_SPOKEN: Final = re.compile(r"“[^“”]*”|「[^「」]*」|『[^『』]*』|\"[^\"\n]*\"")
_NARRATION: Final = alternatives_of("requirements", "narration")
_FIRST_EN: Final = re.compile(rf"\b(?:{_NARRATION['first']})\b")
_PAST: Final = re.compile(rf"\b(?:{_NARRATION['past']})\b")
_PRESENT: Final = re.compile(rf"\b(?:{_NARRATION['present']})\b")
_WORD: Final = re.compile(r"\b\w+\b")
_SHARE_EN: Final = 0.015
_SHARE_ZH: Final = 0.008
"""Least share of "I" in the words (Chinese: characters) outside quotation marks for a first-person narrator."""
_FEWEST: Final = 150
"""Least words or characters of narration from which voice and tense are determined."""
_SURE: Final = 0.75
_SAMPLE: Final = (120, 700)
"""Characters of a sample, at least and at most."""
_PAGES: Final = 4_000
"""Least tokens of a context that holds pages of the book, not only names and notes."""
_STEP: Final = 10
"""Number of chapters after which other samples are chosen; until then the prompts of a book begin alike."""
_WORDS: Final = {
    "first": ("沿用前文的第一人称叙述。", "First person, like the earlier chapters."),
    "third": ("沿用前文的第三人称叙述。", "Third person, like the earlier chapters."),
    "past": ("", "Past tense."),
    "present": ("", "Present tense."),
    "manner": (
        "笔法与前文一致（句式、节奏、人物的口吻），但不照搬前文的内容。",
        "Write in the manner of the earlier chapters (sentences, rhythm, speech), but do not reuse their content.",
    ),
    "style": (
        "作者的文字（学其笔法，不照搬内容）：",
        "Pages by the writer: follow their manner, do not reuse their content:",
    ),
    "wish": ("约 {n} 字（作者的要求）。", "About {n:,} words (the writer's wish)."),
    "goal": ("约 {n} 字（每章的目标）。", "About {n:,} words (the goal for a chapter)."),
    "book": ("约 {n} 字（与本书各章相当）。", "About {n:,} words, like the other chapters of this book."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements in the language of the book; "" for an unknown one."""

    length: str = ""
    style: str = ""


async def expected(
    view: MemoryView, wish: str, goal: int, length: str = "", *, has_pages: bool = False
) -> Requirements:
    """The requirements for the view's target. `goal` is the length of a chapter, 0 for none; `length` the one set for
    this run, which takes precedence over one in `wish`, the writer's instruction.

    With `has_pages` the prompt holds pages of the chapters before, so that none are repeated as samples. Samples hold
    no secret, so they may be shown from any point of view.
    """
    chapters = [chapter for chapter in await view.chapters() if chapter.version and chapter.length]
    texts = await view.chapter_texts([chapter.id for chapter in chapters[-_LAST:]])
    voice = narrator_of(" ".join(texts.values()), view.language)
    if has_pages:
        parts = filter(None, (voice, _say("manner", view.language)))
        style = [("" if view.language.startswith("zh") else " ").join(parts)] if chapters else []
    else:
        samples = await _samples(view, chapters)
        style = [voice, *([_say("style", view.language), *samples] if samples else [])]
    return Requirements(_length(wish, goal, length, chapters, view.language), "\n\n".join(filter(None, style)))


def shows_pages(workflow: Workflow, budget: int) -> bool:
    """True when every node of the workflow that requests the style gets the previous chapters as well.

    `budget`: the project's tokens of a context, 0 where none is made.
    """
    asking = [node for node in workflow.nodes if "chapter.style" in node.model_dump_json()]
    return bool(asking) and all(min(_tokens_of(node.params, budget), budget) >= _PAGES for node in asking)


def _tokens_of(params: Mapping[str, Any], budget: int) -> int:
    """The most context tokens in the prompt of a node with these parameters; 0 for kinds without a context."""
    tokens = params.get("context_tokens")
    if "prompt" not in params or params.get("context") is False:
        return 0
    return tokens if isinstance(tokens, int) else budget


def wished_length(wish: str, language: str) -> int:
    """The length in the writer's instruction, in characters for a Chinese book, in words otherwise; 0: none."""
    found = (_LENGTH_ZH if language.startswith("zh") else _LENGTH_EN).search(wish)
    if found is None:
        return 0
    number = round(float(re.sub("[,，]", "", found[1])) * _TIMES[(found[2] or "").lower()])
    return number if _LEAST <= number <= LONGEST_CHAPTER else 0


def has_own_length(wish: str, language: str) -> bool:
    """True when the writer's instruction says how long the text is to be, so that no other length may contradict it."""
    pattern = _OWN_LENGTH_ZH if language.startswith("zh") else _OWN_LENGTH_EN
    return any(pattern.fullmatch(" ".join(clause.split())) for clause in _CLAUSES.split(wish))


def wanted_length(wish: str, length: str, language: str) -> int:
    """The length for a run: the number set for it, else the one in the writer's instruction; 0: neither.

    A number that cannot be a chapter length counts as none.
    """
    number = int(length) if length.isascii() and length.isdigit() and len(length) <= len(str(LONGEST_CHAPTER)) else 0
    return number if 0 < number <= LONGEST_CHAPTER else wished_length(wish, language)


def _length(wish: str, goal: int, length: str, chapters: list[Chapter], language: str) -> str:
    if wished := wanted_length(wish, length, language):
        return _say("wish", language, wished)
    if has_own_length(wish, language):
        return ""
    if goal:
        return _say("goal", language, goal)
    if not chapters:
        return ""
    return _say("book", language, usual_length([chapter.length for chapter in chapters]))


def narrator_of(text: str, language: str) -> str:
    """Person and tense of the narration outside quotation marks; "" if the text is too short or ambiguous."""
    narration = _SPOKEN.sub(" ", text)
    chinese = language.startswith("zh")
    words = len(narration) if chinese else len(_WORD.findall(narration))
    if words < _FEWEST:
        return ""
    first = narration.count("我") if chinese else len(_FIRST_EN.findall(narration))
    person = "first" if first >= words * (_SHARE_ZH if chinese else _SHARE_EN) else "third"
    past, present = (0, 0) if chinese else (len(each.findall(narration)) for each in (_PAST, _PRESENT))
    tense = "past" if past > _SURE * (past + present) else "present" if present > _SURE * (past + present) else ""
    return " ".join(filter(None, (_say(person, language), _say(tense, language) if tense else "")))


async def _samples(view: MemoryView, chapters: list[Chapter]) -> list[str]:
    """A passage from the first and one from the last third of the book, each from the middle of its chapter."""
    if not chapters:
        return []
    veiled = VeiledView(view, await look_through(view, ""))
    steady = len(chapters) // _STEP * _STEP or len(chapters)
    places = dict.fromkeys(steady * share // 6 for share in (1, 5))
    found = [await _sample(veiled, chapters[place]) for place in places]
    return [each for each in found if each]


async def _sample(view: MemoryView, chapter: Chapter) -> str:
    lines = [line.strip() for line in (await view.chapter_text(chapter.id)).splitlines() if line.strip()]
    middle, (least, most) = len(lines) // 2, _SAMPLE
    text: list[str] = []
    for line in lines[middle:]:
        if HIDDEN in line or sum(map(len, text)) + len(line) > most:
            break
        text.append(line)
    return "\n".join(text) if sum(map(len, text)) >= least else ""


def _say(key: str, language: str, number: int = 0) -> str:
    return in_language(_WORDS[key], language).format(n=number)
