from __future__ import annotations

import sys

import pytest

from memsys.core.language import language_of

CHATS = {
    "en": ["hey!! how r u", "good u? lol 😂", "went 2 the movies w anna", "gotta work tmrw"],
    "de": ["Hallo, wie geht's dir?", "Gut! Ich war gestern mit Anna im Kino.", "Echt? 😊"],
    "fr": ["Salut, ça va ?", "Oui ! Je suis allée à Lyon ce week-end.", "Trop bien 😋"],
    "es": ["¡Hola! ¿Qué tal?", "Muy bien, ayer fui al mercado con mi hermana.", "jaja"],
    "pl": ["Cześć, co słychać?", "Wszystko dobrze, wczoraj byłem w kinie z Anią."],
    "ru": ["Привет, как дела?", "Хорошо, вчера ходили с Аней в кино. 😊"],
    "ar": ["مرحبا، كيف حالك؟", "أنا بخير، ذهبت أمس إلى السينما مع سارة."],
    "th": ["สวัสดี เป็นยังไงบ้าง", "สบายดี เมื่อวานไปดูหนังกับแอนมา"],
    "ja": ["こんにちは、元気?", "うん。昨日アンナと映画に行ったんだ。", "何を見たの?"],
    "zh": ["你好,最近怎么样?", "挺好的,昨天和小李去看电影了。😊", "看的什么?"],
}


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        *((texts, code) for code, texts in CHATS.items()),
        # Foreign words, code and tables do not change it.
        (["我用 Python 写了一个 script,deploy 到 AWS 上了", "OK,那你 check 一下 email"], "zh"),
        (["[3 June, 2024] Ada: 你好,最近怎么样?", "[4 June, 2024] Bo: 我去看了医生"], "zh"),
        (["你好,最近怎麼樣?", "還不錯,昨天跟朋友去看電影。"], "zh"),
        (["The crème brûlée was great!", "谢谢! See you at the party on Monday."], "en"),
        (
            ["Fix this:\n```python\ndef f(x):\n    return int(x)\n```", "Sure, you can map it."],
            "en",
        ),
        (
            ["| Day | Task |\n|---|---|\n| 1 | first chapter |", "Shall we meet there at 12:30?"],
            "en",
        ),
        # Most of the text decides, wherever it is.
        (CHATS["en"] * 4 + CHATS["zh"] * 40 + CHATS["en"] * 4, "zh"),
        # Too few words say nothing.
        *(([], "und"), (["", "  "], "und"), (["Hi", "ok lol"], "und")),
        (["😂😂😂", "12:30!!", "..."], "und"),
    ],
)
def test_a_few_turns_of_chat_are_enough(texts, code):
    assert language_of(texts) == code


def test_a_bounded_sample_is_read(monkeypatch):
    read: list[str] = []

    class Classifier:
        @staticmethod
        def rank(text: str) -> list[tuple[str, float]]:
            read.append(text)
            return [("en", 0.0)]

    monkeypatch.setitem(sys.modules, "py3langid", Classifier)
    language_of(["ab " * 1_000_000, "cd " * 1_000_000])
    language_of(["ab " * 1_000] * 10_000)
    assert all(9_000 < len(text) <= 11_000 for text in read)
