"""The words of a prompt about its subject, without those of a shared template; its missing outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.prompt_parts import PartKey, escaped, read_parts, words_of
from flowcabal_tui.domain.workflow import Block, PromptParams, TextBlock, VirtualBlock, Workflow

_FILLED_IN: Final = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}", re.DOTALL)
"""A name in a text that is replaced by its value."""
_SENTENCE: Final = re.compile(r"[^\n.。!！?？:：]+")
_OF_THE_CHAPTER: Final[tuple[PartKey, ...]] = ("outline", "scene", "wish")
_EXPECTED: Final[tuple[PartKey, ...]] = ("style", "length")
"""Parts about the form of the text, not about its content."""
_OF_LATER_STEPS: Final[tuple[PartKey, ...]] = ("draft", "candidates", "critique", "selection", "around")


def chapter_words(prompt: str) -> str | None:
    """The words shared by the prompts of all nodes of a chapter: its beats and instruction, not its title. None without
    such parts."""
    parts = read_parts(prompt)
    if all(part.key not in ("chapter", *_OF_THE_CHAPTER) for part in parts):
        return None
    return "\n".join(part.whole for part in parts if part.key in _OF_THE_CHAPTER)


def before_the_text(prompt: str) -> str:
    """A prompt without its instructions on form, and without drafts whose content a plan already gives."""
    parts = read_parts(prompt)
    planned = any(part.key == "plan" for part in parts)
    for part in parts:
        if part.key in _EXPECTED or (planned and part.key in _OF_LATER_STEPS):
            prompt = prompt.replace(part.source, "")
    return prompt


def sentences(blocks: Iterable[Block]) -> Iterator[str]:
    """The literal sentences of text blocks, in order; filled-in values are left out."""
    for block in blocks:
        for literal in _FILLED_IN.split(block.text) if isinstance(block, TextBlock) else ():
            yield from filter(None, (match[0].strip() for match in _SENTENCE.finditer(literal)))


def own_words(blocks: Sequence[Block], prompt: str, fixed: Set[str], titles: Mapping[str, str] | None = None) -> str:
    """`prompt`, which was made from `blocks`, without those of their sentences that are `fixed`, tags and labels.

    Filled-in values remain, and so does a sentence that the writer has changed. `titles` are the values of names such
    as `project.name`: they are removed only where the blocks insert them.
    """
    prompt = _without_titles(blocks, prompt, titles or {})
    kept, at = "", 0
    for sentence in sentences(blocks):
        if (start := prompt.find(sentence, at)) < 0:
            continue
        end = start + len(sentence)
        kept += prompt[at:start] + "\n" if sentence in fixed else prompt[at:end]
        at = end
    return words_of(kept + prompt[at:])


def missing_outputs(workflow: Workflow, params: PromptParams, prompt: str) -> tuple[str, ...]:
    """Titles of the nodes whose live output is empty, so that no text is between the surrounding literals."""
    titles = {each.id: each.title for each in workflow.nodes}
    missing: list[str] = []
    waiting: list[NodeId] = []
    filled_in = False
    at = 0
    for block in (*params.prompt, None):
        literals: list[str | None] = [""]
        if isinstance(block, TextBlock):
            literals = [*_FILLED_IN.split(block.text)]
        elif isinstance(block, VirtualBlock) and block.frozen is None:
            waiting.append(block.node)
            continue
        elif block is not None:
            filled_in = True
            continue
        for number, literal in enumerate(literals):
            filled_in = filled_in or number > 0
            text = (literal or "").strip()
            if not text and block is not None:
                continue
            place = prompt.find(text, at) if text else len(prompt)
            if place < 0:
                return tuple(missing)
            if waiting and not filled_in and not prompt[at:place].strip(workflow.join + " \n\t"):
                missing += [titles.get(node, node) for node in waiting]
            waiting, filled_in, at = [], False, place + len(text)
    return tuple(dict.fromkeys(missing))


def _without_titles(blocks: Iterable[Block], prompt: str, titles: Mapping[str, str]) -> str:
    """The prompt with a line break in place of each title that the blocks insert."""
    for before, name, behind in _named(blocks):
        if title := titles.get(name, "").strip():
            around = [re.escape(before), re.escape(behind)] if before.strip() or behind.strip() else [r"^\s*", r"\s*$"]
            forms = "|".join(map(re.escape, {title, escaped(title)}))
            pattern = f"({around[0]})(?:{forms})({around[1]})"
            prompt = re.sub(pattern, r"\1\n\2", prompt, count=1, flags=re.MULTILINE)
    return prompt


def _named(blocks: Iterable[Block]) -> Iterator[tuple[str, str, str]]:
    """The names that are filled in, each with the words of its line before and after it, up to another one."""
    for block in blocks:
        if isinstance(block, TextBlock):
            literals, names = _FILLED_IN.split(block.text), _FILLED_IN.findall(block.text)
            for before, name, behind in zip(literals, names, literals[1:], strict=False):
                yield before.rpartition("\n")[2], name.strip("{} "), behind.partition("\n")[0]
