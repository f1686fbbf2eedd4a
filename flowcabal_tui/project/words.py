"""Terms of the domain in the user's language: states, angles, classes, levels, background work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from flowcabal_tui.domain.context import BudgetClass, ContextSource, Intent, SceneField, SceneKind, SceneOrigin
from flowcabal_tui.domain.ids import ChapterId, NodeId
from flowcabal_tui.domain.manuscript import Author, Chapter
from flowcabal_tui.domain.memory import Freshness, KeepKind, Level, MetaName, TaskKind
from flowcabal_tui.domain.model_calls import Role
from flowcabal_tui.domain.outline import Placed
from flowcabal_tui.domain.run import (
    ANGLE_TITLES,
    AngleCheck,
    CallKind,
    CheckAngle,
    NodeState,
    Quote,
    RunState,
    Spend,
    UsualCost,
)
from flowcabal_tui.domain.search import SearchKind
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _, mark, ngettext, sentences

if TYPE_CHECKING:
    from flowcabal_tui.domain.endpoints import Endpoint

_NAMED: Final = 8
"""Maximum number of chapters that one sentence names."""
_SIGNS: Final = {"USD": "$", "CNY": "¥", "EUR": "€", "GBP": "£"}
RUN_STATES: Final[Mapping[RunState, str]] = {
    "running": mark("running"),
    "waiting": mark("waiting for you"),
    "paused": mark("paused"),
    "done": mark("done"),
    "failed": mark("failed"),
    "cancelled": mark("stopped"),
    "interrupted": mark("interrupted"),
}
NODE_STATES: Final[Mapping[NodeState, str]] = {
    "pending": mark("pending"),
    "ready": mark("ready"),
    "running": mark("running"),
    "retrying": mark("waiting to try again"),
    "waiting": mark("waiting for you"),
    "done": mark("done"),
    "frozen": mark("frozen"),
    "failed": mark("failed"),
    "blocked": mark("blocked"),
    "skipped": mark("skipped"),
    "cancelled": mark("stopped"),
}
CALL_KINDS: Final[Mapping[CallKind, str]] = {
    "writing": mark("writing"),
    "checks": mark("checks"),
    "inquiries": mark("inquiries"),
    "scene": mark("question about the scene"),
    "embeddings": mark("search vectors"),
}
ANGLES: Final[Mapping[CheckAngle, str]] = ANGLE_TITLES
SCENE_FIELDS: Final[Mapping[SceneField, str]] = {
    "who": mark("who"),
    "where": mark("where"),
    "when": mark("when"),
    "kind": mark("kind of scene"),
}
SCENE_KINDS: Final[Mapping[SceneKind, str]] = {
    "dialogue": mark("dialogue"),
    "battle": mark("battle"),
    "turn": mark("turning point"),
    "journey": mark("journey"),
    "daily": mark("daily life"),
    "unknown": mark("unknown"),
}
SCENE_ORIGINS: Final[Mapping[SceneOrigin, str]] = {
    "rule": mark("by rule"),
    "model": mark("by the agents' model"),
    "writer": mark("set by you"),
}
CLASSES: Final[Mapping[BudgetClass, str]] = {
    "meta": mark("style and rules"),
    "beats": mark("chapter outline"),
    "outline": mark("outline"),
    "entities": mark("names"),
    "profiles": mark("profiles"),
    "near": mark("previous chapters"),
    "last_meeting": mark("last meeting"),
    "facts": mark("facts"),
    "far": mark("earlier places"),
    "summaries": mark("summaries"),
    "knowledge": mark("similar places"),
    "inquiry": mark("answers"),
}
LEVELS: Final[Mapping[Level, str]] = {
    "L0": mark("one line"),
    "L1": mark("summary"),
    "L2": mark("full text"),
}
METHODS: Final = {
    "model": mark("by a model"),
    "extract": mark("taken from the text"),
    "hand": mark("by hand"),
}
"""Labels for the ways in which a derived text was made."""
AUTHORS: Final[Mapping[Author, str]] = {
    "human": mark("by hand"),
    "model": mark("from a model"),
    "import": mark("imported"),
    "outside": mark("changed outside"),
}
SEARCHED: Final[Mapping[SearchKind, str]] = {
    "chapters": mark("chapters"),
    "entities": mark("names"),
    "text": mark("text"),
    "story": mark("what the story says"),
    "profiles": mark("profiles"),
    "summaries": mark("summaries"),
    "meta": mark("outline, rules"),
    "similar": mark("similar places"),
}
TASKS: Final[Mapping[TaskKind, str]] = {
    "mirror": mark("file in manuscript/"),
    "index": mark("search index"),
    "entities": mark("names"),
    "story": mark("relations, facts, promises"),
    "l1": mark("summary"),
    "l0": mark("summary in one line"),
    "profile": mark("profile"),
    "arc": mark("arcs and the whole work"),
    "check": mark("check against the book"),
    "knowledge": mark("knowledge server"),
}
META: Final[Mapping[MetaName, str]] = {
    "outline": mark("Outline"),
    "style-guide": mark("Style guide"),
    "world-rules": mark("World rules"),
    "notes": mark("Notes"),
}
KEEP_KINDS: Final[Mapping[KeepKind, str]] = {
    "chapter": mark("Chapter"),
    "scene": mark("Scene"),
    "outline": mark("Outline"),
    "note": mark("Note"),
    "entity": mark("Name"),
}
UNPAID: Final = mark("Background work waits for your answer: it would cost money.")
"""The reason of a task that waits because no answer or rule of the user permits its cost."""
TASK_STATES: Final[Mapping[Freshness, str]] = {
    "waiting": mark("queued"),
    "running": mark("running"),
    "fresh": mark("done"),
    "stale": mark("out of date"),
    "failed": mark("failed"),
    "cancelled": mark("stopped"),
}


def inner_title(path: NodeId) -> str:
    """The title of a node that only exists in a run: a candidate of an evolution, or their sifting."""
    last = path.rpartition("/")[2]
    kind, _sign, number = last.partition("-")
    if kind == "candidate" and number.isdigit():
        return _("candidate {n}").format(n=number)
    return _("sifting") if last == "sift" else last


def check_words(check: AngleCheck) -> str:
    """The outcome of one angle, with its reason when it was not checked."""
    found = len(check.findings)
    if check.angle == "rules" and check.outcome == "found":
        verdict = ngettext("{n} finding", "{n} findings", found).format(n=found)
        return _("{angles}: {verdict}").format(angles=_(ANGLES[check.angle]), verdict=verdict)
    outcome = {
        "passed": _("no contradiction found"),
        "found": ngettext("{n} contradiction", "{n} contradictions", found).format(n=found),
        "not checked": _("not checked"),
    }[check.outcome]
    words = _("{angles}: {verdict}").format(angles=_(ANGLES[check.angle]), verdict=outcome)
    return beside(words, check.detail)


def text_stays() -> str:
    """The message after a keep was undone without a change of the chapter's text."""
    return _(
        "The text of the chapter stays as it is, because it was edited or kept again later. In the manuscript, `V` "
        "lists its versions: choose the one before the keep, and `a` restores it."
    )


