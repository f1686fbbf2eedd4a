"""The outline of a node: the beats of its chapter in full, earlier ones in short, nothing later.

The writer may choose otherwise for a node (`outline` of its parameters).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.context.candidates import HIDDEN, ContextText
from flowcabal_tui.agents.context.gather import BookInputs
from flowcabal_tui.agents.sentences import sentences, shortened
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.outline import BookOutline, Placed
from flowcabal_tui.domain.prompt_parts import in_language
from flowcabal_tui.domain.workflow import OutlineScope
from flowcabal_tui.locale import _

URI: Final = "meta/outline"
_TITLES: Final[Mapping[str, tuple[str, str]]] = {
    "whole": ("大纲", "Outline"),
    "book": ("全书", "The whole book"),
    "before": ("前面各章的大纲（每章一句）", "Outline of the earlier chapters, one sentence each"),
    "unassigned": ("大纲中未归入任何章的段落", "A passage of the outline that is not assigned to a chapter"),
}
_SENTENCE: Final = 40
"""Tokens of an earlier chapter."""
_LONGEST: Final = 12
"""Characters for each token of space: more of a text cannot go in, and is not counted."""
_MOST_PASSAGES: Final = 12
_STEP: Final = 10
"""Earlier chapters that are left out together."""
_QUOTED: Final = 12
"""Earlier chapters that a check may quote."""
_LIST_MARKS: Final = " \t　-*•"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The chapter (None: the whole book), the scope, the cast by any of their names, and the space in tokens."""

    chapter: ChapterId | None
    scope: OutlineScope
    names: tuple[str, ...]
    space: int
    """Tokens for all that are not the chapter's own beats."""


async def outline(book: BookInputs, wanted: Wanted, counter: TokenCounter) -> dict[BudgetClass, list[ContextText]]:
    """The candidates of the two classes: the chapter's beats, and the rest of the outline."""
    if wanted.scope == "none":
        return {}
    found = await book.view.outline()
    if not found.text.strip():
        return {}
    language = book.view.language
    if wanted.chapter is None or (wanted.scope == "all" and not any(each.chapters for each in found.placed)):
        return {"outline": [_whole(found, wanted, counter, language)]}
    position = next((each.position for each in found.chapters if each.id == wanted.chapter), book.view.before)
    own = found.of(wanted.chapter)
    beats = [_of_part(found, each, "beats", _("of this chapter")) for each in own]
    rest = [*_around(found, wanted, own, counter, language), *_before(found, wanted, position, own, counter, language)]
    if wanted.scope == "all":
        later = (each for each in found.placed if _is_later(each, position, own))
        rest += [_of_part(found, each, "outline", _("a later chapter: this node may know it")) for each in later]
    return {
        "beats": [each for each in beats if each.text.strip()],
        "outline": [
            *(each for each in rest if each.text.strip()),
            *_unassigned(found, wanted, position, bool(own), language),
        ],
    }


async def quotable(
    book: BookInputs, chapter: ChapterId, names: tuple[str, ...]
) -> tuple[list[ContextText], list[ContextText]]:
    """The outline verbatim, for a check that quotes it: the chapter's beats, and the rest.

    The rest are a sentence of each of the nearest chapters before, the nearest first, and passages of parts that fit no
    chapter; an outline without chapters is returned as it is. Every text has its `start` in the outline.
    """
    found, language = await book.view.outline(), book.view.language
    position, own = book.view.before, found.of(chapter)
    beats = [_verbatim(found, each, found.outline.beats(each.part), language) for each in own]
    if all(each.part.kind != "chapter" for each in found.placed):
        return beats, [ContextText(URI, _title("whole", language), "", "L2", "outline", found.text, start=0)]
    earlier = [each for each in reversed(_earlier(found, position)) if not _is_blank(found, each)]
    short = [_verbatim(found, each, _first_line(found, each), language) for each in earlier[:_QUOTED]]
    wanted = Wanted(chapter, "before", names, 0)
    return beats, [each for each in (*short, *_unassigned(found, wanted, position, bool(own), language)) if each.text]


def _verbatim(found: BookOutline, each: Placed, words: str, language: str) -> ContextText:
    start = found.text.find(words, each.part.heading.start if words == each.part.words else each.part.body.start)
    title = f"{_title('whole', language)}{'：' if language.startswith('zh') else ': '}{each.part.title}"
    return ContextText(URI, title, "", "L2", "outline", words, start=start, end=start + len(words))


def _first_line(found: BookOutline, each: Placed) -> str:
    """The first sentence of a part, or its heading."""
    beats = found.outline.beats(each.part)
    first = next(iter(sentences(beats)), Span(0, 0))
    return beats[first.start : first.end]


def _title(key: str, language: str) -> str:
    return in_language(_TITLES[key], language)


def _whole(found: BookOutline, wanted: Wanted, counter: TokenCounter, language: str) -> ContextText:
    """The whole outline, for a node that writes for no chapter."""
    whole = ContextText(
        URI, _title("whole", language), _("the whole outline"), "L2", "outline", found.text, of=len(found.text)
    )
    return _within(whole, wanted.space, counter)


def _within(candidate: ContextText, space: int, counter: TokenCounter) -> ContextText:
    """The beginning of a text that exceeds the space, marked as shortened."""
    text = candidate.text[: space * _LONGEST]
    kept = text[: cut(text, space, counter).end]
    if len(kept) == len(candidate.text):
        return candidate
    reason = _("{why}; shortened to fit").format(why=candidate.reason)
    return replace(candidate, text=kept, cut="beginning", of=len(candidate.text), reason=reason)


