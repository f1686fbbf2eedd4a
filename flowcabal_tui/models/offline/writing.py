"""Plans, drafts, polishes and rewrites, put together from what the prompt says and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.offline.facts import contradictions, corrected, facts_in
from flowcabal_tui.models.offline.frames import CHINESE, ENGLISH
from flowcabal_tui.models.offline.reading import PERSON, Name, mentions, sentences
from flowcabal_tui.models.offline.task import ITEM, Task

_CHAPTER: Final = re.compile(r"(?:Chapter\s+(\d+)|第\s*(\d+)\s*章)\s*[:：]?\s*(.*)")
_SPOKEN: Final = re.compile("“([^“”\n]{4,60})”")
_THING_EN: Final = re.compile(
    r"\bthe ((?:[a-z-]+ )?[a-z-]+)"
    r"(?=[,.;:]| (?:of|in|with|on|at|for|from|and|had|was|were|lay|came|stood|beneath|turned)\b)"
)
_COUNTED_ZH: Final = re.compile("(?:[一那这](?:只|盏|把|本|块|口|条|扇|张|封))([\u4e00-\u9fff]{2})(?=[，。；、])")
_SELDOM_A_THING: Final = frozenset(
    {"hour", "wind", "end", "time", "light", "dusk", "day", "night", "name", "names", "way", "last", "others", "dark"}
)
_LEADING_ZH: Final = re.compile("^([\u4e00-\u9fff]{2,3}?)(?=用|把|提|和|在|沿|拿|说|将|从|向|对|念|读|喊|走|打开|站)")
_SWAP: Final = re.compile(
    "(?:replace|把|将)\\s*[“\"']?(.+?)[”\"']?\\s*(?:with|换成|改成|改为)\\s*[“\"']?(.+?)[”\"']?[.。]?$", re.IGNORECASE
)
_SHORTER: Final = re.compile("short|cut|tight|concise|短|删|简|紧", re.IGNORECASE)
_LONGER: Final = re.compile("long|more|expand|detail|长|扩|细|丰富", re.IGNORECASE)
_WORN: Final = {
    False: (
        (r"\bvery ", ""),
        (r"\bsuddenly,? ", ""),
        (r"\bas one leaves\b", "the way one leaves"),
        (r"\bfor as long as it takes to\b", "as long as it takes to"),
        (r"\bthere was only the\b", "there was the"),
        (r"\bFor a while nobody spoke\b", "Nobody spoke"),
    ),
    True: (
        ("非常", ""),
        ("突然|忽然", ""),
        ("长长的，像", "长长的，仿佛"),
        ("一样一样做过去", "一件件做过去"),
        ("有一阵谁也没有作声", "谁也没有作声"),
        ("很用心地", "用心地"),
    ),
}


def _heading_and_beats(task: Task) -> tuple[str, list[str]]:
    """The chapter's title, and its beats: list items below the heading in the prompt that holds the title."""
    found = _CHAPTER.search(task.part("chapter"))
    number = (found[1] or found[2]) if found else ""
    title = found[3].strip() if found else ""
    if told := task.part("beats"):
        return title, [item.strip() for item in ITEM.findall(told)] or [
            line for line in told.split("\n") if line.strip()
        ]
    beats: list[str] = []
    inside = False
    for line in task.part("outline").splitlines():
        if line.startswith("#"):
            heading = line.strip("# ").lower()
            inside = not beats and bool(
                (title and heading.endswith(title.lower()))
                or (number and re.match(rf"(?:chapter )?{number}\b", heading))
            )
        elif inside and (item := ITEM.match(line)):
            beats.append(item[1].strip())
    return title, beats


def _spoken_before(task: Task) -> str:
    """The last short thing that somebody said in the texts put in."""
    said = [s for s in _SPOKEN.findall(task.part("last-pages")) if s[-1] in ".?!。？！"]
    return said[-1] if said else ""


def _people(task: Task, texts: Sequence[str]) -> tuple[str, ...]:
    """Who is in the beats, in order of appearance."""
    persons = [name for name in task.names if name.kind == PERSON]
    found = [name.chief for _, _, name in mentions("\n".join(texts), persons)]
    if task.chinese and not persons:
        found = [match[1] for text in texts if (match := _LEADING_ZH.match(text))]
    return tuple(dict.fromkeys(found))


def _called(task: Task, person: str) -> str:
    """What narration calls somebody after the first time: the part of the name that the book uses most."""
    own = [name for name in task.names if name.chief == person]
    used = Counter(task.whole[start:end] for start, end, _ in mentions(task.whole, own))
    short = [form for name in own for form in name.names if form != person and form.split()[-1] in person]
    return max(short, key=lambda form: (used[form], form), default=person)


