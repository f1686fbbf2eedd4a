"""`convert`, `render` and `schema`: a workflow in another format, as a picture, and the reference of the language."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, get_args

from flowcabal_tui.cli.answers import BadArgument
from flowcabal_tui.cli.documents import conversion_of, named_workflow, note_line, read_document
from flowcabal_tui.cli.terminal import give_bytes, json_text, say, say_json
from flowcabal_tui.dialects.detect import written
from flowcabal_tui.dialects.report import Conversion, ConversionNote
from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import slug
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.drawing.from_workflow import drawing_of
from flowcabal_tui.drawing.raster import Format
from flowcabal_tui.drawing.values import Drawing
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.schema import help_text, kind_schema, workflow_schema
from flowcabal_tui.system.files import SHARED, write_whole

_ENDINGS: Final = {"jpg": "jpeg", "mmd": "mermaid", "txt": "rails"}


async def convert(arguments: Namespace) -> int:
    """Writes the document in another format; prints changes and losses on standard error."""
    document = read_document(arguments.document)
    conversion = conversion_of(arguments.document, document)
    notes = [*conversion.notes]
    for workflow in (conversion.workflow, *conversion.others):
        value, added = written(workflow, arguments.to, arguments.form)
        notes += added
        if workflow is conversion.workflow:
            _put(arguments.output, _text(value, arguments.output))
        elif arguments.output is not None:
            beside = arguments.output.with_name(f"{slug(workflow.reference)}{arguments.output.suffix}")
            _put(beside, _text(value, beside))
            notes.append(ConversionNote("info", workflow.reference, _("Written to {file}.").format(file=beside.name)))
        else:
            message = _("It calls an action that writes files: give -o FILE, and they are written beside it.")
            notes.append(ConversionNote("lost", workflow.reference, message))
    _report(document.dialect, arguments.to, conversion, notes)
    return 0


def _text(value: Any, output: Path | None) -> str:
    if output is not None and output.suffix in (".yaml", ".yml"):
        import yaml

        dumped: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
        return dumped
    return json_text(value, indent=2) + "\n"


def _put(output: Path | None, text: str) -> None:
    if output is None:
        say(text, end="")
        return
    try:
        write_whole(output, text.encode(), SHARED)
    except OSError as error:
        raise _not_written(output, error) from error


def _not_written(output: Path, error: OSError) -> FlowCabalError:
    return FlowCabalError(_("Cannot write {file}.").format(file=output), os_reason(error))


def _report(source: str, target: str, conversion: Conversion, notes: Iterable[ConversionNote]) -> None:
    unique = list(dict.fromkeys(notes))
    count = {level: sum(note.level == level for note in unique) for level in ("changed", "lost")}
    words = _(
        "{source} to {target}: {nodes} nodes; {changed} places expressed differently, {lost} could not be carried over."
    )
    say(
        words.format(source=source, target=target, nodes=len(conversion.workflow.nodes), **count),
        file=sys.stderr,
    )
    for note in unique:
        say(note_line(note), file=sys.stderr)


async def render(arguments: Namespace) -> int:
    """Draws a workflow: SVG, PNG, JPEG, Mermaid, or rails for the terminal."""
    workflow = await named_workflow(arguments)
    output: Path | None = arguments.output
    ending = output.suffix.lstrip(".").lower() if output else ""
    form = arguments.format or _ENDINGS.get(ending, ending) or "rails"
    drawing = drawing_of(workflow)
    pixels = next((one for one in get_args(Format) if one == form), None)
    if pixels is not None:
        _picture(drawing, pixels, output, dark=arguments.dark)
    else:
        _put(output, _drawn(drawing, form, workflow, dark=arguments.dark))
    return 0


def _drawn(drawing: Drawing, form: str, workflow: Workflow, *, dark: bool) -> str:
    match form:
        case "svg":
            from flowcabal_tui.drawing.svg import svg

            return svg(drawing, dark=dark)
        case "mermaid":
            from flowcabal_tui.drawing.mermaid import mermaid

            return mermaid(drawing) + "\n"
        case "rails":
            from flowcabal_tui.drawing.rails_text import rails_text

            return rails_text(drawing).rstrip("\n") + "\n"
    raise BadArgument(
        _("{workflow} cannot be drawn as {form}.").format(workflow=workflow.reference, form=form),
        "",
        _("Name a format: svg, png, jpeg, mermaid or rails."),
    )


def _picture(drawing: Drawing, form: Format, output: Path | None, *, dark: bool) -> None:
    from flowcabal_tui.drawing.raster import picture

    if output is None and sys.stdout.isatty():
        raise FlowCabalError(_("A picture cannot be shown in a terminal."), "", _("Name a file with -o."))
    made = picture(drawing, form, dark=dark)
    try:
        if output is None:
            give_bytes(made.data)
        else:
            output.write_bytes(made.data)
    except OSError as error:
        raise _not_written(output or Path("-"), error) from error
    if made.missing:
        message = _("note: no font here has {symbols}; they appear as question marks.")
        say(message.format(symbols=made.missing[:40]), file=sys.stderr)


async def schema(arguments: Namespace) -> int:
    """Prints the JSON Schema of a whole document or of the parameters of a kind; with `--words`, a readable page."""
    if arguments.words:
        say(help_text(arguments.kind), end="")
    else:
        found = kind_schema(arguments.kind) if arguments.kind else workflow_schema()
        say_json(found, indent=2)
    return 0