def _of_part(found: BookOutline, each: Placed, budget_class: BudgetClass, reason: str, title: str = "") -> ContextText:
    """A part with its own text. The reason mentions what is hidden from the point of view."""
    beats = found.outline.beats(each.part)
    if hidden := beats.count(HIDDEN):
        reason = _("{reason}; {n} characters are hidden from the point of view").format(reason=reason, n=hidden)
    return ContextText(
        URI,
        title or each.part.title,
        reason,
        "L2",
        budget_class,
        beats,
        start=each.part.heading.start,
        end=each.part.body.end,
        cuttable=True,
        of=len(beats),
    )


def _around(
    found: BookOutline, wanted: Wanted, own: Sequence[Placed], counter: TokenCounter, language: str
) -> Iterator[ContextText]:
    """The text of the book's own part, and that of the chapter's volume."""
    first = found.placed[0]
    has_chapters = any(each.part.kind == "chapter" for each in found.placed)
    if has_chapters or len(found.outline.body(first.part)) <= wanted.space * 2:
        whole = _of_part(found, first, "outline", _("of the whole book"), title=_title("book", language))
        yield _within(whole, wanted.space, counter)
    volume = found.volume_of(wanted.chapter) if wanted.chapter else None
    if volume is not None and volume not in own and found.outline.body(volume.part):
        yield _within(_of_part(found, volume, "outline", _("of the volume")), wanted.space, counter)


def _earlier(found: BookOutline, position: int) -> list[Placed]:
    """Parts that lie entirely before the chapter. A volume's text counts for all its chapters."""
    positions = {each.id: each.position for each in found.chapters}
    last: dict[int, float] = {}
    for at, each in enumerate(found.placed):
        ends = [positions[chapter] for chapter in each.chapters]
        last[at] = max(ends, default=position if each.place is None else each.place)
        last[each.part.parent] = max(last.get(each.part.parent, 0), last[at])
    return [each for at, each in enumerate(found.placed) if each.part.kind != "book" and last[at] < position]


def _is_later(each: Placed, position: int, own: Sequence[Placed]) -> bool:
    return each.part.kind == "chapter" and each not in own and each.place is not None and each.place > position


def _before(
    found: BookOutline,
    wanted: Wanted,
    position: int,
    own: Sequence[Placed],
    counter: TokenCounter,
    language: str,
) -> list[ContextText]:
    """Earlier chapters, one sentence each: as many of the newest as fit, and the number of those left out.

    They are left out in tens, so that the requests of the next chapters begin alike.
    """
    earlier = [each for each in _earlier(found, position) if not _is_blank(found, each)]
    lines: list[str] = []
    space = wanted.space
    for each in reversed(earlier):
        line = _line(found, each, counter, language)
        space -= counter.count(line)
        if space < 0:
            break
        lines.append(line)
    if not lines:
        return []
    if left := len(earlier) - len(lines):
        left = min(-(-left // _STEP) * _STEP, len(earlier) - 1)
        del lines[len(earlier) - left :]
        reason = _("{n} earlier chapters, a sentence each; {m} more do not fit").format(n=len(lines), m=left)
        lines.append(_left_out(left, language))
    else:
        reason = _("{n} earlier chapters, a sentence each").format(n=len(lines))
    title, text = _title("before", language), "\n".join(reversed(lines))
    return [ContextText(URI, title, reason, "L0", "outline", text, position=position)]


def _is_blank(found: BookOutline, each: Placed) -> bool:
    body = each.part.body
    return not found.text[body.start : body.end].strip() and (each.part.kind == "volume" or not each.part.words)


def _line(found: BookOutline, each: Placed, counter: TokenCounter, language: str) -> str:
    """The first sentence of a chapter's beats, with a mark if there is more."""
    body = found.outline.body(each.part).replace(HIDDEN, "…").strip(_LIST_MARKS + "\n")
    first = body.split("\n")[0]
    short = shortened(first, _SENTENCE, counter)
    more = "…" if len(short) < len(body) and not short.endswith("…") else ""
    colon = "：" if language.startswith("zh") else ": "
    return f"- {each.part.title}{colon if short else ''}{short}{more}"


def _left_out(n: int, language: str) -> str:
    if language.startswith("zh"):
        return f"（更早的 {n} 章从略：篇幅所限。）"
    return f"({n} earlier chapters are left out here because they do not fit.)"


def _unassigned(
    found: BookOutline, wanted: Wanted, position: int, is_assigned: bool, language: str
) -> Iterator[ContextText]:
    """Passages that name the chapter's people, from parts that fit no chapter and may belong to this one."""
    if not wanted.names:
        return
    parts = [each for each in found.unassigned if _may_be_here(each, position, is_assigned)]
    first = found.placed[0]
    if len(found.placed) == 1 and len(found.outline.body(first.part)) > wanted.space * 2:
        parts.append(first)
    count = 0
    for each in parts:
        body, at = found.outline.text[each.part.body.start : each.part.body.end], each.part.body.start
        shown = found.outline.veil(body) if found.outline.veil else body
        for line in shown.split("\n"):
            start, at = at, at + len(line) + 1
            named = [name for name in wanted.names if name in line]
            if not named or count >= _MOST_PASSAGES:
                continue
            count += 1
            title = _title("unassigned", language) + (f": {each.part.title}" if each.part.title else "")
            reason = _("not assigned to a chapter; names {names}").format(names=_(", ").join(dict.fromkeys(named)))
            yield ContextText(URI, title, reason, "L2", "outline", line, start=start, end=start + len(line))


def _may_be_here(each: Placed, position: int, is_assigned: bool) -> bool:
    return each.place is None or (each.place == position and not is_assigned)
