"""Finding actions by words and by meaning, in Chinese and in English."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flowcabal_tui.actions.registry import Action
from flowcabal_tui.actions.search import ActionSearch

CHINESE = {
    "text.count.v1": ("统计字数", "统计一章或全书的汉字数与段落数", "文字"),
    "text.proofread.v1": ("校对错别字", "检查章节里的错别字、漏字和标点", "文字"),
    "text.translate.v1": ("翻译", "把一段中文译成英文或日文", "文字"),
    "text.summary.v1": ("写摘要", "为章节生成两百字以内的内容提要", "文字"),
    "text.title.v1": ("拟标题", "根据正文给出五个备选的章节标题", "文字"),
    "text.sensitive.v1": ("敏感词检查", "按平台规则标出可能不过审的词句", "审核"),
    "publish.upload.v1": ("上传章节", "把定稿发布到连载网站的指定卷", "发布"),
    "publish.schedule.v1": ("定时更新", "设定下一章自动发布的日期与钟点", "发布"),
    "publish.comments.v1": ("拉取书评", "下载读者最近的评论与打赏", "读者"),
    "publish.cover.v1": ("生成封面", "按书名和类型画一张封面图片", "图像"),
    "mail.editor.v1": ("给编辑寄稿", "以邮件附件的形式把稿子送到责任编辑手里", "邮件"),
    "mail.beta.v1": ("邀请试读", "写信给试读员，附上前三章的链接", "邮件"),
    "files.backup.v1": ("备份书稿", "把整个项目打包存到备份盘", "文件"),
    "files.export.v1": ("导出电子书", "生成适合手机阅读的电子书文件", "文件"),
    "research.weather.v1": ("查历史天气", "查询某地某日的气温与降水", "资料"),
    "research.map.v1": ("量地图路程", "计算古代两座城池之间骑马所需的天数", "资料"),
    "people.name.v1": ("起名字", "按朝代与身份给人物取姓名和表字", "人物"),
    "money.contract.v1": ("核对合同稿酬", "按千字单价计算本月应得的稿费", "财务"),
}
ENGLISH = {
    "ops.create_incident.v1": ("Create incident ticket", "Create a ticket in the incident system.", "ops"),
    "crm.log_interaction.v1": ("Log customer interaction", "Write a note about a customer.", "crm"),
    "hr.get_temperatures.v1": ("Get readings", "Fetch today's temperature readings for all employees.", "hr"),
}


def actions(*tables: dict[str, tuple[str, str, str]]) -> list[Action]:
    return [
        Action(action_id=action_id, name=name, description=description, tags=(tag,), arg_schema={})
        for table in tables
        for action_id, (name, description, tag) in table.items()
    ]


class Meanings:
    """An embedder of three meanings, each known by a few words; it counts the texts that it is asked about."""

    identity = "meanings-1"
    dimensions = 3
    WORDS = (("封面", "插画", "图片"), ("发布", "上传", "贴到网上"), ("名字", "取姓名", "称呼"))

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(any(word in text for word in words)) for words in self.WORDS] for text in texts]


@pytest.mark.parametrize(
    ("query", "action_id"),
    [
        ("这一章有多少字？统计一下字数", "text.count.v1"),
        ("帮我找出错别字", "text.proofread.v1"),
        ("把这段译成英文", "text.translate.v1"),
        ("会不会有敏感词", "text.sensitive.v1"),
        ("把新章节发布到网站", "publish.upload.v1"),
        ("明天早上自动更新", "publish.schedule.v1"),
        ("看看读者的评论", "publish.comments.v1"),
        ("把稿子发给编辑", "mail.editor.v1"),
        ("项目备份", "files.backup.v1"),
        ("导出成电子书", "files.export.v1"),
        ("那天的气温和降水", "research.weather.v1"),
        ("两座城之间骑马要走几天", "research.map.v1"),
        ("给新人物取个姓名", "people.name.v1"),
        ("这个月的稿费是多少", "money.contract.v1"),
        ("画", "publish.cover.v1"),
    ],
)
async def test_a_query_in_chinese_finds_the_right_action(query: str, action_id: str) -> None:
    hits = await ActionSearch(actions(CHINESE, ENGLISH)).search(query)
    assert hits[0].action.action_id == action_id


@pytest.mark.parametrize(
    ("query", "action_id"),
    [
        ("an INCIDENT happened, make tickets", "ops.create_incident.v1"),
        ("what did the customer say", "crm.log_interaction.v1"),
        ("temperatures", "hr.get_temperatures.v1"),
        ("ｔｅｍｐｅｒａｔｕｒｅ", "hr.get_temperatures.v1"),
        ("crm", "crm.log_interaction.v1"),
    ],
)
async def test_a_query_in_english_finds_the_right_action(query: str, action_id: str) -> None:
    hits = await ActionSearch(actions(CHINESE, ENGLISH)).search(query)
    assert hits[0].action.action_id == action_id


async def test_what_shares_no_word_is_found_by_its_meaning() -> None:
    query = "贴到网上"
    assert not any(
        hit.action.action_id == "publish.upload.v1" for hit in await ActionSearch(actions(CHINESE)).search(query)
    )
    best = (await ActionSearch(actions(CHINESE), Meanings()).search(query, 3))[0]
    assert best.action.action_id in ("publish.upload.v1", "publish.schedule.v1") and best.vector == 1


async def test_words_weigh_six_tenths_and_meaning_four() -> None:
    hits = await ActionSearch(actions(CHINESE), Meanings()).search("人物的称呼", len(CHINESE))
    assert len(hits) == len(CHINESE)
    for hit in hits:
        assert hit.score == pytest.approx(0.6 * hit.text + 0.4 * hit.vector)
        assert 0 <= hit.text <= 1 and 0 <= hit.vector <= 1
    assert hits[0].action.action_id == "people.name.v1" and hits[0].score == pytest.approx(1)


async def test_ties_are_decided_by_the_id_whatever_the_order() -> None:
    twins = [Action(action_id=name, description="写诗", arg_schema={}) for name in ("c", "a", "b")]
    for order in (twins, twins[::-1]):
        for embedder in (None, Meanings()):
            hits = await ActionSearch(order, embedder).search("写诗")
            assert [hit.action.action_id for hit in hits] == ["a", "b", "c"]


async def test_nothing_asked_or_nothing_there_or_nothing_wanted_finds_nothing() -> None:
    search = ActionSearch(actions(CHINESE))
    assert await search.search("  ") == await search.search("zzz") == await search.search("备份", 0) == []
    assert await ActionSearch([], Meanings()).search("备份") == []
    assert len(await search.search("章节", 2)) == 2
