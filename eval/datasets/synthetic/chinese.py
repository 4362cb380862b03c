"""The Chinese of `dataset=synthetic`."""

from __future__ import annotations

import re
from datetime import date
from typing import ClassVar, Final

from eval.datasets.synthetic.language import VISIT, Language, Wanted, personal


class Chinese(Language):
    """Every relation by 的, as in 沈青禾的表亲的单位."""

    _WORDS: Final = {
        "neighbour": "邻居",
        "cousin": "表亲",
        "teacher": "老师",
        "workplace": "单位",
        "town": "所在地",
        "dish": "名菜",
    }
    sentences: ClassVar = {
        "neighbour": "{s}的邻居是{v}",
        "cousin": "{s}的表亲是{v}",
        "teacher": "{s}的老师是{v}",
        "workplace": "{s}的单位是{v}",
        "town": "{s}的所在地是{v}",
        "dish": "{s}的名菜是{v}",
    }
    names: ClassVar = {relation: f"的{word}是" for relation, word in _WORDS.items()}
    update = "{f}；以前是{o}"
    visit = "{s}在{d}去了{v}"
    days = ("昨天", "前天", "三天前", "四天前")
    dated = "{}"
    frames = ("{}。", "对了，{}。", "听人说，{}。", "据我所知，{}。")
    patterns: ClassVar = {
        "s": "(?P<s>[一-龥]{2,6}?)",
        "v": r"(?P<v>[一-龥]{2,6})(?=[。；\n]|$| \()",
        "d": "(?P<d>[^。；]+?)",
    }

    def written(self, day: date) -> str:
        """As in `2023年5月6日`."""
        return f"{day.year}年{day.month}月{day.day}日"

    def parse(self, words: str) -> date | None:
        """See Language."""
        match = re.fullmatch(r"(\d+)年(\d+)月(\d+)日", words)
        return date(*map(int, match.groups())) if match else None

    def ask(self, subject: str, chain: tuple[str, ...], day: date | None = None) -> str:
        """See Language."""
        if chain[0].startswith(VISIT):
            return f"{subject}什么时候去了{chain[0].removeprefix(VISIT)}？"
        wanted = "谁" if personal(chain[-1]) else "什么"
        told = "的".join([subject, *(self._WORDS[one] for one in chain)]) + f"是{wanted}？"
        return told if day is None else f"{self.written(day)}那天，{told}"

    def asked(self, question: str) -> Wanted | None:
        """See Language."""
        if visit := re.fullmatch(r"(.+)什么时候去了(.+)？", question):
            return Wanted(visit[1], (VISIT + visit[2],))
        relations = {word: relation for relation, word in self._WORDS.items()}
        whole = re.fullmatch(r"(?:(.+)那天，)?(.+?)((?:的\w+?)+)是(?:谁|什么)？", question)
        words = whole[3].split("的")[1:] if whole else []
        if whole is None or any(word not in relations for word in words):
            return None
        chain = tuple(relations[word] for word in words)
        return Wanted(whole[2], chain, self.parse(whole[1] or ""))
