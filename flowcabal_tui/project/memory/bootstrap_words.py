"""The price and the progress of a reading of imported chapters in words."""

from __future__ import annotations

from flowcabal_tui.domain.memory import BootstrapQuote, BootstrapStatus
from flowcabal_tui.domain.text import FACTS_APART
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.words import calls_words, cost_words, price_lines, total_words


def quoted(quote: BootstrapQuote) -> str:
    """The quote in one line."""
    likely = _("{chapters} chapters: likely {calls} calls, {tokens} tokens, {cost}").format(
        chapters=quote.chapters,
        calls=f"{quote.likely_calls:,}",
        tokens=f"{quote.likely_tokens:,}",
        cost=cost_words(quote.likely_cost, quote.currency),
    )
    if quote.seconds is not None:
        likely += _(", about {time}").format(time=_duration(quote.seconds))
    most = _("at most {calls} calls, {sent} tokens in, {received} out, {cost}").format(
        calls=f"{quote.calls:,}",
        sent=f"{quote.input_tokens:,}",
        received=f"{quote.output_tokens:,}",
        cost=cost_words(quote.cost, quote.currency),
    )
    return _("{likely}; {most}").format(likely=likely, most=most)


def reading_lines(quote: BootstrapQuote, models: str) -> list[str]:
    """The lines with the price of a reading that precede every paid action."""
    likely = total_words(quote.likely_calls, quote.likely_tokens, quote.likely_cost, quote.currency)
    if quote.seconds is not None:
        likely += _(", about {time}").format(time=_duration(quote.seconds))
    most = total_words(quote.calls, quote.input_tokens + quote.output_tokens, quote.cost, quote.currency)
    chapters = ngettext("{n} chapter", "{n} chapters", quote.chapters).format(n=quote.chapters)
    return [chapters, *price_lines(models, likely, most)]


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
    parts.append(cost_words(status.spent.cost, status.spent.currency))
    if status.seconds_left is not None:
        parts.append(_("about {time} left").format(time=_duration(status.seconds_left)))
    if status.state == "paused":
        parts.append(_("paused") + (f": {status.reason}" if status.reason else ""))
    if status.state == "dropped":
        parts.append(_("cancelled"))
    return FACTS_APART.join(parts)
