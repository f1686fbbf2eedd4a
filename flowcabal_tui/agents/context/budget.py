"""The token budget: each class has a share, the unused rest passes on, and each rejection is recorded with its rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.agents.context.candidates import HIDDEN, ContextText, preamble
from flowcabal_tui.agents.context.repeats import repeats
from flowcabal_tui.agents.context.shares import ALWAYS, RENDERED
from flowcabal_tui.agents.tokens import cut
from flowcabal_tui.domain.context import BudgetClass, ClassUse, ContextSource, DroppedSource
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.prompt_parts import PartKey, closing, opening
from flowcabal_tui.locale import _

_WHOLE: Final[tuple[BudgetClass, ...]] = ("beats", "outline")
"""Classes that may use the whole budget, because they have few candidates."""
_OWN_SHARE: Final[frozenset[BudgetClass]] = frozenset({"knowledge"})
"""Classes that get no unused rest of earlier classes until the far past has been filled."""
_META_LEAST: Final = 2_000
"""Least tokens for the writer's notes, but at most half of the budget: a small context needs the style guide most."""
_TRIES: Final = 3
_GIVING: Final[frozenset[BudgetClass]] = frozenset({"far", "summaries"})
"""Classes whose shares are reduced if the notes exceed theirs."""
_LEAST_CUT: Final = 60
_ROUNDING: Final = 8
"""Tokens by which the count of a block may differ from the sum of its parts."""
_LEAST_REST: Final = 80
_MOST_DROPPED: Final = 80


