"""`bench builder`: answers briefs for workflows, so that code can judge the answers."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from flowcabal_tui.agents.builder.forms import Form
from flowcabal_tui.cli.agreeing import agreed_to_pay
from flowcabal_tui.cli.terminal import json_text, say
from flowcabal_tui.domain.errors import DiskFull, RunError, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.project.build_words import build_price_lines
from flowcabal_tui.project.builder.briefs import Brief, answered, read_briefs, read_forms


async def builder(arguments: Namespace) -> int:
    """Writes one answer a line: a workflow, or a question."""
    briefs = read_briefs(arguments.briefs)
    if arguments.model:
        answers = await _by_model(briefs, arguments)
    else:
        answers = await _by_rule(briefs, read_forms(arguments.forms) if arguments.forms else None)
    try:
        arguments.out.write_text("".join(f"{json_text(each)}\n" for each in answers), encoding="utf-8")
    except OSError as error:
        raise DiskFull(_("Cannot write {file}.").format(file=arguments.out.name), os_reason(error)) from error
    asked, made = (sum(bool(each[key]) for each in answers) for key in ("question", "workflow"))
    say(_("{n} briefs: {m} workflows, {asked} questions.").format(n=len(answers), m=made, asked=asked))
    return 0


async def _by_rule(briefs: Sequence[Brief], forms: Mapping[str, Form] | None) -> list[dict[str, Any]]:
    answers = []
    for brief in briefs:
        if forms is not None and brief.id not in forms:
            raise SettingsError(_("There is no filled form for the brief {name}.").format(name=brief.id[:60]))
        answers.append(await answered(brief, forms[brief.id] if forms is not None else None))
    return answers


async def _by_model(briefs: Sequence[Brief], arguments: Namespace) -> list[dict[str, Any]]:
    """After the price was agreed to. Raises RunError where it was not."""
    from flowcabal_tui.project.builder.bench_model import model_answers, price_of_all
    from flowcabal_tui.project.trust.own_models import own_endpoint

    endpoint = own_endpoint(arguments.model)
    if briefs and not await agreed_to_pay(build_price_lines(price_of_all(briefs, endpoint)), yes=arguments.yes):
        raise RunError(_("Nothing was sent."))
    return [each async for each in model_answers(briefs, endpoint)]
