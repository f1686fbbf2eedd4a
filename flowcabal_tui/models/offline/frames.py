"""Sentence frames of the offline writer. `{a}` and `{b}` are people of the scene, `{place}` and `{thing}` come
from the beat, `{line}` is something said in the chapter before. No frame states a fact that a check could catch.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of one language, by their office in the scene."""

    opening: tuple[str, ...]
    recall: tuple[str, ...]
    thing: tuple[str, ...]
    place: tuple[str, ...]
    pair: tuple[str, ...]
    alone: tuple[str, ...]
    pause: tuple[str, ...]
    closing: tuple[str, ...]


ENGLISH = Frames(
    opening=(
        "There was less time than {a} had allowed for, and no use in saying so.",
        "Nobody had slept, and it made everything very plain, like print held close to a lamp.",
        "It began, as such things do, with somebody looking for a pair of boots.",
        "{a} had counted on rain. What they got was stillness, and every sound in it carried.",
    ),
    recall=(
        "{a} kept hearing it as it had been said, the evening before, across a table: “{line}”",
        "“{line}” It had seemed a small thing to say, and it had grown in the night.",
        "Of all that had been said, one line had stayed with {a}, and it would not lie down: “{line}”",
    ),
    thing=(
        "“Mind the {thing},” said {b}, too late for it to be of use.",
        "{a} looked at the {thing} for as long as it takes to add a column twice, and got the same answer.",
        "It was the {thing} that {a} remembered afterwards, more than anything that was said over it.",
        "“It's only the {thing},” {b} said, in the voice of somebody who has said so before.",
        "One could have taken the {thing} for an ordinary one; people had been taking it so for years.",
        "Whoever had last stood here had left the {thing} as one leaves a chair, meaning to come back to it.",
        "“That's the {thing},” said {b}. “So it is,” said {a}, and neither of them touched it at once.",
        "The {thing} was colder than it looked.",
    ),
    place=(
        "{place} had nothing to say about it. It had seen people in a hurry before.",
        "From {place} came a sound like a long breath let go between the teeth.",
        "There is a smell that belongs to {place} and to nowhere else, and it had got into their clothes.",
        "Behind them lay {place}, flat and patient, like a bill that has not been sent yet.",
        "Everything about {place} was exactly as it had been, which helped less than it should have.",
        "{place} kept its own time, and it was later there.",
    ),
    pair=(
        "{a} glanced at {b}. {b} was looking somewhere else, with great attention.",
        "“Well?” said {a}. “Well,” said {b}; and that was the whole of the discussion.",
        "{b} might have answered, and drew breath for it, and thought better.",
        "They had not agreed on who should go first, and so for a moment {a} and {b} both went.",
        "“You needn't have come,” said {a}. “No,” {b} agreed, and came.",
        "{a} said something under the breath. {b} was good enough not to hear it.",
        "“If we are late,” {a} began. “Then we are late,” said {b}.",
        "{a} looked at {b} the way one looks at a clock that has been right so far.",
        "Between {a} and {b} there was by now a silence with a good deal of furniture in it.",
    ),
    alone=(
        "{a} did what there was to do, in order, because the order was something to hold on to.",
        "{a} found that it was possible to be frightened and to notice how well a thing was made.",
        "It was not courage. {a} had merely run out of reasons for stopping.",
        "{a} counted, as other people pray, and reached a number that meant nothing at all.",
        "{a} had thought that it would be louder.",
        "There was a sentence ready for this, and {a} did not use it.",
        "{a} noticed, with some surprise, that breathing had to be attended to.",
        "It was the sort of moment that {a} would explain badly, later, to people who had been warm at the time.",
        "{a} waited for it to feel like something. It felt like work.",
    ),
    pause=(
        "For a while nobody spoke.",
        "Somewhere a drop fell, and after it, not very regularly, another.",
        "The light had gone down a shade.",
        "A gull asked something and was not answered.",
        "It took no longer than it takes to tell, and it seemed to.",
        "Nothing else had changed; that was the strange part.",
        "The tide could be heard thinking.",
        "Far off, a dog gave its opinion and withdrew it.",
        "The wind had dropped, or was waiting.",
        "It had grown colder by the width of a coat.",
    ),
    closing=(
        "{a} did not move. It seemed important, just then, not to be the first.",
        "And after that there was only the waiting, which {a} had always been good at.",
        "“You had better come in,” said {a}, “since you are here.”",
    ),
)
CHINESE = Frames(
    opening=(
        "剩下的工夫比{a}算的还要少，可这时候说出来也没有用。",
        "一夜没有人睡好，天亮以后样样东西都看得格外清楚，像凑在灯下的字。",
        "事情总是这样开头的：先有一个人在找鞋。",
        "{a}原以为会下雨。没有下，四下里静得很，一点响动都传得老远。",
    ),
    recall=(
        "昨夜桌边那句话，{a}走一步就听见一回：“{line}”",
        "“{line}”说的时候不过是一句话，过了一夜，竟长大了。",
        "那么多话里，只有一句在{a}心里坐着不肯走：“{line}”",
    ),
    thing=(
        "{a}望着{thing}，望了有核一笔账的工夫，核出来还是那个数。",
        "“当心{thing}。”{b}说，说得迟了一步。",
        "过后{a}记得最牢的，倒不是谁说了什么，是{thing}。",
        "单看{thing}，没有一点稀奇的地方，这些年人人都是这样看过去的。",
        "{thing}摸上去，比看着要凉。",
        "“就是{thing}。”{b}说。“是了。”{a}说，两个人谁也没有先去碰它。",
        "多少年了，{thing}还在这里，倒像是它在看着来的人。",
    ),
    place=(
        "{place}还是老样子，急着赶路的人它见得多了。",
        "{place}那边传来一声响，长长的，像有人咬着牙松了一口气。",
        "{place}有一种别处没有的气味，他们的衣裳里已经都是了。",
        "回头望，{place}平平地躺在那里，像一张还没有送出去的账单。",
        "{place}样样都同从前一样，可这也安慰不了谁。",
        "{place}的时辰走得比别处快，天先在那边黑下来。",
    ),
    pair=(
        "{a}看了{b}一眼，{b}正很用心地看着别处。",
        "“怎么样？”{a}问。“就这样。”{b}说。商量到此为止。",
        "{b}像要开口，气都提上来了，想一想又放了回去。",
        "谁走在前头并没有说好，{a}和{b}同时迈了一步，又同时停下。",
        "“你本来可以不来的。”{a}说。{b}说：“是。”说完仍旧跟着。",
        "{a}低低地说了一句，{b}只当没有听见。",
        "“要是晚了——”{a}说。“晚了就晚了。”{b}说。",
        "{a}看{b}，像看一座一向走得准的钟。",
        "{a}和{b}中间隔着一段不说话，里头的东西已经摆得很满。",
        "{b}把身子侧了侧，让{a}先过，两个人都没有道谢。",
    ),
    alone=(
        "{a}把该做的事一样一样做过去，总得有个先后，人才有个抓手。",
        "{a}发觉一个人可以一面害怕，一面还看得出一样东西做得好不好。",
        "算不得胆量，{a}不过是把停下来的理由都用完了。",
        "别人到了这种时候念佛，{a}数数，数到一个没有意思的数目上。",
        "{a}原以为会有很大的响动，结果一点也没有。",
        "有一句话是早就备下的，到了跟前，{a}没有拿出来用。",
        "{a}觉出连喘气也要分一份心去照看，自己也有些意外。",
        "这样的时候，日后对人讲起来总讲不好，听的人身上都是暖的。",
        "{a}等着心里有点什么，等来的不过是手上的活计。",
        "{a}把灯往高处举了举，又放下来，亮的还是那一小块地方。",
    ),
    pause=(
        "有一阵谁也没有作声。",
        "不知哪里落下一滴水，隔了一会儿，又是一滴。",
        "天色又暗了一层。",
        "远远的有一只鸟叫，像问了句什么，没有人答它。",
        "前后不过一会儿，可真觉得长。",
        "旁的什么都没有变，怪就怪在这里。",
        "潮水在底下想心事，听得见。",
        "风像是停了，又像是在等。",
        "冷了下来，冷得刚好是一件夹袄的厚薄。",
        "水光在石头上晃了晃，又不晃了。",
        "远处有狗叫了两声，自己觉得没趣，也就不叫了。",
    ),
    closing=(
        "{a}站着没有动。这种时候，先动的那一个总要吃亏。",
        "往后就只剩下等，等是{a}最拿手的。",
        "“既然来了，”{a}说，“就请下来吧。”",
    ),
)
