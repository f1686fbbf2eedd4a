"""`bench builder`: answers briefs for workflows, so that code can judge the answers."""

from __future__ import annotations

from argparse import Namespace

from flowcabal_tui.cli.terminal import json_text, say
from flowcabal_tui.domain.errors import DiskFull, SettingsError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.project.builder.briefs import answered, read_briefs, read_forms


async def builder(arguments: Namespace) -> int:
    """Writes one answer a line: a workflow, or a question."""
    forms = read_forms(arguments.forms) if arguments.forms else None
    answers = []
    for brief in read_briefs(arguments.briefs):
        if forms is not None and brief.id not in forms:
            raise SettingsError(_("There is no form for the brief {name}.").format(name=brief.id[:60]))
        answers.append(await answered(brief, forms[brief.id] if forms is not None else None))
    try:
        arguments.out.write_text("".join(f"{json_text(each)}\n" for each in answers), encoding="utf-8")
    except OSError as error:
        raise DiskFull(_("Cannot write {file}.").format(file=arguments.out.name), os_reason(error)) from error
    asked = sum(bool(each["question"]) for each in answers)
    say(_("{n} briefs: {m} workflows, {asked} questions.").format(n=len(answers), m=len(answers) - asked, asked=asked))
    return 0
