import pytest

from memsys.core.terms import cjk_terms, is_cjk, stem, terms, words


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


def test_a_possessive_is_the_word_itself():
    assert stem("mother's") == stem("mother") == stem("mothers")
