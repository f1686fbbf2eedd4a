from __future__ import annotations

from flowcabal_tui.agents.names.names import NameIndex, discover, entity_id
from flowcabal_tui.domain.ids import ChapterId
from tests.agents.fakes import person

CAST = [
    "宝玉",
    "黛玉",
    "宝钗",
    "凤姐",
    "贾母",
    "袭人",
    "王夫人",
    "平儿",
    "贾琏",
    "湘云",
    "探春",
    "贾政",
    "晴雯",
    "鸳鸯",
    "薛姨妈",
    "刘姥姥",
]


def test_the_cast_of_a_classic_is_found_without_a_model(hongloumeng: list[str]) -> None:
    first = [entity.name for entity in discover(hongloumeng, "zh")[:40]]
    assert set(CAST) <= set(first)
    wrong = {"众人", "进来", "回来", "悄悄", "点头", "大家", "姑娘", "如今", "一面"} & set(first)
    assert not wrong


def test_a_surname_or_a_diminutive_makes_an_alias(hongloumeng: list[str]) -> None:
    found = {entity.name: entity for entity in discover(hongloumeng, "zh")}
    assert found["黛玉"].aliases == ("林黛玉",)
    assert found["凤姐"].aliases == ("凤姐儿",)
    assert found["大观园"].kind == "location"


def test_people_who_hardly_speak_are_found_by_neighbouring_words(hongloumeng: list[str]) -> None:
    found = {name for entity in discover(hongloumeng, "zh") for name in entity.names}
    assert {"翠墨", "琥珀", "詹光", "彩霞"} <= found
    assert not {"黛玉冷", "宝玉亦", "自己", "东西", "天气", "事情"} & found


def test_names_that_come_in_bunches_are_found(hongloumeng: list[str]) -> None:
    found = {name for entity in discover(hongloumeng, "zh") for name in entity.names}
    assert {"藕官", "金荣", "旺儿"} <= found
    assert not {"次日", "许多人", "进来"} & found


def test_a_surname_with_a_form_of_address_is_somebody(hongloumeng: list[str]) -> None:
    found = {name for entity in discover(hongloumeng, "zh") for name in entity.names}
    assert {"张道士", "周姨娘", "李嬷嬷"} <= found


def test_a_form_of_address_may_have_characters_of_verbs() -> None:
    said = "".join(f"{name}道：“走罢。”" for name in ("马道婆", "那道婆", "阿青") for _ in range(4))
    assert {"马道婆", "阿青"} == {entity.name for entity in discover([said], "zh")}


def test_who_speaks_often_may_be_called_like_a_word() -> None:
    said = "".join(f"如来道：“{n}。”如此道：“{n}。”若兰道：“{n}。”" for n in range(9)) + "若风道：“一。”" * 3
    assert {"如来", "若兰"} == {entity.name for entity in discover([said], "zh")}


def test_a_place_that_nobody_enters_is_one_word() -> None:
    seen = "".join(f"{a}水月庵{b}。{a}座高山{b}。" for a, b in zip("那见说问看", "的里外来去", strict=True))
    text = "且说阿青出门。" * 300 + seen + "一座高山。" * 9
    places = {entity.name for entity in discover([text], "zh") if entity.kind == "location"}
    assert places == {"水月庵"}


def test_a_name_that_another_person_has_with_a_surname_is_not_joined_but_proposed() -> None:
    said = {"宝玉": 9, "贾宝玉": 4, "甄宝玉": 3, "贾母": 3, "贾政": 3}
    text = "".join(f"{name}道：“{n}。”" for name, n in said.items() for _ in range(n))
    found = {entity.name: entity for entity in discover([text], "zh")}
    assert (found["宝玉"].aliases, found["宝玉"].proposed) == ((), ("贾宝玉",))
    assert "甄宝玉" in found


def test_a_surname_that_stands_once_before_a_name_or_ends_a_longer_word_is_no_name() -> None:
    said = {"宝玉": 9, "贾宝玉": 4, "黛玉": 5}
    said |= dict.fromkeys(
        ("贾母", "贾政", "贾琏", "甄英", "甄莲", "孙绍祖", "孙万", "赖升", "赖兴", "林如海", "林之孝"), 3
    )
    text = "".join(f"{name}道：“{n}。”" for name, n in said.items() for _ in range(n))
    text += "嫡孙宝玉传家。嫡孙们都在。嫡孙不语。嫡孙又来。嫡孙宝玉最小。无赖宝玉不理。他见了林黛玉。他又见了林黛玉。"
    found = {entity.name: entity for entity in discover([text], "zh")}
    names = {name for entity in found.values() for name in entity.names}
    assert not {"孙宝玉", "赖宝玉"} & names
    assert found["黛玉"].aliases == ("林黛玉",)


def test_discovery_gives_the_same_ids_every_time() -> None:
    text = "阿青笑道：“走罢。”阿青道：“快些。”阿青问道：“到了么？”"
    found = discover([text], "zh")
    assert [(entity.name, entity.by) for entity in found] == [("阿青", "discovered")]
    assert found[0].id == entity_id("character", "阿青")


