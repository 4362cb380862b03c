"""Terms, phrases and the language of texts."""

import sys

import pytest

from memsys.core.terms import cjk_terms, is_cjk, language_of, terms, words
from memsys.core.titles import title_of
from memsys.strategies.decompose import conjunction_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Thanks! I signed up for a pottery class yesterday.", "pottery class"),
        ('We watched "The Long Way Home" at the Lantern cinema.', "The Long Way Home"),
        ("It was Ada Brook, a clockmaker.", "Ada Brook"),
        ("Anything on hand?", "hand"),
        ("She keeps unusually beautiful antique porcelain dolls.", "antique porcelain dolls"),
        ("Tomorrow's the market, how've you been?", "market"),
        ("It was great, thanks! Anyway, how's everything?", ""),
        ("", ""),
        ("...", ""),
        ("用户喜欢吃辣的食物，特别是川菜和火锅", "用户喜欢吃辣"),
        ("我对海鲜过敏", "海鲜过敏"),
        ("昨天看了《星际穿越》，很震撼", "星际穿越"),
        ("我上周吃了麻辣烫", "麻辣烫"),
        ("a ladder and a hammer", "ladder"),  # of two equal phrases the first
        ("granite lantern copper saffron meadow kettle", "granite lantern copper"),  # short
    ],
)
def test_the_most_telling_words_are_the_title(text, title):
    assert title_of(text) == title
    assert len(title_of("一万二千三百四十五六七八九十")) == 8
    asked = "Is that Mara Lindqvist's kiln, Theo?"  # names of speakers are no title
    assert title_of(asked) == "Mara Lindqvist's kiln"
    assert title_of(asked, frozenset({"Mara Lindqvist", "Theo"})) == "kiln"


@pytest.mark.parametrize(
    ("question", "conjuncts"),
    [
        ("What do Mara and Theo both like?", ("Mara", "Theo")),
        ("Which city have both Mara and Theo Lang seen?", ("Mara", "Theo Lang")),
        ("How do Ann, Bob, and Cy travel?", ("Ann", "Bob", "Cy")),
        ("How do Ann, Bob & Cy travel?", ("Ann", "Bob", "Cy")),
        ("Who is Mara and Theo's favourite potter?", ("Mara", "Theo's")),
        ("What did Mara and her aunt make?", ("Mara", "her aunt")),
        ("Does Theo live near the sea or the hills?", ("the sea", "the hills")),
        ("Where was Theo between June 3 and June 9 2024?", ("June 3", "June 9 2024")),
        ('Who read "Up and Down" and "Far"?', ('"Up and Down"', '"Far"')),
        ("王芳和李明都喜欢什么？", ("王芳", "李明")),
        ("苹果、香蕉和梨子的价格是多少？", ("苹果", "香蕉", "梨子")),
        # What joins no phrases is whole.
        ("", None),
        ("and", None),
        ("What did Mara make and", None),
        ("Where did Mara sell a bowl?", None),
        ('Who read "Salt and Pepper"?', None),
        ("他喜欢《战争与和平》吗？", None),
        ("What is it and what was it?", None),
        ("天气暖和吗？", None),
    ],
)
def test_conjuncts_are_found(question, conjuncts):
    found = conjunction_of(question)
    assert (found.conjuncts if found else None) == conjuncts


def test_each_conjunct_gets_the_rest_of_the_question():
    found = conjunction_of("What do both Mara and Theo's aunt like in May?")
    assert found is not None
    assert found.whole == "Mara and Theo's"
    names = {"王芳和李明都喜欢什么？": True, "What did Mara and her aunt make?": False}
    for question, are_names in (names | {"Who sells bowls and mugs?": False}).items():
        assert conjunction_of(question).are_names is are_names
    assert found.are_names
    assert found.questions == ("What do Mara aunt like in May?", "What do Theo's aunt like in May?")


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (words, "Two CATS ran, quickly!", ("two", "cats", "ran", "quickly")),
        (words, "Ann's dog isn't here", ("ann's", "dog", "isn't", "here")),
        # A curly apostrophe is an apostrophe.
        (words, "Ann’s dogs' bowl", ("ann's", "dogs", "bowl")),
        (words, "'quoted'", ("quoted",)),
        (words, "snake_case room 4b", ("snake", "case", "room", "4b")),
        (words, "用iPhone拍照", ("用", "iphone", "拍照")),
        (words, "Café Ünal", ("café", "ünal")),
        (words, "…!?", ()),
        (words, "", ()),
        # Stems and bigrams, without stopwords; repeats and order stay.
        (terms, "She is running to the stations", ("run", "station")),
        (terms, "my sister's ponies", ("sister", "poni")),
        (terms, "my sister’s ponies", ("sister", "poni")),
        (terms, "What did they do there?", ()),
        (terms, "don't, can’t and won't", ()),
        (terms, "我喜欢爬山", ("我喜", "喜欢", "欢爬", "爬山")),
        (terms, "用iPhone拍照", ("用", "iphon", "拍照")),
        (terms, "rain, sun, rain", ("rain", "sun", "rain")),
        (cjk_terms, "猫", ["猫"]),
        (cjk_terms, "的", []),  # a function character alone says nothing
        (cjk_terms, "我们", []),  # nor do two
        (cjk_terms, "我家", ["我家"]),  # with one content character it does
        (cjk_terms, "是我的猫", ["的猫"]),
        (is_cjk, "naïve", False),
        (is_cjk, "tea 茶", True),
        (is_cjk, "。", False),
    ],
)
def test_a_text_is_read_as(read, text, expected):
    assert read(text) == expected


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
        # Nor do words that English has as well: "was", "in", "is", "so", "am", "by", "my".
        (["Was je gisteren in Utrecht?", "Nee, ik was in Leiden. Is Anna er ook?"], "nl"),
        (["Was jy by die see?", "Ja, dit was so lekker. My ma is nog in die Kaap."], "af"),
        (["Wie war es in Rom?", "So schön! Am Abend war ich an der Tiber, in so einer Bar."], "de"),
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
    assert len(read) == 2
    assert all(2_700 < len(text) <= 3_300 for text in read)


def test_function_words_decide_without_the_classifier(monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid", None)  # an import of it fails
    assert language_of(["We were at the lake, and it was as cold as ever."]) == "en"
    assert language_of(["我们昨天在湖边,水还是很冷的。"]) == "zh"
    with pytest.raises(ImportError):
        language_of(["Wir waren gestern am See, und das Wasser war kalt."])
