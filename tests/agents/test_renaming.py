"""Where a name and the forms that follow from it stand, and what takes their place."""

from __future__ import annotations

import pytest

from flowcabal_tui.agents.impact.renaming import NamePlace, carried, name_places, plan_of, unmerged
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.impact import Rename
from flowcabal_tui.domain.memory import Entity


def entity(name: str, *aliases: str) -> Entity:
    return Entity(EntityId(name), "character", name, aliases)


def changed(rename: Rename, text: str, *entities: Entity, sure: bool = True) -> str:
    """The text after all places, or the sure ones."""
    found = name_places(plan_of(rename, entities), [text])
    for place in reversed([each for each in found if each.sure or not sure]):
        assert text.startswith(place.before, place.start)
        text = text[: place.start] + place.after + text[place.start + len(place.before) :]
    return text


@pytest.mark.parametrize(
    ("name", "old", "new", "becomes"),
    [
        ("Miss Maud", "Maud", "Vera", "Miss Vera"),
        ("Maudlin", "Maud", "Vera", "Maudlin"),
        ("Elizabeth", "Elizabeth Bennet", "Clara Bennet", "Clara"),
        ("Miss Bennet", "Elizabeth Bennet", "Clara Bennet", "Miss Bennet"),
        ("Mr Crane", "Tobias Crane", "Tobias Heron", "Mr Heron"),
        ("Nora", "Nora Vale", "Mara", "Mara"),
        ("Miss Vale", "Nora Vale", "Mara", "Miss Vale"),
        ("黛玉", "林黛玉", "苏黛玉", "黛玉"),
        ("林姑娘", "林黛玉", "苏黛玉", "苏姑娘"),
        ("黛玉", "林黛玉", "林青玉", "青玉"),
        ("颦儿", "林黛玉", "苏黛玉", "颦儿"),
    ],
)
def test_further_names_follow(name: str, old: str, new: str, becomes: str) -> None:
    assert carried(name, old, new) == becomes


def test_possessives_capitals_and_word_borders() -> None:
    text = "Maud's hat. MAUD! Maudlin songs. “Maud,” said James’ aunt."
    assert changed(Rename("Maud", "Vera"), text) == "Vera's hat. VERA! Maudlin songs. “Vera,” said James’ aunt."


def test_a_possessive_after_s_gets_the_letter_that_the_new_name_needs() -> None:
    assert changed(Rename("James", "Tom"), "James’ hat, and James’s coat.") == "Tom’s hat, and Tom’s coat."
    assert changed(Rename("James", "Tom"), "‘That was James’ he said.") == "‘That was Tom’ he said."


def test_a_longer_name_of_somebody_else_stays() -> None:
    people = (entity("Maud"), entity("Maud Street"))
    assert changed(Rename("Maud", "Vera"), "Maud came to Maud Street.", *people) == "Vera came to Maud Street."


def test_a_family_name_is_changed_in_all_names_that_hold_it() -> None:
    people = (entity("Jane Bennet"), entity("Mary Bennet"))
    assert changed(Rename("Bennet", "Hale"), "Jane Bennet and Mr. Bennet.", *people) == "Jane Hale and Mr. Hale."


def test_a_word_that_the_book_also_writes_small_is_doubtful_where_a_sentence_opens() -> None:
    text = "Grace came. She had grace, some grace, no grace. Then Grace left."
    assert changed(Rename("Grace", "Ann"), text) == "Grace came. She had grace, some grace, no grace. Then Ann left."
    assert changed(Rename("Grace", "Ann"), text, sure=False).startswith("Ann came.")


def test_a_plural_is_doubtful() -> None:
    text = "The Bennets came."
    assert changed(Rename("Bennet", "Hale"), text) == text
    assert changed(Rename("Bennet", "Hale"), text, sure=False) == "The Hales came."


def test_a_chinese_surname_is_changed_in_names_and_not_in_words() -> None:
    text = "林黛玉走进森林。森林很深，森林很静。“林，”她说。林黛玉又回来了。"
    assert changed(Rename("林", "苏"), text, entity("林黛玉")) == (
        "苏黛玉走进森林。森林很深，森林很静。“苏，”她说。苏黛玉又回来了。"
    )


def test_one_character_beside_an_unknown_word_is_only_shown() -> None:
    text = "她走进竹林。林黛玉来了。"
    assert changed(Rename("林", "苏"), text, entity("林黛玉")) == "她走进竹林。苏黛玉来了。"


def test_a_name_at_the_end_of_another_word_is_doubtful() -> None:
    text = "嫡孙宝玉来了。嫡孙在家，嫡孙出门，嫡孙回来。" + "别的话很多。" * 30
    (place,) = name_places(plan_of(Rename("孙宝玉", "孙宝珠"), [entity("孙宝玉")]), [text])
    assert place == NamePlace(0, 1, "孙宝玉", "孙宝珠", sure=False)


def test_given_pairs_are_changed_too() -> None:
    assert changed(Rename("Lizzy", "Ann", (("Eliza", "Annie"),)), "Lizzy, or Eliza.") == "Ann, or Annie."


def test_a_surname_with_a_form_of_address_that_no_entity_lists_is_told_if_only_one_person_has_the_surname() -> None:
    shen, title, other = entity("沈砚之", "沈公子"), entity("沈师兄"), entity("沈知微")
    texts = ["沈师兄走了。沈公子也走了。", "沈师兄！"]
    assert unmerged(Rename("沈砚之", "陆砚之"), [shen, title], texts) == ("沈师兄",)
    assert unmerged(Rename("沈砚之", "陆砚之"), [shen, other], texts) == ()
    assert unmerged(Rename("沈砚之", "沈青"), [shen], texts) == ()
    assert unmerged(Rename("Maud", "Vera"), [entity("Maud")], ["Maud"]) == ()