def beside(words: str, more: str) -> str:
    """Words followed by others in brackets; "" for none."""
    return _("{words} ({more})").format(words=words, more=more) if more else words


def counting_words(counted_by: str) -> str:
    """The token counter of a receipt."""
    return _("counted with {name}").format(name=counted_by) if counted_by else _("estimated")


def level_words(source: ContextSource) -> str:
    """The form in which a source was included: "full text" only for a complete text."""
    if source.level != "L2":
        return _(LEVELS[source.level])
    if source.kept < source.of:
        return _("shortened: {n:,} of {m:,} characters").format(n=source.kept, m=source.of)
    return _("passage") if source.start >= 0 and not source.of else _(LEVELS[source.level])


def money(amount: Decimal | None, currency: str) -> str:
    """An amount with its currency sign, such as ¥0.06, rounded up to two decimals, or to four below 0.01."""
    if amount is None:
        return _("unknown")
    least = Decimal("0.01") if not amount or amount >= Decimal("0.01") else Decimal("0.0001")
    words = f"{amount.quantize(least, rounding='ROUND_UP'):,f}"
    return f"{_SIGNS[currency]}{words}" if currency in _SIGNS else f"{words} {currency}".rstrip()


def paid_models(models: Iterable[tuple[Role, Endpoint]], *roles: Role) -> str:
    """The names of the models with these roles, without those that are free; "" if none of them is paid."""
    paid = (endpoint.model for role, endpoint in models if role in roles and not endpoint.free_as(role))
    return _(", ").join(dict.fromkeys(map(clean_line, paid)))


def price_lines(models: str, likely: str, most: str) -> list[str]:
    """The model, the likely price and the highest one: the same lines precede every paid action."""
    lines = [_("Model: {names}").format(names=models)] if models else []
    return [*lines, _("Likely: {spend}").format(spend=likely), _("At most: {spend}").format(spend=most)]


