"""The page of the workflow language, made from the kinds: `python -m tests.pages.language`."""

from __future__ import annotations

import sys
from typing import Final

from flowcabal_tui.domain.aggregates import AGGREGATES
from flowcabal_tui.domain.condition_forms import KINDS
from flowcabal_tui.domain.workflow import KEEP_EXAMPLE
from flowcabal_tui.nodes.schema import help_text, model_table
from flowcabal_tui.nodes.size import MAX_BODIES, MAX_NODES
from tests.pages.codes import CODES

_HEAD: Final = """# The workflow language

Made by `python -m tests.pages.language > docs/workflow-language.md`; a test compares it.

A workflow is a document in JSON or YAML: nodes, and edges for an order or a branch that no reference expresses.
`flowcabal-tui schema` prints its JSON Schema, `flowcabal-tui schema loop` that of one kind, and
`flowcabal-tui schema loop --words` a part of this page. `flowcabal-tui validate FILE` finds what is wrong,
`flowcabal-tui render FILE` draws it, and `flowcabal-tui convert FILE --to ours` reads documents of other systems.
"""
_NODES: Final = f"""\
A node that names no kind is a prompt. An id is unique in its graph and contains no slash. A node inside another has the
path `loop/draft`, or `parallel/branch/draft` where a node contains several graphs. A workflow has at most {MAX_NODES:,}
nodes, including nested ones, and graphs are nested at most {MAX_BODIES} levels deep."""
_BLOCKS: Final = """\
A prompt is a list of blocks. They are joined in order, with the workflow's `join` between them.

| block | what it is |
| --- | --- |
| `{"kind": "text", "text": "..."}` | Text; `{{path}}` in it is filled in. |
| `{"kind": "virtual", "node": "plan"}` | The output of a node; with `frozen`, that text instead. |
| `{"kind": "inquiry", "question": "..."}` | A question to the Context agent, answered at this place. |

With `"part": "plan"` (or `draft`, `wish`, `chapter`, `selection` and so on) the text of a block is escaped and put
between tags, with a label in the language of the book; an empty block adds nothing."""
_KEEP: Final = f"""\
An output that is kept as an entity becomes the note of the name that `keep` gives. A name that the book does not have
is listed as a new one of the declared kind, made by a model. Without kind and name the output cannot be kept:

```json
{KEEP_EXAMPLE}
```"""
_BINDINGS: Final = """\
A path names a value: `result_of.plan.text`, `result_of.plan.scenes[0].title`, `input.instruction`, `state.hero`,
`chapter.title`, `project.name`; inside a loop also `item`, `index`, `size`, the loop's own name for the item, and the
same names under `loop`. A field of a list is the list of that field's values. `chapter.text` is the text of the chapter
when the run starts. In prompts and texts a path is written between double braces. Parameters accept
three forms:

- `"result_of.plan.scenes"`: a text that consists of a path only. The value keeps its type.
- `"About {{result_of.plan.title}}"`: a path inside a text. `{{plan.title}}` works too if nothing else is named `plan`.
- `{"__from__": "result_of.plan.scenes", "__agg__": "count"}`: a path with an aggregate."""


def language_page() -> str:
    """The page docs/workflow-language.md, in English."""
    codes = "\n".join(f"| `{code}` | {words} |" for code, words in sorted(CODES.items()))
    aggregates = ", ".join(f"`{name}`" for name in AGGREGATES)
    conditions = ", ".join(f"`{name}`" for name in KINDS)
    parts = [
        _HEAD.rstrip(),
        f"## The document\n\n{model_table('Workflow')}",
        f"## Nodes, edges and graphs\n\n{_NODES}\n\n{model_table('Node')}\n\n### Edge\n\n{model_table('Edge')}"
        f"\n\n### Graph\n\nThe contents of a loop or a branch.\n\n{model_table('Body')}",
        f"## What is kept\n\n{_KEEP}\n\n{model_table('Keep')}",
        f"## Prompt blocks\n\n{_BLOCKS}",
        f"## Bindings\n\n{_BINDINGS}\n\nAggregates: {aggregates}.",
        f"## Conditions\n\nThe kinds of comparison: {conditions}. Their parameters are those of the kind `condition`.",
        f"## Problems\n\nThe problems that `validate` reports. A workflow with warnings can still run.\n\n"
        f"| code | what it means |\n| --- | --- |\n{codes}",
        f"# Kinds of nodes\n\n{help_text().rstrip()}",
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(language_page())
