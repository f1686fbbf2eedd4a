"""Workflow documents as files: JSON, or YAML where it is written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from pydantic import ValidationError

from flowcabal_tui.domain.errors import WorkflowError
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.locale import _


def read_workflow(path: Path) -> Workflow:
    """The document in a file. Raises WorkflowError that names file, line and column."""
    try:
        text = path.read_text(encoding="utf-8")
        value = yaml.safe_load(text) if path.suffix in (".yaml", ".yml") else json.loads(text)
        return Workflow.model_validate(value)
    except OSError as error:
        raise WorkflowError(_("Cannot read {file}.").format(file=path), error.strerror or str(error)) from error
    except json.JSONDecodeError as error:
        place = _("line {line}, column {column}: {problem}").format(
            line=error.lineno, column=error.colno, problem=error.msg
        )
        raise WorkflowError(_("{file} is not valid JSON.").format(file=path), place) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WorkflowError(_("{file} cannot be read.").format(file=path), str(error)) from error
    except ValidationError as error:
        problems = "\n".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise WorkflowError(_("{file} is not a workflow.").format(file=path), problems) from error
