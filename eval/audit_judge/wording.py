"""Texts of probes in English and Chinese: refusals, long answers and vague answers."""

from __future__ import annotations

import re

from eval.datasets.types import Question
from eval.metrics.normalise import terms
from memsys.text.terms import STOPWORDS, is_cjk

REFUSALS = {
    "en": (
        "I don't know.",
        "This is not mentioned in the conversation.",
        "There is no information about that in what I have been given.",
    ),
    "zh": ("我不知道。", "对话中没有提到。", "没有找到相关的信息。"),
}
# Before and after the answer: neutral, so that it neither adds to the answer nor contradicts it.
_LONG = {
    "en": (
        "Thank you for the question. I went through everything that the two of them told each "
        "other, from their first conversation to the last one, and looked for the places where "
        "this comes up. They touch on a good many subjects along the way, and not all of them "
        "matter here. What answers your question, as far as the conversations go, is this: ",
        " I hope that this is what you were looking for. They return to the subject more than "
        "once, and each time they speak of it in their own way, which is why I read all of it "
        "before I answered. If you would like to know more about the people, about what they did "
        "before and after, or about anything else that they mention, just ask, and I will look "
        "it up for you in the same way.",
    ),
    "zh": (
        "谢谢你的提问。我把他们两个人从头到尾的对话都看了一遍，找了提到这件事的地方。"
        "他们聊到的话题很多，并不都和这个问题有关。就对话的内容来说，问题的答案是：",
        "。希望这正是你想了解的。他们不止一次聊到这个话题，每次的说法都不太一样，所以我都看完了才回答。"
        "如果你还想了解他们的其他事情，可以接着问，我再用同样的办法去找。",
    ),
}
_VAGUE = (
    (re.compile(r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year))\b"),
     "some time ago, around the time they talked about it"),
    (re.compile(r"\bhow (?:long|often|many|much|old)\b"), "quite a bit, as far as they said"),
    (re.compile(r"\bwho(?:m|se)?\b"), "someone they both know"),
    (re.compile(r"\b(?:where|which (?:city|country|town|place))\b"), "a place they have been to"),
    (re.compile(r"\bwhy\b"), "there were several reasons for it"),
    (re.compile(r"\b(?:what|which|how)\b"), "they mentioned something of the kind"),
)  # fmt: skip
_VAGUE_ZH = (
    (re.compile(r"什么时候|哪天|哪年|哪月|几月|几号|何时"), "前一阵子的事"),
    (re.compile(r"多少|几|多久|多长"), "有一些，具体要看情况"),
    (re.compile(r"谁|哪位"), "他们认识的一个人"),
    (re.compile(r"哪里|哪儿|哪座|哪个|在哪"), "他们去过的一个地方"),
    (re.compile(r"为什么|为何"), "有好几方面的原因"),
)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TOPIC_WORDS = 4
_ASKING = STOPWORDS | set("s t many much long often date day month year time".split())


def buried(answer: str) -> str:
    """Return a long answer with `answer`, verbatim, in the middle, in its language."""
    before, after = _LONG["zh" if is_cjk(answer) else "en"]
    stop = "" if answer.endswith((".", "!", "?", "。")) or is_cjk(answer) else "."
    return before + answer.rstrip("。" if is_cjk(answer) else "") + stop + after


def vague(question: Question) -> str | None:
    """Return an answer on the topic without information, or None.

    It combines words of the question with a stock phrase for what is asked. None if it would
    contain all of the gold's terms.
    """
    answer = _vague_zh(question.text) if is_cjk(question.text) else _vague_en(question.text)
    return None if set(terms(question.gold or "")) <= set(terms(answer)) else answer


def _vague_en(text: str) -> str:
    """The first question word decides: in "What did the man who left sell?" it is what, not who."""
    asked = [
        (found.start(), phrase) for ask, phrase in _VAGUE if (found := ask.search(text.lower()))
    ]
    stock = min(asked, key=lambda one: one[0])[1] if asked else "they spoke of it"
    topic = [word for word in _WORD.findall(text) if word.lower() not in _ASKING][:_TOPIC_WORDS]
    about = f" It has to do with {', '.join(topic)}." if topic else ""
    return f"{stock[0].upper()}{stock[1:]}.{about}"


def _vague_zh(text: str) -> str:
    stock = next((phrase for ask, phrase in _VAGUE_ZH if ask.search(text)), "他们提到过类似的事")
    return f"{stock}，他们聊天的时候说起过。"
