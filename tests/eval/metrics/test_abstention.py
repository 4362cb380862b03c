"""Refusals are recognised, and answers that merely sound negative are not."""

import pytest

from eval.metrics.abstention import MAX_WORDS_AFTER, abstains

REFUSALS = """\
No information available
Not mentioned
I don't know.
I’m not sure.
I'm sorry, but I do not have enough information to answer that.
I have no record of that.
Cannot be determined.
It cannot be determined from the conversation.
I can't tell from these memories.
Unable to determine from the context.
Sorry.
Unknown.
N/A
The year is unknown.
The exact date is not specified in the conversation.
There is no information about her trip to Norway.
There's no mention of a dog.
The memories do not mention where the cake was bought.
The context doesn't say.
Based on the conversation, there is no mention of a trip.
In the conversation, the name of the dog is not given.
None. The conversation does not mention any city.
No specific date mentioned
Name not given.
There is not enough information to answer.
The notes list a party. Answer: Not mentioned.
The best answer is "no information available".
There is no record of Ada playing chess, but Bea plays it every week.
Her birthday is not mentioned. The only date given is that of the move.
没有提到
对话中没有提到她的生日。
我不知道。
抱歉，没有相关信息。
具体日期无法确定。
根据对话，无法确定具体日期。
从对话中无法得知。
没有足够的信息来回答这个问题。
No answer is given.
(Not mentioned)
（未提及）
记忆中没有关于旅行的信息
不清楚
未知
对话没有提及小李养猫，但是提到小王养了一只狗。""".splitlines()

ANSWERS = """\
(blue)
（蓝色）
No.
No, she has not.
None
Not yet
No pets.
Not really, he prefers tea.
She is not sure about moving.
He told her not to give up.
Lack of sleep
No Man's Land
The unknown soldier
The future is uncertain.
She cannot find her keys.
She could not identify the bird.
She does not know how to swim.
He did not mention it to his boss because he was afraid.
The rejection letter did not provide feedback.
The store was closed and no tickets were available.
No other games were mentioned besides chess.
In the context of her thesis, she read about bees.
In the spring of 2020
In May 2021 (exact day not mentioned)
Ada went to Oslo, but the exact date is not mentioned.
No, there is no evidence that she likes it.
Yes; the name of the dog is not mentioned.
Not specified, likely June 2020
The exact date is not given, but it was likely in May 2021.
The conversation does not state the exact year; however, she moved three years before 2020.
While there is no explicit mention of it, she would probably enjoy chess.
There is no mention of a sport in the notes. Answer: chess
没有，她不喜欢。
他不知道妈妈的生日。
她无法确定要不要搬家。
她没有养宠物
没有足够的钱
不但去了北京，还去了上海
未来的计划是读博士
虽然没有明确提到，但她可能喜欢猫。
没有提到具体日期，但应该是五月。
没有具体说明，可能是2020年""".splitlines()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        *((answer, True) for answer in (*REFUSALS, "", " \n")),
        *((answer, False) for answer in (*ANSWERS, "...", "?", "。")),
    ],
)
def test_refusals_and_answers(answer, expected):
    assert abstains(answer) is expected
    assert abstains(answer.upper()) is expected


def test_a_long_answer_after_a_caveat_answers():
    caveat = "The notes are short. It is not mentioned by name."
    refusal = "The conversation does not mention a name."
    assert not abstains(f"{refusal} {'word ' * (MAX_WORDS_AFTER + 1)}")
    assert abstains(f"{refusal} {'word ' * MAX_WORDS_AFTER}")
    assert not abstains(caveat)


@pytest.mark.parametrize("part", ["answer ", "!?.", "(", "x"])
def test_a_model_that_repeats_itself_has_answered(part):
    assert not abstains(part * 40_000)  # at the square of its length this would take minutes