def spend_lines(quote: Quote, *, asks: bool = True, models: str = "") -> list[str]:
    """The lines of a price, and the parts without a limit. `asks`: of a run, which asks at `Quote.pause`; that is shown
    as its highest price."""
    kept = _("When the output is kept, background work is likely to cost {spend}.")
    keeping = [kept.format(spend=spend_words(quote.keeping, quote.currency))] if quote.keeping else []
    if quote.is_free:
        return [*quote.warnings, _("It is free."), *keeping]
    pause, most = quote.pause if asks else None, _("unknown")
    if pause is not None:
        tokens = _("{n} tokens").format(n=f"{pause.tokens or 0:,}")
        most = tokens if pause.cost is None or not pause.currency else money(pause.cost, pause.currency)
    elif quote.most is not None:
        most = spend_words(quote.most, quote.currency)
    *model, likely, bound = price_lines(models, spend_words(quote.likely, quote.currency), most)
    highest = [bound] if pause is None else [bound, _("You are asked before it can cost more than this.")]
    lines = [*quote.warnings, *model]
    lines += [likely, *highest] if quote.usual is None else [usual_words(quote.usual, quote.currency)]
    if len(quote.lines) > 1:
        most_calls = ["" if pause else f"–{line.most.calls:,}" for line in quote.lines]
        parts = [
            f"{_(CALL_KINDS[line.kind])} {line.likely.calls:,}{more}"
            for line, more in zip(quote.lines, most_calls, strict=True)
        ]
        lines.append(_("Calls: {parts}").format(parts=_(", ").join(parts)))
    return [*lines, *(highest if quote.usual else ()), *quote.open_ends, *keeping]


def usual_words(usual: UsualCost, currency: str) -> str:
    """The usual cost range of comparable runs."""
    low, high = money(usual.low, currency), money(usual.high, currency)
    spend = low if low == high else f"{low}–{high}"
    return _("Usually: {spend} (the last {n} runs)").format(spend=spend, n=usual.runs)


def calls_words(calls: int) -> str:
    """The number of model calls, in words."""
    return ngettext("{n} call", "{n} calls", calls).format(n=f"{calls:,}")


def sum_words(costs: Iterable[tuple[Decimal | None, str]]) -> str:
    """The sum of several costs, one sum per currency; unknown if one of them is."""
    sums: dict[str, Decimal] = {}
    for cost, currency in costs:
        if cost is None:
            return _("unknown (no price is set)")
        sums[currency] = sums.get(currency, Decimal(0)) + cost
    return _(", ").join(money(cost, currency) for currency, cost in sums.items())


def cost_words(cost: Decimal | None, currency: str) -> str:
    """The amount of money, or the words for an unknown cost."""
    return _("cost unknown") if cost is None else money(cost, currency)


def total_words(calls: int, tokens: int, cost: Decimal | None, currency: str) -> str:
    """Calls, tokens in and out together, and their cost."""
    words = _("{calls}, {tokens} tokens, {cost}")
    return words.format(calls=calls_words(calls), tokens=f"{tokens:,}", cost=cost_words(cost, currency))


def spend_words(spend: Spend, currency: str) -> str:
    """The money if it is known, with calls and tokens."""
    tokens = _("{calls}, {n:,} tokens in, {out:,} out")
    words = tokens.format(calls=calls_words(spend.calls), n=spend.input_tokens, out=spend.output_tokens)
    return beside(money(spend.cost, currency), words) if spend.cost is not None and currency else words


def unsaved_words(chapters: Sequence[Chapter]) -> str:
    """A sentence that names the chapters with unsaved text, in story order; "" when there are none."""
    if not chapters:
        return ""
    named = _(", ").join(f"{chapter.position} {clean_line(chapter.title)}".strip() for chapter in chapters[:_NAMED])
    more = " " + _("and {n} more").format(n=len(chapters) - _NAMED) if len(chapters) > _NAMED else ""
    return _("Unsaved text in: {chapters}.").format(chapters=named + more)


def scene_words(intent: Intent) -> dict[SceneField, str]:
    """Who, where, when and the kind of scene, as a receipt shows them; "-" for an unknown value."""
    return {
        "who": _(", ").join(intent.entities) or "-",
        "where": intent.where or "-",
        "when": intent.when or "-",
        "kind": _(SCENE_KINDS[intent.scene]),
    }


def belongs(placed: Placed, titles: Mapping[ChapterId, str]) -> str:
    """The volume or chapter of a part of the outline; `titles` are those of the chapters, as displayed."""
    if placed.part.kind == "volume":
        return _("volume {name}").format(name=clean_line(placed.volume)) if placed.volume else _("volume")
    if placed.chapters:
        return _(", ").join(titles[chapter] for chapter in placed.chapters)
    return _("a chapter not yet written") if placed.planned else _("not assigned")


def network_words(file_system: str) -> tuple[str, str]:
    """The message about a project on a network file system, and the advice."""
    words = _(
        "The project is on a network file system ({name}). Saving is slower there and waits for programs that read the "
        "project. If the connection breaks during a save, the newest changes can be lost."
    )
    advice = _("Keep the project on a disk of this machine; `flowcabal-tui backup PROJECT` copies it elsewhere.")
    return words.format(name=clean_line(file_system)), advice


def skipped_words(what: str, count: int) -> str:
    """The message that a list leaves out damaged rows, and the command that lists the intact ones."""
    words = ngettext(
        "{n} entry cannot be read and is left out ({what}).",
        "{n} entries cannot be read and are left out ({what}).",
        count,
    )
    advice = _("They stay in the database unchanged; `flowcabal-tui rescue PROJECT` lists the intact entries.")
    return sentences(words.format(n=count, what=_(what)), advice)
