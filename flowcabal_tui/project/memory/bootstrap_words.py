"""The price and the progress of a reading of imported chapters in words."""

from __future__ import annotations

from decimal import Decimal

from flowcabal_tui.domain.memory import BootstrapQuote, BootstrapStatus
from flowcabal_tui.domain.text import FACTS_APART
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.words import calls_words, money, price_lines


def quoted(quote: BootstrapQuote) -> str:
    """The quote in one line."""
    likely = _("{chapters} chapters: likely {calls} calls, {tokens} tokens, {cost}").format(
        chapters=quote.chapters,
        calls=f"{quote.likely_calls:,}",
        tokens=f"{quote.likely_tokens:,}",
        cost=_money(quote.likely_cost, quote.currency),
    )
    if quote.seconds is not None:
        likely += _(", about {time}").format(time=_duration(quote.seconds))
    most = _("at most {calls} calls, {sent} tokens in, {received} out, {cost}").format(
        calls=f"{quote.calls:,}",
        sent=f"{quote.input_tokens:,}",
        received=f"{quote.output_tokens:,}",
        cost=_money(quote.cost, quote.currency),
    )
    return _("{likely}; {most}").format(likely=likely, most=most)


def reading_lines(quote: BootstrapQuote, models: str) -> list[str]:
    """The lines with the price of a reading that precede every paid action."""
    words, about = _("{calls}, {tokens} tokens, {cost}"), ""
    most_tokens = quote.input_tokens + quote.output_tokens
    if quote.seconds is not None:
        about = _(", about {time}").format(time=_duration(quote.seconds))
    likely = words.format(calls=calls_words(quote.likely_calls), tokens=f"{quote.likely_tokens:,}",
                          cost=_money(quote.likely_cost, quote.currency))  # fmt: skip
    most = words.format(
        calls=calls_words(quote.calls), tokens=f"{most_tokens:,}", cost=_money(quote.cost, quote.currency)
    )
    chapters = ngettext("{n} chapter", "{n} chapters", quote.chapters).format(n=quote.chapters)
    return [chapters, *price_lines(models, likely + about, most)]


def _money(cost: Decimal | None, currency: str) -> str:
    return _("cost unknown") if cost is None else money(cost, currency)


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 60:
        return _("{n} min").format(n=minutes)
    return _("{h} h {n} min").format(h=minutes // 60, n=minutes % 60)


def progress_words(status: BootstrapStatus) -> str:
    """The progress, in one line."""
    parts = [_("{done} of {total} steps").format(done=status.done, total=status.total)]
    if status.failed:
        parts.append(_("{n} failed").format(n=status.failed))
    parts.append(calls_words(status.spent.calls))
    parts.append(_money(status.spent.cost, status.spent.currency))
    if status.seconds_left is not None:
        parts.append(_("about {time} left").format(time=_duration(status.seconds_left)))
    if status.state == "paused":
        parts.append(_("paused") + (f": {status.reason}" if status.reason else ""))
    if status.state == "dropped":
        parts.append(_("given up"))
    return FACTS_APART.join(parts)
