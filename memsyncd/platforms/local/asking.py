"""What a question asks for: its likely categories, and the shape an answer would have."""

# ruff: noqa: E501  (a pattern is read best on one line)

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

_INTENT = {
    "problems_and_fixes": re.compile(r"\b(?:error|fail\w*|broke\w*|crash\w*|bug|wrong|fix\w*|cause\w*|problem|trouble|slow|leak\w*|stuck|hang\w*|fehler|erreur|problema)\b", re.IGNORECASE),
    "workflows": re.compile(r"\b(?:how (?:do|can|to|should)|command|steps?|run|deploy\w*|procedure|wie (?:kann|starte)|comment)\b", re.IGNORECASE),
    "decisions_and_constraints": re.compile(r"\b(?:should|may|must|allowed|prefer\w*|decide\w*|decision|chose\w*|policy|rule|convention|why (?:did|do|not)|which|instead|darf|soll\w*)\b", re.IGNORECASE),
    "results": re.compile(r"\b(?:how (?:much|fast|many|long|big|large)|numbers?|result\w*|benchmark\w*|accuracy|faster|gain\w*|improve\w*)\b", re.IGNORECASE),
}  # fmt: skip


_NUMBER = re.compile(r"(?<![^\W\d_])\d")
_PORT = re.compile(r"(?<![\w.])\d{2,5}(?![\w.]\d)")
_MEASURED = re.compile(
    r"\d\s?(?:ms|s|sec\w*|min\w*|h|hours?|days?|weeks?|months?|years?|%|x|[kmgt]i?b|times|fps|µa|ma|eur|usd)\b|[$€]\s?\d|\b(?:half|twice|eight|ten|two|three|four|five) ",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\S/\S|`[^`]*\.[a-z]{2,4}`|://|\b(?:bucket|folder|directory|server|table|region)\b", re.IGNORECASE)
_COMMAND = re.compile(r"`[^`]+ [^`]+`|\b(?:click|open the|menu)\b", re.IGNORECASE)
_PERSON = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}|\bteam\b")
_WHEN = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:daily|weekly|nightly|hourly|monthly|morning|noon|midnight)\b|\d{1,2}:\d\d|曜日|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|lundi|mardi|mercredi|jeudi|vendredi|lunes|martes|miercoles|jueves|viernes)s?\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|sixty|ninety|half an?|ein\w*|zwei|drei|vier|un[ea]?|deux|trois|dos|tres)[ -]?"
    r"(?:ms|s|sec\w*|min\w*|h|hours?|days?|nights?|weeks?|months?|quarters?|years?|decades?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|heures?|jours?|semaines?|mois|ans?|horas?|dias?|semanas?|meses)\b"
    r"|\b(?:forever|indefinitely|permanently|overnight|until)\b|\d\s?(?:日|時間|分|秒|週|か月|年)",
    re.IGNORECASE,
)
_EXPECTED = (
    (re.compile(r"\b(?:how long|for how many (?:days|weeks|months|years)|combien de temps|wie lange|cuanto tiempo)\b|何秒|何分|何日", re.IGNORECASE), (_DURATION,)),
    (re.compile(r"\b(?:how (?:fast|slow|quick\w*|much|many|often|big|large|small|far|high|old)|combien|wie (?:viel\w*|schnell|oft|gross)|cuant\w+|いくつ)\b", re.IGNORECASE), (_MEASURED, _NUMBER)),
    (re.compile(r"\b(?:which|what) (?:version|limit|number|size|rate|percentage)\b", re.IGNORECASE), (_NUMBER,)),
    (re.compile(r"\b(?:which|what|welche[mnrs]?|quel|que) (?:tcp )?port\b", re.IGNORECASE), (_PORT,)),
    (re.compile(r"\b(?:where|which (?:folder|directory|bucket|file|path|server|url)|what (?:folder|directory|file|path|url)|wo|donde|in welche[mr]?)\b|どこ", re.IGNORECASE), (_PLACE,)),
    (re.compile(r"\b(?:command|how (?:do|can|could|would|should|to)\b(?! (?:long|many))|befehl|commande|orden|comando)\b|コマンド", re.IGNORECASE), (_COMMAND,)),
    (re.compile(r"\b(?:who|whose|whom|wer|qui|quien)\b|誰", re.IGNORECASE), (_PERSON,)),
    (re.compile(r"\b(?:when|which (?:day|weekday)|what (?:day|time)|wann|quand|cuando)\b|いつ", re.IGNORECASE), (_WHEN,)),
)  # fmt: skip


def likely_categories(question: str) -> AbstractSet[str]:
    """Return the categories that a folded `question` sounds like."""
    return {category for category, pattern in _INTENT.items() if pattern.search(question)}


def expected_shapes(question: str) -> Sequence[re.Pattern[str]]:
    """Return patterns of what a folded `question` asks for: a figure, a place, a command, a person, a time."""
    return [shape for asks, shapes in _EXPECTED if asks.search(question) for shape in shapes]


_SYSTEM = r"(?:environment|env|server|system|instance|machine|host|site|stage|cluster|database|db|deployment|port|url|key|bucket|tier|umgebung)"
_ENVIRONMENTS = (
    re.compile(rf"\b(?:staging|preprod|pre-production|sandbox|qa|test(?:ing)? {_SYSTEM}|testumgebung|testserver|testsystem)\b", re.IGNORECASE),
    re.compile(r"\b(?:production|prod|live (?:site|system|server)|produktion\w*|produktiv\w*)\b", re.IGNORECASE),
    re.compile(r"\b(?:local(?:ly|host)?|development|dev|lokal\w*|entwicklungs\w+)\b", re.IGNORECASE),
)  # fmt: skip


def environments(text: str) -> AbstractSet[int]:
    """Return the kinds of environment that a folded `text` names: one for tests, the real one, a developer's own."""
    return {kind for kind, pattern in enumerate(_ENVIRONMENTS) if pattern.search(text)}


def speaks_of_another(asked: AbstractSet[int], text: str) -> bool:
    """Whether a folded `text` names environments, and none of those `asked` about."""
    named = environments(text) if asked else set()
    return bool(named) and not named & asked