@dataclass(frozen=True, slots=True)
class IncludedSource:
    """An included candidate, and its tokens with heading and joins."""

    candidate: ContextText
    tokens: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A rejected candidate and the rule; `for_space` is True if a larger budget would have included it."""

    candidate: ContextText
    rule: str
    for_space: bool = False


class Ledger:
    """Takes candidates, class by class, within the budget.

    `reserve` is the fraction of the budget that is used only after `close`: the texts taken until then do not depend on
    later additions, so they are the same for every node of a chapter.
    """

    def __init__(
        self,
        budget: int,
        counter: TokenCounter,
        language: str,
        shares: Mapping[BudgetClass, float],
        reserve: float = 0.0,
    ) -> None:
        self._whole, self._counter, self._language = budget, counter, language
        self._budget = budget = int(budget * (1 - reserve))
        self._closed: int | None = None
        self._shares = {name: int(budget * share) for name, share in shares.items()}
        if "meta" in self._shares:
            self._raise_meta(min(_META_LEAST, budget // 2))
        self._used = dict.fromkeys(self._shares, 0)
        self._taken = Counter[PartKey]()
        self._headed: set[tuple[str, str, str]] = set()
        self._chosen: list[IncludedSource] = []
        self._dropped: list[Refused] = []
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._levels: dict[str, str] = {}
        self._waiting: list[ContextText] = []
        self._reduced: list[tuple[ContextText, ContextText]] = []
        self._carry = self._saved = 0
        self._charged: set[BudgetClass] = set()
        self._frame = counter.count(f"{preamble(language)}\n\n\n")

    def drop(self, candidate: ContextText, rule: str, *, for_space: bool = False) -> None:
        """Records that a candidate is left out, and the reason."""
        self._dropped.append(Refused(candidate, rule, for_space))

    def charge(self, name: BudgetClass, tokens: int) -> None:
        """Books tokens that are spent already."""
        self._used[name] = self._used.get(name, 0) + tokens
        self._carry += self._shares.get(name, 0) - tokens
        self._charged.add(name)

    def fill(self, name: BudgetClass, candidates: Iterable[ContextText]) -> None:
        """Fills one class up to its share plus the rest of the classes before it."""
        if name not in self._shares or name in self._charged:
            return
        passed_on = self._carry if name in _OWN_SHARE else 0
        share = self._shares[name] + self._carry - passed_on
        space = self.left if name in _WHOLE else min(share, self.left)
        before = self._used[name]
        for candidate in candidates:
            spent = self._used[name] - before
            if not self._take(candidate, space - spent):
                self._waiting.append(candidate)
        self._carry = passed_on + min(share, space) - (self._used[name] - before)
        if name == "far":
            self._pass_on()

    def _pass_on(self) -> None:
        """Offers the budget left over by the far past to classes limited to their own share."""
        waiting, self._waiting = self._waiting, []
        for candidate in waiting:
            before = sum(self._used.values())
            is_open = candidate.budget_class in _OWN_SHARE
            if not (is_open and self._take(candidate, min(self._carry, self.left))):
                self._waiting.append(candidate)
            self._carry -= sum(self._used.values()) - before

    def hold(self, uri: str, start: int, end: int) -> None:
        """Records a part of a chapter that the prompt already contains outside of the classes."""
        self._spans.setdefault(uri, []).append((start, end))

    def spend_rest(self) -> None:
        """Offers the unused budget to texts that were reduced, then to those over their share, then to excerpts.

        Excerpts become whole passages by rank, and the last pages begin earlier. Candidates that still wait are
        dropped.
        """
        reduced, self._reduced = self._reduced, []
        for whole, taken in reduced:
            self._enlarge(whole, taken)
        self._offer_waiting()
        if self._waiting:
            self._recount()
            self._offer_waiting()
        excerpts = (at for at, one in enumerate(self._chosen) if one.candidate.larger is not None)
        for at in sorted(excerpts, key=lambda at: self._chosen[at].candidate.rank):
            self._grow(at)
        for candidate in self._waiting:
            self.drop(candidate, _("over the share of its class"), for_space=True)
        self._waiting = []

    def close(self) -> int:
        """Ends the stable part; returns its length in the user suffix.

        Later additions may use the whole remaining budget, except the tokens of repetitions that were removed.
        """
        self.render()
        self._drop_repeats(0)
        self._drop_introductions()
        self._closed, self._budget = len(self._chosen), self._whole
        self._headed.clear()
        return len(self._user_suffix())

    def _drop_repeats(self, fixed: int) -> None:
        """Removes derived texts and sentences of them that the context has twice, except in the first `fixed` texts."""
        found = repeats([one.candidate for one in self._chosen], fixed, self._language)
        for at, rest, rule in sorted(found, key=lambda each: -each[0]):
            one = self._chosen[at]
            if rest is None:
                self._give_up(one, rule)
                self._saved += one.tokens
                continue
            less = self._counter.count(one.candidate.text) - self._counter.count(rest.text)
            self._chosen[at] = IncludedSource(rest, one.tokens - less)
            self._used[rest.budget_class] -= less
            self._saved += less

    def add(self, candidates: Iterable[ContextText]) -> None:
        """Adds candidates after the stable texts, as far as they fit."""
        for candidate in candidates:
            if not self._take(candidate, self.left):
                self.drop(candidate, _("over the whole budget"), for_space=True)
        self._drop_repeats(self._closed or 0)

    @property
    def left(self) -> int:
        """The unused tokens of the whole budget."""
        return self._budget - self._frame - self._saved - sum(self._used.values())

    def render(self) -> tuple[str, str]:
        """Returns system prefix and user suffix, without the last additions until both fit the budget as a whole."""
        while True:
            if self._closed is None:
                self._drop_introductions()
            prefix, suffix = self._system_prefix(), self._user_suffix()
            spent = self._used.get("inquiry", 0)
            if self.measure(prefix, suffix) + spent <= self._budget or not self._chosen:
                return prefix, suffix
            self._give_up(self._chosen[-1], _("over the whole budget"), for_space=True)

    def _give_up(self, last: IncludedSource, rule: str, *, for_space: bool = False) -> None:
        self._chosen.remove(last)
        self._taken[last.candidate.part] -= 1
        self._used[last.candidate.budget_class] -= last.tokens
        self.drop(last.candidate, rule, for_space=for_space)

    def _drop_introductions(self) -> None:
        """Removes introductions of texts that were not included."""
        for one in [one for one in self._chosen if one.candidate.introduces]:
            texts = [other.candidate for other in self._chosen]
            texts = [each for each in texts if each.budget_class == one.candidate.budget_class]
            if not any(each.uri.startswith(one.candidate.introduces) for each in texts):
                self._give_up(one, _("nothing that it introduces was included"))

    def measure(self, prefix: str, suffix: str) -> int:
        """The tokens of the two texts with the line breaks that join them to the prompt; 0 for empty texts."""
        return sum(self._counter.count(f"{text}\n") for text in (prefix, suffix) if text)

    def sources(self) -> tuple[ContextSource, ...]:
        """The included sources, in the order of the text."""
        order = ("meta", *RENDERED)
        by_relevance = sorted(
            self._chosen, key=lambda one: (one.candidate.budget_class not in ALWAYS, one.candidate.rank)
        )
        ranks = {id(one): rank for rank, one in enumerate(by_relevance, start=1)}
        chosen = sorted(self._chosen, key=lambda each: (order.index(each.candidate.budget_class), *_place(each)))
        return tuple(
            ContextSource(
                each.uri,
                each.reason,
                each.level,
                one.tokens,
                each.budget_class,
                each.title or each.label,
                each.start,
                each.end,
                ranks[id(one)],
                kept=len(each.text) - each.text.count(HIDDEN) if each.of else 0,
                of=each.of,
            )
            for one, each in ((one, one.candidate) for one in chosen)
        )

    def dropped(self) -> tuple[tuple[DroppedSource, ...], int]:
        """The rejected candidates, and the number of further ones that are not listed."""
        shown = ((one.candidate, one.rule) for one in self._dropped[:_MOST_DROPPED])
        listed = tuple(
            DroppedSource(each.uri, rule, self._counter.count(each.text), each.budget_class, each.title or each.label)
            for each, rule in shown
        )
        return listed, len(self._dropped) - len(listed)

    @property
    def leaves_out(self) -> bool:
        """True when there was no space for a candidate, or only for a part of it."""
        refused = any(each.for_space for each in self._dropped)
        return refused or any(self._lacks(one.candidate) for one in self._chosen)

    def _lacks(self, candidate: ContextText) -> bool:
        """True for a shortened text; for the end of a chapter, only if the part before it is not included elsewhere."""
        if candidate.cut != "end":
            return bool(candidate.cut)
        covered = 0
        for start, end in sorted(self._spans.get(candidate.uri, ())):
            if start - covered >= _LEAST_REST:
                return True
            covered = max(covered, end)
        return False

    def classes(self) -> tuple[ClassUse, ...]:
        return tuple(ClassUse(name, share, self._used[name]) for name, share in self._shares.items())

    def _raise_meta(self, least: int) -> None:
        """Gives the notes at least `least` tokens, taken equally from the far past and the summaries."""
        more = max(0, least - self._shares["meta"])
        self._shares["meta"] += more
        for name in _GIVING & self._shares.keys():
            self._shares[name] = max(0, self._shares[name] - more // len(_GIVING))

    def _offer_waiting(self) -> None:
        self._waiting = [each for each in self._waiting if not self._take(each, self.left)]

    def _recount(self) -> None:
        """Replaces the sum of the parts, each rounded up, by the smaller count of the whole texts."""
        spent = self.measure(self._system_prefix(), self._user_suffix()) + self._used.get("inquiry", 0)
        self._frame -= max(0, self._budget - spent - self.left)

    def _grow(self, at: int) -> None:
        """Extends an excerpt to more of its passage, or the last pages backwards, as far as there is space."""
        chosen = self._chosen[at]
        taken = chosen.candidate
        if (larger := taken.larger) is None:
            return
        spans = self._spans[taken.uri]
        start = max(larger.start, *(end for _start, end in spans if end <= taken.start), 0)
        end = min(larger.end, *(start for start, _end in spans if start >= taken.end), larger.end)
        text = larger.text[start - larger.start : end - larger.start]
        if taken.cut:
            space = max(0, self._counter.count(taken.text) + self.left - _ROUNDING)
            start += cut(text, space, self._counter, keep_end=True).start
            text = larger.text[start - larger.start : end - larger.start]
        grown = replace(larger, text=text, start=start, end=end, cut=taken.cut if start > larger.start else "")
        if taken.cut:
            more = self._counter.count(grown.block(self._language)) - self._counter.count(taken.block(self._language))
        else:
            more = self._counter.count(grown.continued) - self._counter.count(taken.continued)
        if len(grown.text) <= len(taken.text) or more > self.left:
            return
        self._chosen[at] = IncludedSource(grown, chosen.tokens + more)
        self._used[taken.budget_class] += more
        spans.remove((taken.start, taken.end))
        spans.append((start, end))

    def _take(self, candidate: ContextText, space: int) -> bool:
        """True when the candidate is settled: included, included in a smaller form, or a duplicate."""
        rest = self._not_yet_there(candidate)
        if rest is None:
            self.drop(candidate, _("already included"))
            return True
        is_there = candidate.budget_class == "meta" or self._taken[candidate.part]
        extra = 0 if is_there else self._counter.count(f"{self._section(candidate.part)}\n")
        is_headed = rest.start >= 0 and not rest.cut and _heading(rest) in self._headed
        tokens = self._counter.count(rest.continued if is_headed else rest.block(self._language)) + extra
        if tokens > space and rest.cuttable:
            rest, tokens = self._fitted(rest, space, extra)
        if tokens <= space and rest.text:
            self._book(rest, tokens)
            if len(rest.text) < len(candidate.text) and candidate.cuttable:
                self._reduced.append((candidate, rest))
            return True
        if candidate.smaller is not None and self._take(candidate.smaller, space):
            self.drop(candidate, _("a lower level was chosen: over the share of its class"), for_space=True)
            if self._chosen[-1].candidate is candidate.smaller:
                self._reduced.append((candidate, candidate.smaller))
            return True
        return False

    def _enlarge(self, whole: ContextText, taken: ContextText) -> None:
        """Replaces the part or lower level that was `taken` by as much of `whole` as fits."""
        chosen = next(one for one in self._chosen if one.candidate is taken)
        self._chosen.remove(chosen)
        self._taken[taken.part] -= 1
        self._used[taken.budget_class] -= chosen.tokens
        self._levels.pop(taken.uri, None)
        if taken.start >= 0:
            self._spans[taken.uri].remove((taken.start, taken.end))
            self._headed.discard(_heading(taken))
        dropped, self._dropped = self._dropped, [each for each in self._dropped if each.candidate is not whole]
        if not self._take(whole, self.left):
            self._dropped = dropped
            self._book(taken, chosen.tokens)

    def _fitted(self, candidate: ContextText, space: int, extra: int) -> tuple[ContextText, int]:
        """As much of a text as fits, and its tokens; tokens of the surrounding text may exceed the estimate."""
        over = 0
        for _try in range(_TRIES):
            rest = self._shortened(candidate, space - extra - over)
            tokens = self._counter.count(rest.block(self._language)) + extra
            if tokens <= space or not rest.text:
                break
            over += tokens - space
        return rest, tokens

    def _shortened(self, candidate: ContextText, space: int) -> ContextText:
        of = candidate.of or len(candidate.text)
        shorter = replace(
            candidate, of=of, cut="beginning", reason=_("{why}; shortened to fit").format(why=candidate.reason)
        )
        frame = self._counter.count(replace(shorter, text="x" * _LEAST_CUT).block(self._language)) - _LEAST_CUT // 4
        if space - frame < _LEAST_CUT:
            return replace(candidate, text="")
        span = cut(candidate.text, space - frame, self._counter)
        base = max(0, candidate.start)
        return replace(shorter, text=candidate.text[: span.end], start=base, end=base + span.end)

    def _book(self, candidate: ContextText, tokens: int) -> None:
        self._chosen.append(IncludedSource(candidate, tokens))
        self._taken[candidate.part] += 1
        self._used[candidate.budget_class] += tokens
        if candidate.level == "L2" and candidate.start >= 0:
            if not candidate.cut:
                self._headed.add(_heading(candidate))
            self._spans.setdefault(candidate.uri, []).append((candidate.start, candidate.end))
        else:
            self._levels[candidate.uri] = max(self._levels.get(candidate.uri, ""), candidate.level)

    def _not_yet_there(self, candidate: ContextText) -> ContextText | None:
        """The candidate without text that is already included; None when nothing of substance is left."""
        if candidate.level <= self._levels.get(candidate.uri, ""):
            return None
        if candidate.level != "L2" or candidate.start < 0:
            return candidate
        start, end = candidate.start, candidate.end
        for taken_start, taken_end in sorted(self._spans.get(candidate.uri, ())):
            if taken_start <= start < taken_end:
                start = taken_end
            elif start < taken_start < end:
                end = taken_start
        if start == candidate.start and end == candidate.end:
            return candidate
        if end - start < _LEAST_REST:
            return None
        text = candidate.text[start - candidate.start : end - candidate.start]
        return replace(candidate, text=text, start=start, end=end)

    def _section(self, key: PartKey, texts: str = "") -> str:
        return f"{opening(key, self._language)}{texts}{closing(key)}"

    def _system_prefix(self) -> str:
        notes = (one.candidate for one in self._chosen if one.candidate.budget_class == "meta")
        return "".join(each.block(self._language) for each in notes).rstrip("\n")

    def _parts_of(self, chosen: Sequence[IncludedSource]) -> Iterator[str]:
        for is_secret in (False, True):
            if found := [one.candidate for one in chosen if one.candidate.is_secret is is_secret]:
                yield self._section(found[0].part, _texts(found, self._language))

    def _user_suffix(self) -> str:
        parts: list[str] = []
        for name in RENDERED:
            stable = self._chosen[: self._closed]
            parts += self._parts_of(sorted((one for one in stable if one.candidate.budget_class == name), key=_place))
        if self._closed is not None and (added := self._chosen[self._closed :]):
            by_class = sorted(added, key=lambda one: (RENDERED.index(one.candidate.budget_class), *_place(one)))
            if texts := _texts([one.candidate for one in by_class if not one.candidate.is_secret], self._language):
                parts.append(self._section("besides", texts))
            parts += self._parts_of([one for one in by_class if one.candidate.is_secret])
        return "\n".join((preamble(self._language), *parts)) if parts else ""


def _heading(candidate: ContextText) -> tuple[str, str, str]:
    """The key of a candidate's title; parts with an equal key share one title in the prompt (`ContextText.follows`)."""
    return candidate.budget_class, candidate.uri, candidate.title


def _texts(candidates: Sequence[ContextText], language: str) -> str:
    """The candidates of a class in order; parts of one chapter share a title."""
    shown: list[ContextText] = []
    for each in candidates:
        if shown and each.follows(shown[-1]):
            shown[-1] = replace(each, text=f"{shown[-1].text.strip()}\n\n{each.text.strip()}")
        else:
            shown.append(each)
    return "".join(each.block(language) for each in shown).rstrip("\n")


def _place(chosen: IncludedSource) -> tuple[int, int, str]:
    """The sort key of story order; texts without a chapter are sorted by uri."""
    return chosen.candidate.position, chosen.candidate.start, chosen.candidate.uri