def plan(task: Task) -> str:
    """Cast, places and numbered beats: those of the outline, else what the writer wished and where it goes on."""
    _, beats = _heading_and_beats(task)
    wish = task.part("wish")
    if not beats:
        beats = [s.text for s in sentences(wish, task.chinese)]
        before = sentences(task.part("last-pages"), task.chinese)
        beats += [s.text for s in before[-3:] if s.text not in beats]
    beats += [line.strip("- ") for line in task.feedback.splitlines() if line.strip("- ")]
    cast = _people(task, beats)
    places = [n.chief for n in task.names if n.kind == "location" and any(f in b for f in n.names for b in beats)]
    lines: list[str] = []
    comma, colon = ("、", "：") if task.chinese else (", ", ": ")
    if cast:
        lines.append(("出场" if task.chinese else "Cast") + colon + comma.join(cast))
    if places:
        lines.append(("地点" if task.chinese else "Places") + colon + comma.join(places))
    lines += [f"{n}. {beat}" for n, beat in enumerate(beats, start=1)]
    if wish:
        lines.append(("留意" if task.chinese else "Mind") + colon + wish)
    return "\n".join(lines)


def draft(task: Task) -> str:
    """Prose from the beats of the plan (or of the outline): each beat as it stands, with sentences around it.

    Feedback that names no wrong fact gets another telling of the same beats.
    """
    beats = ITEM.findall(task.tag("plan")) or _heading_and_beats(task)[1] or ITEM.findall(plan(task))
    first = "\n\n".join(_Scene(task, beats, task.seed).paragraphs())
    text = mended(task, first)
    if task.feedback and text == first:
        return "\n\n".join(_Scene(task, beats, task.seed ^ int(digest(task.feedback)[:16], 16)).paragraphs())
    return text


class _Scene:
    """Puts sentences round the beats; no frame is used twice. The dead are spoken of and do not act."""

    def __init__(self, task: Task, beats: Sequence[str], seed: int) -> None:
        self._task, self._beats, self._chinese = task, beats, task.chinese
        self._frames = CHINESE if task.chinese else ENGLISH
        self._random = Random(seed)
        self._people = tuple(name for name in _people(task, beats) if name not in task.dead)
        self._calls = {name: _called(task, name) for name in self._people}
        self._places = [name for name in task.names if name.kind == "location"]
        self._used: set[str] = set()

    def _pick(self, frames: Sequence[str], **values: str) -> list[str]:
        """One sentence from a frame that is still fresh; none when all are used up."""
        fresh = [frame for frame in frames if frame not in self._used]
        if not fresh:
            return []
        frame = self._random.choice(fresh)
        self._used.add(frame)
        text = frame.format(**values)
        return [text[0].upper() + text[1:]]

    def paragraphs(self) -> list[str]:
        """The chapter, two or three paragraphs a beat."""
        lead = self._people[0] if self._people else ("他们" if self._chinese else "They")
        name = self._calls.get(lead, lead)
        space, indent = ("", "　　") if self._chinese else (" ", "")
        groups: list[list[str]] = [self._pick(self._frames.opening, a=name)]
        if spoken := _spoken_before(self._task):
            groups[0] += self._pick(self._frames.recall, a=name, line=spoken)
        for beat in self._beats:
            here = [n for n in self._people if any(form in beat for form in (n, self._calls[n]))] or [lead]
            other = next((n for n in (*here[1:], *self._people) if n != here[0]), "")
            groups += self._around(beat, self._calls.get(here[0], here[0]), self._calls.get(other, ""))
        groups.append(self._pick(self._frames.closing, a=self._calls.get(here[0], name) if self._beats else name))
        return [indent + space.join(group) for group in groups if group]

    def _around(self, beat: str, first: str, second: str) -> list[list[str]]:
        """The beat and what is noticed; then what passes between people, if there are two."""
        told = [beat]
        if thing := self._thing(beat):
            told += self._pick(self._frames.thing, a=first, b=second or first, thing=thing)
        place = next((n.chief for n in self._places if any(form in beat for form in n.names)), "")
        seen = self._pick(self._frames.pause)
        if place:
            seen += self._pick(self._frames.place, place=place)
        seen += self._pick(self._frames.alone, a=first)
        if self._chinese and second:
            seen += self._pick(self._frames.alone, a=second)
        between = self._pick(self._frames.pair, a=first, b=second) if second else []
        return [told, seen, between] if self._random.random() < 0.5 else [[*told, *seen[:1]], [*seen[1:], *between]]

    def _thing(self, beat: str) -> str:
        """Something in the beat that can be looked at, and was not before."""
        if self._chinese:
            listed = [form for n in self._task.names if n.kind in ("", "item") for form in n.names if form in beat]
            found = [*listed, *_COUNTED_ZH.findall(beat)]
        else:
            places = " ".join(form for n in self._places for form in n.names).lower()
            heads = [(thing, thing.split()[-1]) for thing in _THING_EN.findall(beat) if thing not in places]
            found = [thing for thing, head in heads if head not in _SELDOM_A_THING and not head.endswith("s")]
        fresh = [thing for thing in found if thing not in self._used]
        if not fresh:
            return ""
        thing: str = fresh[-1]
        self._used.add(thing)
        return thing


