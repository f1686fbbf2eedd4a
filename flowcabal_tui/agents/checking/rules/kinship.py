"""Rule: a relative is described as another kind of relative, or as a relative of somebody else, than before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.agents.words import alternatives, word_list, word_table
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.run import Quotation
from flowcabal_tui.locale import _

_WORDS: Final = word_table("rules", "kin")
_KIND: Final = {word: kind for kind, words in word_table("rules", "kinship").items() for word in words.split()}
_INVERSE: Final = {"child": "parent", "parent": "child", "elder": "nephew", "nephew": "elder"}
_WORDS_ZH: Final = "|".join(sorted((word for word in _KIND if not word.isascii()), key=lambda word: -len(word)))
_WORDS_EN: Final = "|".join(word for word in _KIND if word.isascii())
_CLAUSE: Final = late(r"[^，。！？；：,.!?;\n“”\0]{0,4}$")
_MOST: Final = 60
_ADDRESS: Final = word_list("address.zh") | word_list("roles.zh")
_HAN: Final = "[㐀-鿿]"
_NAMED_ZH: Final = f"(?:{alternatives(_WORDS['called'])})"
_PATTERNS_ZH: Final = (
    late(
        rf"(?P<who>{_HAN}{{2,4}})(?:[本原也便就]?是|乃是?|系)(?P<of>{_HAN}{{2,6}})(?:的|之)(?P<kin>{_WORDS_ZH})(?!{_HAN})"
    ),
    late(rf"(?:是|乃是?|系)(?P<of>{_HAN}{{2,6}})(?:的|之)(?P<kin>{_WORDS_ZH})，?{_NAMED_ZH}(?P<who>{_HAN}{{2,4}})"),
    late(
        rf"(?P<of>{_HAN}{{2,4}})[只又还]?有一?[个位](?:[亲胞]?)(?P<kin>{_WORDS_ZH})，?{_NAMED_ZH}(?P<who>{_HAN}{{2,4}})"
    ),
)
_WHO: Final = (
    rf"(?:(?:{alternatives(_WORDS['short_titles'])})\. |(?:{alternatives(_WORDS['titles'])}) )?"
    r"(?:de )?[A-Z][\w’-]+(?: [A-Z][\w’-]+)?"
)
_ELDER: Final = rf"(?:(?:{alternatives(_WORDS['elder'])})[ -]){{0,3}}"
_PATTERNS_EN: Final = (
    late(rf"\b(?P<who>{_WHO}),? (?:(?:is|was) )?(?:the|a) {_ELDER}(?P<kin>{_WORDS_EN}) (?:of|to) (?P<of>{_WHO})"),
    late(rf"\b(?P<who>{_WHO}) (?:is|was) (?P<of>{_WHO})[’']s? {_ELDER}(?P<kin>{_WORDS_EN})\b"),
    late(rf"\b(?P<of>{_WHO})[’']s? {_ELDER}(?P<kin>{_WORDS_EN}),? (?P<who>{_WHO})"),
)


@dataclass(frozen=True, slots=True)
class Kin:
    """`who` is a `kind` of `of`."""

    who: str
    kind: str
    of: str
    start: int
    end: int


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per statement, with the last earlier one that contradicts it, unless an earlier one agrees."""
    narrated = ((kin, chapter.sentence_at(kin.start)) for chapter, kin in book.each(kinship))
    earlier = [*_recorded(book), *narrated]
    for now in kinship(draft)[:_MOST]:
        against = [(before, source) for before, source in earlier if _same(now.who, before.who)]
        if against and not any(_agree(now, before) for before, _source in against):
            other = [source for before, source in against if _contradicts(now, before)]
            if other:
                message = _("The book gave a different kinship before.")
                yield RuleFinding("memory contradiction", message, draft.quoted(now.start, now.end), other[-1])


def _same(one: str, other: str) -> bool:
    """True when both are the same name, whole or in part. Chinese ones may include adjacent words of the sentence."""
    if one == other or (one.isascii() and (one.endswith(f" {other}") or other.endswith(f" {one}"))):
        return True
    pairs, others = ({name[at : at + 2] for at in range(len(name) - 1)} for name in (one, other))
    return not one.isascii() and bool((pairs & others) - _ADDRESS)


def _agree(now: Kin, before: Kin) -> bool:
    return now.kind == before.kind and _same(now.of, before.of)


def _contradicts(now: Kin, before: Kin) -> bool:
    """True for another relative of the same person, or a child of somebody else."""
    if _same(now.of, before.of):
        return now.kind != before.kind
    return now.kind == before.kind == "child"


def kinship(narrated: NarratedText) -> Sequence[Kin]:
    """The kinships that the narration states explicitly."""
    patterns = _PATTERNS_ZH if narrated.language.startswith("zh") else _PATTERNS_EN
    return tuple(
        Kin(match["who"], _KIND[match["kin"]], match["of"], _clause(narrated.text, match.start()), match.end())
        for pattern in patterns
        for match in pattern.finditer(narrated.narration)
    )


def _clause(text: str, place: int) -> int:
    """The start of the clause that contains a place, within a limited distance."""
    least = max(0, place - 4)
    before = _CLAUSE.search(text, least, place)
    return before.start() if before else place


def _recorded(book: EarlierBook) -> Iterator[tuple[Kin, Quotation]]:
    """The relations of the book whose kind is a kinship, in both directions."""
    for relation in book.relations:
        source, target = book.by_id.get(relation.source), book.by_id.get(relation.target)
        kind = next((kind for word, kind in _KIND.items() if word in relation.kind.lower()), None)
        if source is None or target is None or kind is None or not relation.evidence:
            continue
        last = relation.evidence[-1]
        quotation = Quotation(last.sentence, f"manuscript/{last.chapter}", last.start, last.end)
        yield Kin(source.name, kind, target.name, 0, 0), quotation
        yield Kin(target.name, _INVERSE.get(kind, kind), source.name, 0, 0), quotation
