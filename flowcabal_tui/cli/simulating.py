"""`simulate`: runs a workflow without a model, a network or a project."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flowcabal_tui.actions.registry import SIMULATIONS, ActionRegistry, project_files, project_simulations
from flowcabal_tui.actions.simulation import load_simulations
from flowcabal_tui.cli.answers import Answers
from flowcabal_tui.cli.documents import (
    conversion_of,
    findings_in,
    in_project,
    read_document,
    registry_of,
    require_no_errors_in,
)
from flowcabal_tui.cli.flags import given_inputs, require_inputs
from flowcabal_tui.cli.flow_folder import is_flow_folder, read_folder
from flowcabal_tui.cli.naming import require_nodes
from flowcabal_tui.cli.printing import JsonPrinter, PlainPrinter
from flowcabal_tui.cli.running import CANCELLED, DONE, FAILED
from flowcabal_tui.cli.terminal import say
from flowcabal_tui.domain.run import Decision, Question
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.project.runs.simulation import Simulated, Simulation
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.runs import NodeCompleted, NodeNeedsHuman, NodeStarted, NodeStreaming, QuestionAnswered
from flowcabal_tui.settings.project_file import load_project


async def simulate(arguments: Namespace) -> int:
    """Prints the events, or in plain words the output of each node; exit codes as for `run`."""
    workflow, library = await _workflows(arguments)
    world = Simulated(_templates(arguments), _registry(arguments), library)
    answers = Answers.from_flags(arguments.decide)
    await require_nodes(answers.nodes, workflow, world.workflow)
    inputs = given_inputs(arguments)
    require_inputs(workflow, inputs)
    questions: list[Question] = []

    def answered(question: Question) -> Decision | None:
        """Answers a question by the flags; here they may also answer questions that require a person."""
        questions.append(replace(question, required=False))
        return answers.given(question)

    show = JsonPrinter().event if arguments.json else _Words().event
    simulation = Simulation(workflow, world, show, inputs=inputs, answer=answered)
    state = await simulation.execute(arguments.seconds)
    for note in answers.unused(questions):
        say(note, file=sys.stderr)
    return {"done": DONE, "cancelled": CANCELLED}.get(state, FAILED)


class _Words:
    """Prints the output of each node and the answer to each question."""

    def __init__(self) -> None:
        self._printer = PlainPrinter(moving=False)

    def event(self, event: Event) -> None:
        match event:
            case NodeStarted() | NodeStreaming():
                return
            case NodeNeedsHuman():
                self._printer.asks(event.question, "")
                return
            case QuestionAnswered():
                decision = event.decision
                answer = ":".join(filter(None, (decision.kind, str(decision.attempt or ""), decision.text)))
                self._printer.heading(_("answered: {answer}").format(answer=answer))
                return
            case NodeCompleted():
                self._printer.heading(event.node)
        self._printer.event(event)


async def _workflows(arguments: Namespace) -> tuple[Workflow, Mapping[str, Workflow]]:
    """The workflow and those that it may call, by every reference."""
    actions = registry_of(arguments.actions)
    if is_flow_folder(arguments.document):
        flows = read_folder(arguments.document)
        for file in flows.files:
            require_no_errors_in(file.path, flows.findings(file, actions))
        return flows.chosen(arguments.workflow), flows.library
    if arguments.workflow:
        found = await in_project(arguments.document, arguments.workflow)
        return found.workflow, found.library
    document = read_document(arguments.document)
    conversion = conversion_of(arguments.document, document)
    require_no_errors_in(arguments.document, findings_in(arguments.document, document, actions))
    known = (conversion.workflow, *conversion.others)
    return conversion.workflow, {name: one for one in known for name in (one.id, one.reference)}


def _in_project(arguments: Namespace) -> bool:
    return bool(arguments.workflow) and not is_flow_folder(arguments.document)


def _registry(arguments: Namespace) -> ActionRegistry | None:
    paths: list[Path] = list(arguments.actions)
    if _in_project(arguments):
        paths += project_files(arguments.document, load_project(arguments.document).actions.files)
    return ActionRegistry.load(paths) if paths else None


def _templates(arguments: Namespace) -> dict[str, dict[str, Any]]:
    """The templates of the named file, else those in the folders of the registries."""
    if arguments.simulation:
        return load_simulations(arguments.simulation)
    own = project_simulations(arguments.document) if _in_project(arguments) else ()
    folders = [path if path.is_dir() else path.parent for path in arguments.actions]
    found: dict[str, dict[str, Any]] = {}
    beside = (file for folder in folders for file in folder.glob(f"{SIMULATIONS}*.json") if file.is_file())
    for file in sorted({*own, *beside}):
        found |= load_simulations(file)
    return found