def test_english_names_are_those_capitalised_inside_sentences() -> None:
    text = (
        "Then Mr. Harker came. When the storm rose, Harker laughed at Mina Murray. However, Mina stayed. "
        "However, the men saw Harker and Mina on the road, and Mr. Harker waved. They met Mina Murray. "
        "Indeed the dog knew Mr. Harker; it ran to Mina and to Mina Murray. It liked Harker."
    )
    found = {entity.name: entity.aliases for entity in discover([text], "en")}
    assert found == {"Mina": ("Mina Murray",), "Harker": ("Mr. Harker",)}


def test_names_that_only_titles_set_apart_are_proposed_as_one() -> None:
    text = (
        "They met Ralph Nickleby. He told Ralph Nickleby. It was Mr. Ralph Nickleby who saw Mr. Ralph Nickleby. "
        "She called Ralph and heard Ralph and left Ralph. They saw Mrs. Nickleby and Mrs. Nickleby."
    )
    found = {entity.name: entity for entity in discover([text], "en")}
    assert (found["Ralph"].aliases, found["Ralph"].proposed) == ((), ("Mr. Ralph Nickleby", "Ralph Nickleby"))
    assert "Mrs. Nickleby" in found
    assert {"Ralph Nickleby", "Mr. Ralph Nickleby"}.isdisjoint(found)


def test_titles_peoples_and_common_words_in_capitals_are_no_names() -> None:
    text = "He cried, Let me go, in St, for Heaven and the Italian count. " * 4 + "They saw St. Paul and St. Paul."
    assert [entity.name for entity in discover([text], "en")] == ["St. Paul"]


def test_adverbs_that_stand_before_words_of_speech_are_no_names() -> None:
    said = "".join(f"{word}道：“{n}。”" for word in ("仿佛", "既如此", "匆匆", "忽然", "阿青") for n in range(4))
    assert [entity.name for entity in discover([said], "zh")] == ["阿青"]


def test_the_longest_name_wins() -> None:
    hits = NameIndex([person("宝玉"), person("甄宝玉")]).find("宝玉和甄宝玉")
    assert [(hit.entity, hit.start, hit.end) for hit in hits] == [("e-宝玉", 0, 2), ("e-甄宝玉", 3, 6)]


def test_letters_count_at_word_boundaries_only() -> None:
    hits = NameIndex([person("Ann")]).find("Ann saw Annabel; Ann's dog, 安Ann。")
    assert [hit.start for hit in hits] == [0, 17, 29]


def test_a_shared_name_belongs_to_the_entity_of_the_writer() -> None:
    discovered = discover(["老三道：“一。”老三道：“二。”老三道：“三。”"], "zh")[0]
    index = NameIndex([discovered, person("张老三", "老三")])
    assert [mention.entity for mention in index.mentions(ChapterId("c1"), 1, "老三走了")] == ["e-张老三"]


def test_no_names_no_mentions() -> None:
    assert NameIndex([]).find("谁？") == ()


def test_a_family_and_style_name_are_introduced() -> None:
    text = "此人姓秦，名越，字子安。秦越不语。子安看着秦越，秦越看着子安，子安起身。"
    talk = "".join(f"{name}道：“走罢。”" for name in ("阿青", "老周", "沈七") for _ in range(4))
    found = {name for entity in discover([text + talk], "zh") for name in entity.names}
    assert {"秦越", "子安"} <= found


def test_one_who_speaks_often_may_begin_with_a_number_and_a_far_place_has_any_ending() -> None:
    said = "".join(f"九叔道：“第{n}回。”" for n in range(14))
    places = "众人往落雁坡去。一行来到落雁坡。上落雁坡的路难走。他又往落雁坡去了。且到落雁坡歇脚。"
    entities = {entity.name: entity for entity in discover([said + places], "zh")}
    assert "九叔" in entities
    assert entities["落雁坡"].kind == "location"


def test_an_english_name_that_always_has_an_article_is_that_of_a_thing() -> None:
    text = "Nora saw the Prudence. Below the Prudence lay Nora. He and Nora knew the Vale; then Vale knew them as Vale."
    kinds = {entity.name: entity.kind for entity in discover([text], "en")}
    assert kinds == {"Prudence": "item", "Nora": "character", "Vale": "character"}


def test_an_english_byname_with_an_article_is_that_of_a_person_who_acts() -> None:
    text = "They feared the Jackal. She saw how the Jackal laughed. She left the Prudence for the Prudence."
    assert {entity.name: entity.kind for entity in discover([text], "en")} == {
        "Jackal": "character",
        "Prudence": "item",
    }


def test_a_monk_whose_name_begins_like_a_particle_is_somebody() -> None:
    told = "他法号了尘。" + "了尘道：“走罢。”看见了尘，阿青笑道：“了不得。”" * 10
    assert {"了尘", "阿青"} == {entity.name for entity in discover([told], "zh")}