def mended(task: Task, text: str) -> str:
    """`text` with every fact set right that the feedback's quotations speak against."""
    if not task.feedback:
        return text
    names = _with_cast(task)
    here = facts_in(text, names, task.chinese)
    told = [f for line, about in _quoted(task.feedback) for f in facts_in(line, names, task.chinese, about)]
    said_here = {(f.subject, f.attribute, f.value) for f in here}
    against = [f for f in told if (f.subject, f.attribute, f.value) not in said_here]
    return corrected(text, contradictions(here, against))


def _quoted(feedback: str) -> list[tuple[str, str]]:
    """The quotations in the feedback, each with the title of its source; lines without any as they are.

    A note on somebody says "his left hand": whose it is, its title tells.
    """
    pieces = [piece for line in feedback.splitlines() for piece in line.split("<>")]
    quotations = [re.search(r"“(.*?)” *(?:[(（](.*?)[)）].*)?$", piece) for piece in pieces]
    return [
        (quoted[1], quoted[2] or "") if quoted else (piece, "")
        for piece, quoted in zip(pieces, quotations, strict=True)
    ]


def _with_cast(task: Task) -> tuple[Name, ...]:
    known = {form for name in task.names for form in name.names}
    beats = ITEM.findall(task.tag("plan"))
    return (*task.names, *(Name(PERSON, (p,)) for p in _people(task, beats) if p not in known))


def polish(task: Task) -> str:
    """The draft with worn words taken out; short neighbours joined in English."""
    text = task.tag("draft")
    for worn, better in _WORN[task.chinese]:
        text = re.sub(worn, better, text)
    if not task.chinese:
        text = re.sub(r"(\. )([A-Z])(\w* was (?:only|merely)\b)", lambda m: "; " + m[2].lower() + m[3], text)
    return mended(task, text)


def criticise(task: Task) -> str:
    """The verdict on a draft: its worn words, and done when it has none."""
    worn = [word for pattern, _better in _WORN[task.chinese] for word in re.findall(pattern, task.tag("draft"))]
    points = [f"“{word.strip()}”" for word in dict.fromkeys(worn)]
    return json.dumps({"done": not points, "points": points}, ensure_ascii=False)


def rewrite(task: Task) -> str:
    """The selection, shorter, longer, or in other words, as the instruction says."""
    selection, wish = task.tag("selection"), task.part("wish").strip()
    found = [s.text for s in sentences(selection, task.chinese)]
    space = "" if task.chinese else " "
    if swap := _SWAP.search(wish):
        return re.sub(re.escape(swap[1]), lambda _: swap[2], selection, flags=re.IGNORECASE)
    if _SHORTER.search(wish):
        keep = max(1, (len(found) + 1) // 2)
        by_length = sorted(range(len(found)), key=lambda i: (-len(found[i]), i))[:keep]
        return space.join(found[i] for i in sorted(by_length))
    if _LONGER.search(wish):
        frames = CHINESE if task.chinese else ENGLISH
        picked = Random(task.seed).sample(frames.pause, k=2)
        return space.join([*found[:-1], picked[0], *found[-1:], picked[1]])
    for worn, better in _WORN[task.chinese]:
        selection = re.sub(worn, better, selection)
    return selection


def outline(task: Task) -> str:
    """The outline that the prompt holds, headings and beats; without one, a heading with the writer's wish."""
    lines: list[str] = []
    for line in task.part("outline").splitlines():
        item = ITEM.match(line)
        if re.match(r"#+ (?:Chapter \d|第.+章)", line) or (item and lines):
            lines.append(line)
        elif line.startswith("#") and lines:
            break
    if lines:
        return "\n".join(lines)
    return f"## {_heading_and_beats(task)[0] or ('第一章' if task.chinese else 'Chapter 1')}\n{plan(task)}"


WRITERS: Final[dict[str, Callable[[Task], str]]] = {
    "plan": plan,
    "draft": draft,
    "polish": polish,
    "criticise": criticise,
    "rewrite": rewrite,
    "outline": outline,
}
