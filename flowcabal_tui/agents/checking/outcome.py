"""The outcome by angle: findings, and the angles that were not checked, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flowcabal_tui.agents.checking.defence import Settled
from flowcabal_tui.agents.checking.judged import Judgement
from flowcabal_tui.domain.quoting import quoted
from flowcabal_tui.domain.run import ANGLE_TITLES, Angle, AngleCheck, Compared
from flowcabal_tui.locale import _, ngettext, sentences

_NAMED: Final = 2
_BEGINNING: Final = 24
"""Characters of a statement that are shown to identify it."""


def checks_of(judgement: Judgement, settled: Settled) -> tuple[AngleCheck, ...]:
    """The results of the angles of a question. No angle passes when a statement or a finding could not be read."""
    checks = [_check(angle, judgement, settled) for angle in judgement.angles]
    if checks and judgement.goal is not None and not judgement.problem:
        pairs = judgement.pairs
        judged = {each.statement.id for each in pairs.all if each.statement.text not in judgement.unjudged}
        counted = Compared(len(judged), len(pairs.passages), sum(each.statement.id in judged for each in pairs.all))
        checks[0] = replace(checks[0], compared=counted)
    return tuple(checks)


def missing_words(unchecked: Sequence[AngleCheck]) -> str:
    """The angles that were not checked, with each reason once."""
    reasons: dict[str, list[str]] = {}
    for check in unchecked:
        reasons.setdefault(check.detail, []).append(_(ANGLE_TITLES[check.angle]))
    parts = [
        _("{angles}: {verdict}").format(angles=_(", ").join(angles), verdict=why) if why else _(", ").join(angles)
        for why, angles in reasons.items()
    ]
    return _("; ").join(parts)


def _check(angle: Angle, judgement: Judgement, settled: Settled) -> AngleCheck:
    if judgement.problem or judgement.goal is None:
        return AngleCheck(angle, "not checked", judgement.problem)
    if judgement.is_empty:
        return AngleCheck(angle, "passed", _("There is nothing yet to compare with."))
    found = [finding for finding in settled.findings if finding.angle == angle]
    unfounded = judgement.unfounded.count(angle)
    if unfounded and not found:
        return AngleCheck(angle, "not checked", _("Only findings whose quotations are not in the text."))
    kept = tuple(each for each in found if each.signature not in judgement.goal.waived)
    unread = judgement.unread + len(judgement.unjudged)
    second = _second(judgement, settled) if found else []
    detail = _detail(judgement, second, unfounded, len(found) - len(kept))
    return AngleCheck(angle, "found" if kept else "not checked" if unread else "passed", detail, kept)


def _detail(judgement: Judgement, second: Sequence[str], unfounded: int, waived: int) -> str:
    parts = [*_unread(judgement), *second]
    if unfounded:
        parts.append(_("{n} findings without verbatim quotations were left out.").format(n=unfounded))
    if waived:
        message = ngettext("{n} finding is marked as intended.", "{n} findings are marked as intended.", waived)
        parts.append(message.format(n=waived))
    if judgement.pairs.all:
        message = _("{n} statements were compared with {m} passages.")
        parts.append(message.format(n=len(judgement.pairs.statements), m=len(judgement.pairs.passages)))
    return sentences(*parts)


def _unread(judgement: Judgement) -> list[str]:
    parts = []
    if unread := judgement.unread:
        message = ngettext(
            "{n} part of the model's answer could not be read.",
            "{n} parts of the model's answer could not be read.",
            unread,
        )
        parts.append(message.format(n=unread))
    if unjudged := judgement.unjudged:
        named = " ".join(quoted(_beginning(text)) for text in unjudged[:_NAMED])
        message = ngettext(
            "{n} statement was not judged: {named}", "{n} statements were not judged: {named}", len(unjudged)
        )
        parts.append(message.format(n=len(unjudged), named=named))
    return parts


def _second(judgement: Judgement, settled: Settled) -> list[str]:
    """The outcome of the second question, in words."""
    if not judgement.doubts:
        return []
    parts = []
    if settled.problem:
        parts.append(_("The second question had no answer: {why}").format(why=settled.problem))
    elif settled.unasked:
        message = ngettext(
            "{n} finding was not judged a second time.",
            "{n} findings were not judged a second time.",
            settled.unasked,
        )
        parts.append(message.format(n=settled.unasked))
    if settled.dropped:
        parts.append(_("{n} doubts were dropped when they were judged again.").format(n=settled.dropped))
    return parts


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _BEGINNING else f"{words[:_BEGINNING]}…"


def of_parts(checks: Sequence[AngleCheck]) -> AngleCheck:
    """The check of one angle for a draft that was read in parts: it passed only if every part did."""
    findings = tuple({each.signature: each for check in checks for each in check.findings}.values())
    details = sentences(*dict.fromkeys(check.detail for check in checks))
    outcomes = {check.outcome for check in checks}
    outcome = next(each for each in ("found", "not checked", "passed") if each in outcomes)
    compared = sum((check.compared for check in checks), Compared())
    return AngleCheck(checks[0].angle, outcome, details, findings, compared)


def merged(checks: Sequence[AngleCheck]) -> tuple[AngleCheck, ...]:
    """Removes duplicates: a finding of two angles stays with the surer one, or with the first."""
    best: dict[tuple[str, str], tuple[float, int]] = {}
    for place, check in enumerate(checks):
        for finding in check.findings:
            known = best.get(finding.signature)
            if known is None or finding.confidence > known[0]:
                best[finding.signature] = (finding.confidence, place)
    kept = []
    for place, check in enumerate(checks):
        once = {finding.signature: finding for finding in reversed(check.findings)}
        findings = tuple(each for each in reversed(once.values()) if best[each.signature][1] == place)
        if check.findings and not findings:
            kept.append(replace(check, outcome="passed", detail=_("Found from another angle as well."), findings=()))
        else:
            kept.append(replace(check, findings=findings))
    return tuple(kept)
