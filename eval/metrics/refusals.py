"""Patterns of refusals in English and Chinese, for lowercase clauses.

A refusal is about the available information, not about the world: "no information on his pets" and
"unknown" refuse, "no pets" and "her father is unknown to her" answer. So most patterns require the
start of a clause, a noun for information or a noun for its source.
"""

from __future__ import annotations

import re

_KNOWLEDGE = (
    r"(?:information|info|evidence|mentions?|memory|memories|records?|indications?|details?|data|"
    r"references?|answer|statement|context)"
)
_SOURCE = (
    r"(?:memory|memories|conversations?|context|dialogues?|chat|text|transcript|passage|excerpts?|"
    r"records?|history|information|data|it)"
)
_FACET = r"(?:date|time|duration|name|title|location|reason|year)"
_SAID = (
    r"(?:mentioned|specified|stated|recorded|noted|listed|described|indicated|disclosed|detailed)"
)
_AVAILABLE = r"(?:given|found|provided|available|known|discussed|clear|included|shared)"
_STATE = (
    r"(?:mention|specify|say|state|tell|provide|contain|indicate|include|give|have|show|reveal|"
    r"cover|describe|detail|discuss|clarify)"
)
_SETTLED = (
    r"(?:determined?|answer(?:ed)?|infer(?:red)?|identif(?:y|ied)|confirm(?:ed)?|verif(?:y|ied))"
)
_ADVERB = r"(?:(?:explicitly|specifically|directly|clearly|exactly|currently|actually) )?"
_NOT = r"(?: ?not|n't)"
_DO = rf"(?:do|does|did){_NOT}"
_HAVE = rf"(?:has|have){_NOT}"
_BE = rf"(?:is|are|was|were|been){_NOT}"
_CAN = rf"(?:cannot|can't|can{_NOT}|could{_NOT})"
_NO = r"^(?:there(?:'s| is| are| was| were) |i (?:have|found|find|see) )?no\b"
_OTHER = r" (?:other|further|additional)\b"  # "no other games mentioned" answers with the rest
EXACT = (
    r"\b(?:exact|specific|explicit|precise|direct)(?:ly)?\b|具体|明确|确切"  # as in "no exact date"
)

_ENGLISH = (
    # No information about it. There is no mention. I have no record. The memories contain no date.
    rf"{_NO} (?:\w+ ){{0,3}}?{_KNOWLEDGE}\b",
    rf"{_NO}.* in (?:the|any|my|our|available|these) (?:\w+ )?{_SOURCE}\b",
    rf"{_NO} (?:\w+ )?(?:recorded|documented|specified|stated|mentioned) ",
    rf"\b{_SOURCE} (?:\w+ )?(?:contains?|has|have|holds?|provides?|gives?|includes?) no\b",
    r"\bno information (?:is |was )?(?:available|provided|given|found)\b",
    rf"^(?:there(?:'s| is| are) )?(?:insufficient|not enough|a?\s?lack of|not any) {_KNOWLEDGE}\b",
    # No date mentioned. There is no team specified. No advice given. None mentioned.
    rf"(?:{_NO}|^none\b)(?!{_OTHER})[^,]*\b{_SAID}\b(?!.*\b(?:besides|except|beyond|other than)\b)",
    rf"^no\b(?!{_OTHER})(?:(?!\b(?:is|are|was|were)\b)[^,])* {_AVAILABLE}$",
    rf"^no\b(?!{_OTHER}).*(?:{EXACT}).* {_AVAILABLE}\b",
    # Not mentioned. Name not given. The date is not specified. The memories do not say.
    rf"^not {_ADVERB}(?:{_SAID}|{_AVAILABLE}|sure|in the {_SOURCE})\b",
    rf"^(?:[\w']+ ){{1,4}}?(?<!has )(?<!have )(?<!had )not {_ADVERB}{_SAID}\b",
    rf"^(?:[\w']+ ){{0,2}}?{_FACET} not {_ADVERB}{_AVAILABLE}\b",
    rf"\b{_BE} {_ADVERB}{_SAID}\b",
    rf"(?:\b(?:{_KNOWLEDGE}|{_FACET})\b|{EXACT}).*\b{_BE} {_ADVERB}{_AVAILABLE}\b",
    rf"\b{_SOURCE} {_DO} {_ADVERB}{_STATE}\b",
    rf"^(?:(?!\b(?:is|are|was|were|and he|and she)\b).){{1,80}}\b(?:{_DO}|{_HAVE}) {_ADVERB}"
    r"(?:mention(?:ed)?|specify|specified|stated?|say anything|disclosed?)\b(?! (?:it|this) to\b)",
    # I don't know. I cannot tell. It cannot be determined. Unknown. The year is unclear.
    rf"^(?:i )?do{_NOT} (?:know|recall|remember|have (?:\w+ ){{0,3}}?(?:that|{_KNOWLEDGE}))\b",
    r"^i (?:have no idea|am (?:not sure|unsure|not certain|not aware))\b",
    rf"^(?:(?:i|we) )?(?:{_CAN}|(?:am |are )?unable to) (?:tell|say|be {_SETTLED}|{_SETTLED})\b",
    rf"^(?:(?:i|we) )?(?:{_CAN}|(?:am |are )?unable to) find (?:\w+ ){{0,3}}?{_KNOWLEDGE}\b",
    rf"\b{_CAN} be {_ADVERB}(?:{_SETTLED}|ascertained|known)\b",
    r"^it is (?:not possible|impossible) to (?:determine|say|tell|know|answer|infer)\b",
    r"^(?:(?:it|this|that|the .{1,80}?) (?:is|remains|was) )?(?:currently )?"
    r"(?:unknown|unclear|unspecified|undetermined|not known|not clear|n/a)(?! to )\b",
)
_CHINESE = (
    r"(?<!不)(?:没有|没|未|并未|从未|未曾)(?:有|被)?(?:明确|具体|直接|任何)?(?:地)?"
    r"(?:提到|提及|提过|说明|指明|指出|给出|谈到|说到|说过|记载|注明)",
    r"(?:没有|无|缺乏|缺少)(?:找到|足够|任何|相关|可用|具体|明确|有关|的|该|这方面|关于[^，]{1,20}的)+"
    r"(?:信息|记录|记忆|证据|资料|内容|线索)",
    r"(?:对话|记忆|资料|上下文|文中|聊天|记录)(?:中|里|内)?(?:并|都|也)?(?:没有|无)[^，]{0,12}"
    r"(?:信息|记录|记忆|证据|内容|线索|答案)",
    r"^(?:没有|无)(?:信息|记录|证据|资料)",
    r"^(?:我|目前|暂时|现在|这个|对此|也|并|还|尚)*(?:不知道|不清楚|不太清楚|不确定|不了解|不记得)",
    # "She cannot decide whether to move" answers.
    r"(?<![他她们己])(?:无法|不能|难以)(?:从[^，]{1,12}(?:中|里))?"
    r"(?:确定|判断|回答|得知|知道|确认|推断|获知|看出|知晓)(?!要不要|该不该|是否要|是否该)",
    r"无从得知|不得而知|信息不足|查无|(?:日期|时间|地点|名字|原因|情况)不(?:详|明)|^(?:未知|不详|不明)",
)

REFUSAL = re.compile("|".join(_ENGLISH + _CHINESE))
