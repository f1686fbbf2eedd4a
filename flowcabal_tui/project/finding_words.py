"""The user's words for findings: the check that raised one, its certainty, its usefulness."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from flowcabal_tui.agents.checking.rules.registry import RULES
from flowcabal_tui.agents.checking.taxonomy import CLASSES
from flowcabal_tui.domain.comments import COMMENT_KINDS
from flowcabal_tui.domain.findings import CheckRate, CheckReport
from flowcabal_tui.domain.proposals import Finding, Proposal
from flowcabal_tui.domain.run import RuleName
from flowcabal_tui.domain.text import FACTS_APART, clean_line
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.project.words import ANGLES

_RULES: Final = {rule.name: rule.title for rule in RULES}

_SHORT: Final[dict[RuleName, str]] = {
    "dead-acts": mark("a dead person"),
    "name-drift": mark("spelling of a name"),
    "introductions": mark("introduction"),
    "repeated": mark("repeated sentence"),
    "quote-marks": mark("quotation marks"),
    "ages": mark("age"),
    "looks": mark("appearance"),
    "bodily-marks": mark("scar or mole"),
    "colours": mark("colour"),
    "others": mark("thing, animal, season"),
    "possession": mark("possession"),
    "amounts": mark("number"),
    "sides": mark("direction or side"),
    "kinship": mark("kinship"),
    "leftovers": mark("words of a model"),
    "latin": mark("Latin letters"),
}
"""The rules in a list, where each row would say that something does not agree."""


def check_titles() -> dict[str, str]:
    """The titles, not translated, of rules and angles by their names, and of what an angle finds."""
    titles = {str(name): title for name, title in (*_RULES.items(), *ANGLES.items())}
    return (
        titles | {"impact": mark("depends on a change")} | {each: each for group in CLASSES.values() for each in group}
    )


def check_title(check: str) -> str:
    """A rule or an angle of the Monitor, by its name."""
    known = check_titles()
    return _(known[check]) if check in known else clean_line(check)


def finding_title(proposal: Proposal) -> str:
    """The kind of a finding: the rule, or the subtype that a model named."""
    after = proposal.difference.after
    if proposal.origin.by == "reader":
        return _("note of {reader}").format(reader=clean_line(proposal.origin.maker))
    if proposal.origin.by == "agent" and isinstance(after, Finding) and after.subtype:
        return clean_line(_(after.subtype))
    return check_title(proposal.origin.maker)


def finding_subject(proposal: Proposal) -> str:
    """The kind of a finding in few words, for a list."""
    short = {str(name): words for name, words in _SHORT.items()}.get(proposal.origin.maker)
    return _(short) if short and proposal.origin.by == "rule" else finding_title(proposal)


def sureness(proposal: Proposal) -> str:
    """ "sure" or "check"; for a reader's note, its kind."""
    after = proposal.difference.after
    if not isinstance(after, Finding):
        return ""
    if proposal.origin.by == "reader":
        return "".join(_(words) for kind, words in COMMENT_KINDS.items() if kind == after.subtype)
    return _("sure") if after.sure else _("check")


def explained(proposal: Proposal) -> str:
    """The explanation in the user's language; for a reader's note, its text."""
    after = proposal.difference.after
    if not isinstance(after, Finding) or not after.explanation:
        return ""
    return after.explanation if proposal.origin.by == "reader" else _(after.explanation)


def age(at: datetime, now: datetime) -> str:
    """The age, in the largest whole unit."""
    seconds = max(0, int(now.timestamp() - at.timestamp()))
    for size, words in ((86_400, _("{n} d")), (3_600, _("{n} h")), (60, _("{n} min"))):
        if seconds >= size:
            return words.format(n=seconds // size)
    return _("now")


def rate_words(rate: CheckRate) -> str:
    """The number of findings of a check with an outcome, and of those that were not useful."""
    words = ngettext(
        "{check}: {useless} of {n} was not useful", "{check}: {useless} of {n} were not useful", rate.settled
    )
    return words.format(check=check_title(rate.check), useless=rate.useless, n=rate.settled)


def compared_words(report: CheckReport) -> str:
    """The number of sentences that rules and models compared in the checked chapters, and the rules that are off."""
    rules, model = report.compared_by_rules, report.compared_by_model
    parts = []
    if rules.statements:
        parts.append(_("sentences read by rule: {n}").format(n=rules.statements))
    if model.statements:
        message = _("statements judged by a model: {n}, in {pairs} pairs with {m} passages of the book")
        parts.append(message.format(n=model.statements, pairs=model.pairs, m=model.passages))
    if report.off:
        names = _(", ").join(check_title(each) for each in report.off)
        parts.append(_("rules that are off: {names}").format(names=names))
    return FACTS_APART.join(parts)


def report_words(report: CheckReport) -> str:
    """The number of chapters whose present text the rules and a model have read, and the number of unread ones."""
    parts = [
        _("read by rule: {n} of {total} chapters").format(n=report.by_rules, total=report.written),
        _("by a model: {n}").format(n=report.by_model),
    ]
    if report.unread:
        parts.append(_("not read: {n}").format(n=len(report.unread)))
    if skipped := len({chapter for chapter, _check in report.not_checked}):
        parts.append(_("read in part: {n}").format(n=skipped))
    return FACTS_APART.join(parts)
