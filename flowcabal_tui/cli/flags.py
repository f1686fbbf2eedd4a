"""Converts the flags of `run` and `simulate` into a run request."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from flowcabal_tui.actions.values import parse
from flowcabal_tui.cli.answers import BadArgument, require_beside
from flowcabal_tui.cli.naming import chapter_at
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.overview import LENGTH, LONGEST_CHAPTER
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.inputs import missing_inputs, needs_chapter
from flowcabal_tui.project.project import Project

_OF_A_NEW_RUN: Final = (
    "chapter",
    "instruction",
    "length",
    "input",
    "target",
    "again",
    "freeze",
    "set",
    "fresh_context",
    "quote",
)


def require_sense(arguments: Namespace) -> None:
    """Raises BadArgument for combinations of `run` flags in which one would be ignored."""
    if not arguments.workflow and not arguments.resume:
        raise BadArgument(_("Which workflow?"), "", _("Name one, or give --resume RUN."))
    require_beside("--keep", bool(arguments.keep), wait=arguments.wait)
    require_beside("--resume", bool(arguments.resume), **{"continue": arguments.continues})
    fitting = ("again", "quote") if arguments.resume and arguments.again else ()  # another attempt, as the run began
    names = [name for name in _OF_A_NEW_RUN if name not in fitting]
    given = ["--" + name.replace("_", "-") for name in names if getattr(arguments, name)]
    if arguments.resume and (given or arguments.workflow):
        raise BadArgument(
            _("--resume continues a run with the inputs it began with."),
            _("It cannot be combined with: {names}").format(
                names=_(", ").join([*filter(None, (arguments.workflow,)), *given])
            ),
        )
    if arguments.quote and arguments.freeze:
        raise BadArgument(
            _("--quote changes nothing."), _("It cannot be combined with: {names}").format(names="--freeze")
        )


async def request_of(project: Project, workflow: Workflow, arguments: Namespace) -> RunRequest:
    """The run request in the flags. Raises BadArgument or UnknownName."""
    return RunRequest(
        workflow=arguments.workflow,
        chapter=await chapter_at(project, arguments.chapter),
        inputs=tuple(sorted((given_inputs(arguments) | _length(workflow, arguments.length)).items())),
        targets=tuple(map(NodeId, arguments.target)),
        fresh_context=arguments.fresh_context,
        again=tuple(map(NodeId, arguments.again)),
        step=arguments.step,
        overrides=_overrides(workflow, arguments.set),
    )


def _length(workflow: Workflow, length: int | None) -> dict[str, str]:
    """The input for the length of the chapter. Raises BadArgument for a workflow that asks for none."""
    if length is None:
        return {}
    if length > LONGEST_CHAPTER:
        raise BadArgument(
            _("A chapter can have a length of at most {n}.").format(n=f"{LONGEST_CHAPTER:,}"), _("Nothing was run.")
        )
    if "chapter.length" not in workflow.model_dump_json():
        name = workflow.name or workflow.id
        raise BadArgument(
            _("The workflow {name} has no setting for length.").format(name=name),
            _("Nothing was run."),
            _("Leave --length out, or write {name} into one of its prompts.").format(name="{{chapter.length}}"),
        )
    return {LENGTH: str(length)}


def given_inputs(arguments: Namespace) -> dict[str, Any]:
    """The inputs in the flags: `NAME=TEXT`, or `NAME:=JSON` for anything else. Raises BadArgument."""
    inputs = named_values(arguments.input)
    return inputs | ({"instruction": arguments.instruction} if arguments.instruction else {})


def named_values(flags: Iterable[str]) -> dict[str, Any]:
    """The values of `NAME=TEXT` and `NAME:=JSON`. Raises BadArgument."""
    inputs: dict[str, Any] = {}
    for flag in flags:
        name, equals, value = flag.partition("=")
        if not equals or not name.rstrip(":"):
            raise BadArgument(
                _("{flag} does not set an input.").format(flag=flag), "", _("Write NAME=TEXT or NAME:=JSON.")
            )
        inputs[name.removesuffix(":")] = _json(flag, value) if name.endswith(":") else value
    return inputs


def require_inputs(
    workflow: Workflow,
    given: Mapping[str, Any],
    targets: Collection[NodeId] = (),
    *,
    chapter: bool = True,
    words: tuple[str, str] = ("--chapter N", "--input {name}=TEXT"),
) -> None:
    """Raises BadArgument with the names of all missing inputs of the workflow, and without the `chapter` that it
    reads. `words` name a missing chapter and input."""
    needed = [] if chapter or not needs_chapter(workflow, targets) else [words[0]]
    needed += [words[1].format(name=name) for name in missing_inputs(workflow, given, targets)]
    if needed:
        raise BadArgument(
            _("The workflow {name} needs options that were not given: {flags}").format(
                name=workflow.name or workflow.id, flags=" ".join(needed)
            ),
            _("Nothing was run."),
            _("NAME:=JSON gives a list, an object or a number.") if needed[-1].startswith("--input") else "",
        )


def json_value(text: str) -> Any:
    """The cleaned value of JSON text. Raises ValueError and RecursionError."""
    found = parse(text)
    json.dumps(found, allow_nan=False)  # 1e999 is read as a number that no JSON can hold
    return found


def _json(flag: str, text: str) -> Any:
    try:
        return json_value(text)
    except (ValueError, RecursionError) as error:
        raise BadArgument(
            _("{flag} does not set an input.").format(flag=flag[:80]),
            _("The text after := is not JSON."),
            _("Write NAME:=7, NAME:=true, NAME:='[1, 2]', or NAME=TEXT for a text."),
        ) from error


def _overrides(workflow: Workflow, flags: list[str]) -> tuple[tuple[NodeId, dict[str, Any]], ...]:
    """From `NODE.PARAM=VALUE`; the value is JSON, or the text that it is. Raises BadArgument."""
    nodes = [node.id for node in workflow.nodes]
    found: dict[NodeId, dict[str, Any]] = {}
    for flag in flags:
        place, equals, value = flag.partition("=")
        named = [node for node in nodes if place.startswith(f"{node}.") and len(place) > len(node) + 1]
        if not equals or not named:
            raise BadArgument(
                _("{flag} does not set a parameter.").format(flag=flag),
                _("Its nodes: {names}").format(names=_(", ").join(nodes)),
                _("Write NODE.PARAM=VALUE, such as draft.temperature=0.3."),
            )
        node = max(named, key=len)
        found.setdefault(node, {})[place[len(node) + 1 :]] = _value(value)
    return tuple(found.items())


def _value(text: str) -> Any:
    try:
        return json_value(text)
    except (ValueError, RecursionError):
        return text
