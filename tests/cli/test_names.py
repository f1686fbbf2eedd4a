"""`names`: kinds and fields by hand, the card of a name; `impact --name` renames one everywhere."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call


def test_a_kind_with_fields_is_defined_given_to_a_name_and_taken_out(call: Call, demo: Path) -> None:
    assert call("names", demo, "--define", "Guild", "--base", "organisation", "--fields", "rank, motto").code == 0
    edited = call("names", demo, "--edit", "Nora Vale", "--as", "Guild", "--field", "rank=master", "--json")
    told = json.loads(edited.out)
    assert told["kinds"] == [{"name": "Guild", "base": "organisation", "fields": ["rank", "motto"]}]
    (nora,) = [each for each in told["names"] if each["name"] == "Nora Vale"]
    assert (nora["kind"], nora["own_kind"], nora["by"]) == ("organisation", "Guild", "hand")
    assert nora["fields"] == [["rank", "master"]]
    assert "rank: master" in call("names", demo, "--kind", "Guild").out
    assert call("names", demo, "--words", "Miss Vale").out.count("\n") == 1
    assert call("names", demo, "--undefine", "Guild", "--edit", "Nora Vale", "--field", "rank=").code == 0
    left = call("names", demo, "--kind", "Guild")
    assert "Nora Vale" in left.out and "rank" not in left.out, "a name keeps the word for its kind"


def test_a_kind_is_named_by_its_id_or_by_its_word_in_either_language(call: Call, demo: Path) -> None:
    persons = call("names", demo, "--kind", "character").out
    assert persons.count("\tCharacter\t") == persons.count("\n") > 0
    for word in ("Character", "人物"):
        assert call("names", demo, "--kind", word).out == persons
    assert "\t人物\t" in call("--lang", "zh", "names", demo, "--kind", "人物").out
    assert '"kind": "character"' in call("--lang", "zh", "names", demo, "--json").out
    assert "人物   提到" in call("--lang", "zh", "names", demo, "--card", "Nora Vale").out
    unknown = call("names", demo, "--kind", "Sect")
    assert unknown.code == 2 and "There is no kind Sect." in unknown.err and "location (Place)" in unknown.err


def test_the_card_of_a_name_is_printed(call: Call, demo: Path) -> None:
    told = call("names", demo, "--card", "Nora Vale", "--chapter", "3")
    assert told.code == 0 and told.out.startswith("Nora Vale")
    assert "Last seen: 2 " in told.out and "First: 1 " in told.out
    card = json.loads(call("names", demo, "--card", "Nora Vale", "--json").out)
    assert card["entity"]["name"] == "Nora Vale" and card["mentions"] > 3


def test_a_name_is_renamed_everywhere_by_impact(call: Call, demo: Path) -> None:
    assert call("impact", demo, "--name", "Nora Vale", "--to", "Vera Vale", "--apply").code == 0
    assert "Vera Vale" in call("names", demo).out
    assert call("names", demo, "--card", "Vera Vale").out.startswith("Vera Vale")
    assert call("names", demo, "--card", "Nora Vale").code == 2
