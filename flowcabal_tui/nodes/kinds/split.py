"""`split`: makes one item into several, one for each element of a list or each part of a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from pydantic import Field

from flowcabal_tui.domain.workflow import Problem
from flowcabal_tui.locale import _
from flowcabal_tui.nodes.kinds.item_kinds import Item, ItemError, ItemKind, ItemParams, field_of, lacks


class SplitParams(ItemParams):
    """The text or list to split."""

    from_field: str = Field("", description="The field that contains the list or the text.")
    dest_field: str = Field("element", description="The field in which each new item finds its element.")
    delimiter: str = Field(",", description="The separator of a text; surrounding spaces stay.")


class Split(ItemKind):
    """Each new item is a copy of the old one with its element; an empty list leaves no item."""

    name: ClassVar[str] = "split"
    params: ClassVar[type[SplitParams]] = SplitParams

    def flaw(self, params: SplitParams) -> Problem | None:
        return None if params.from_field else lacks(self.name, "from_field")

    def make(self, params: SplitParams, item: Item) -> Iterable[Item]:
        whole = field_of(item, params.from_field)
        if isinstance(whole, str):
            if not params.delimiter:
                raise ItemError(_("A text cannot be split without a delimiter."))
            whole = whole.split(params.delimiter)
        if not isinstance(whole, list):
            raise ItemError(_("{field} is neither a list nor a text.").format(field=params.from_field))
        return ({**item, params.dest_field: element} for element in whole)


KIND = Split()
