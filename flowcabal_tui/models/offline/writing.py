"""Plans, polishes and rewrites, put together from the parts of the request, with the corrections of a retry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Final

from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.offline.asked import ITEM, PARAGRAPH, Asked, labelled_parts
from flowcabal_tui.models.offline.facts import clashes, corrected, facts_in
from flowcabal_tui.models.offline.reading import lines, terms
from flowcabal_tui.models.offline.scene import Scene, people

_PARAGRAPHS: Final = re.compile(r"^[^\n]*\S[^\n]*", re.MULTILINE)
_ALIKE: Final = 0.9
"""Texts that share so many of their words are nearly the same."""


def _beats(asked: Asked) -> list[str]:
    """Those of the chapter's outline; else what the writer wished for, and where the pages before end."""
    if beats := asked.part("beats"):
        return ITEM.findall(beats) or [line for line in beats.split("\n") if line.strip()]
    wished, before = (lines(asked.part(key), (), asked.chinese) for key in ("wish", "last-pages"))
    return list(dict.fromkeys(line.text for line in (*wished, *before[-3:])))


def plan(asked: Asked) -> str:
    """Cast, places and numbered beats. A note of the writer is a beat of its own."""
    beats = [*_beats(asked), *(line.strip("- ") for line in asked.feedback.splitlines() if line.strip("- "))]
    told, said = "\n".join(beats), asked.words.said
    places = [name.chief for name in asked.places if any(form in told for form in name.names)]
    heads = {"cast": said["comma"].join(people(asked, beats)), "places": said["comma"].join(places)}
    numbered = [f"{number}. {beat}" for number, beat in enumerate(beats, start=1)]
    wish = [said["mind"] + asked.part("wish")] if asked.part("wish") else []
    return "\n".join([*(said[head] + text for head, text in heads.items() if text), *numbered, *wish])


def draft(asked: Asked) -> str:
    """Prose from the beats of the plan (or of the outline): each beat as it is, with sentences around it.

    A retry corrects the facts that its quotations contradict; without any it expresses the same beats in other words.
    """
    if asked.is_retry and (text := mended(asked)) != asked.draft:
        return text
    beats = ITEM.findall(asked.part("plan")) or _beats(asked)
    return Scene(asked, beats, asked.seed ^ int(digest(asked.feedback)[:16], 16)).text()


def mended(asked: Asked) -> str:
    """The attempt before, with every fact set right that the quotations of the feedback speak against."""
    here = facts_in(asked.draft, asked.names, asked.chinese)
    held = {(fact.what, fact.value) for fact in here}
    pieces = [_quoted(line) for line in asked.feedback.splitlines()]
    told = [fact for words, title in pieces for fact in facts_in(words, asked.names, asked.chinese, title)]
    return corrected(asked.draft, clashes(here, [fact for fact in told if (fact.what, fact.value) not in held]))


def _quoted(line: str) -> tuple[str, str]:
    """A quotation and the title of its source; a note without quotation marks as it is."""
    head, _mark, quoted = line.strip().partition("“")
    if not quoted.endswith("”") or not head.rstrip().endswith((":", "：")):
        return line, ""
    title = head.replace("（", "(").replace("）", ")").partition("(")[2].rpartition(")")[0]
    return quoted.removesuffix("”"), title


def changed_paragraphs(asked: Asked) -> str:
    """The answer to a mend: the paragraphs that differ; "" when others than those that may change do, or none."""
    old, new = _PARAGRAPHS.findall(asked.draft), _PARAGRAPHS.findall(mended(asked))
    differ = [n for n, (one, other) in enumerate(zip(old, new, strict=False), 1) if one != other]
    if len(old) != len(new) or not set(differ) <= set(asked.numbers):
        return ""
    return "\n".join(f'{PARAGRAPH}{n}">\n{new[n - 1].strip()}\n</paragraph>' for n in differ)


def _unworn(text: str, asked: Asked) -> str:
    for worn, better in asked.words.worn:
        text = re.sub(worn, better, text)
    return text


def polish(asked: Asked) -> str:
    """The draft without worn words; of a retry the answer before, with its facts set right."""
    return mended(asked) if asked.is_retry else _unworn(asked.part("draft"), asked)


def criticise(asked: Asked) -> str:
    """The verdict on a draft: its worn words, and done when it has none."""
    worn = [word for pattern, _better in asked.words.worn for word in re.findall(pattern, asked.part("draft"))]
    points = [f"“{word.strip()}”" for word in dict.fromkeys(worn)]
    return json.dumps({"done": not points, "points": points}, ensure_ascii=False)


def rewrite(asked: Asked) -> str:
    """The selection, shorter, longer, or without worn words, by the instruction."""
    selection, wish, words = asked.part("selection"), asked.part("wish").strip(), asked.words
    found = [line.text for line in lines(selection, (), asked.chinese)]
    if swap := words.pattern("swap").search(wish):
        return re.sub(re.escape(swap[1]), lambda _: swap[2], selection, flags=re.IGNORECASE)
    if words.pattern("shorter").search(wish):
        longest = sorted(found, key=len, reverse=True)[: max(1, (len(found) + 1) // 2)]
        return words.said["space"].join(text for text in found if text in longest)
    if words.pattern("longer").search(wish):
        first, second = Random(asked.seed).sample(words.frames["pause"], k=2)
        return words.said["space"].join([*found[:-1], first, *found[-1:], second])
    return _unworn(selection, asked)


def outline(asked: Asked) -> str:
    """The headings and beats of the outline; without any the plan of a first chapter."""
    found = [line for line in asked.part("outline").splitlines() if re.match(r"##+ ", line) or ITEM.match(line)]
    return "\n".join(found) or f"## {asked.words.said['first']}\n{plan(asked)}"


def alike(asked: Asked) -> str:
    """The groups of candidates that have most of their words in common."""
    candidates = [part.text for part in labelled_parts(asked.part("candidates")) if part.key == "candidate"]
    words = [terms(text, asked.chinese) for text in candidates]
    groups: dict[int, list[int]] = {}
    for number, each in enumerate(words, start=1):
        near = (first for first in groups if len(each & words[first - 1]) >= _ALIKE * len(each | words[first - 1]))
        groups.setdefault(next(near, number), []).append(number)
    return json.dumps({"groups": list(groups.values())})


WRITERS: Final[dict[str, Callable[[Asked], str]]] = {
    "plan": plan,
    "draft": draft,
    "polish": polish,
    "criticise": criticise,
    "rewrite": rewrite,
    "outline": outline,
}
