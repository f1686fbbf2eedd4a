from __future__ import annotations

from flowcabal_tui.domain.prompt_text import references
from flowcabal_tui.domain.workflow import TextBlock


def test_a_field_of_an_output_is_a_reference_to_its_node():
    blocks = (
        TextBlock(text="{{result_of.计划.scenes[0].title}} {{ result_of.plan.text }} {{input.x}} {{result_of.}}"),
    )
    assert references(blocks) == ("计划", "plan")


def test_an_id_may_hold_dots_when_it_is_known():
    blocks = (TextBlock(text="{{result_of.act.one.text}}"),)
    assert references(blocks) == ("act",)
    assert references(blocks, ["act.one"]) == ("act.one",)
