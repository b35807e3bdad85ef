"""Cue words by which a sentence shows what it is. Data only; judging.py says how they count.

Every pattern is tried on text without accents (terms.fold), case ignored. English is covered well, German, French and
Spanish by their commonest cues, Japanese by a few. No pattern has nested repetition: time is linear in the sentence.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a kept sentence is; each kind belongs to one category of facts 2.36."""

    RULE = "rule"
    PREFERENCE = "preference"
    FACT = "fact"
    CAUSE = "cause"
    FIX = "fix"
    HOW_TO = "how-to"
    RESULT = "result"


CATEGORY = {
    Kind.RULE: "decisions_and_constraints",
    Kind.PREFERENCE: "decisions_and_constraints",
    Kind.FACT: "project_knowledge",
    Kind.CAUSE: "problems_and_fixes",
    Kind.FIX: "problems_and_fixes",
    Kind.HOW_TO: "workflows",
    Kind.RESULT: "results",
}


@dataclass(frozen=True, slots=True)
class Cue:
    """`weight` is added once when `pattern` is found; the kind with the greatest sum names the sentence."""

    kind: Kind
    weight: float
    pattern: re.Pattern[str]


def _cue(kind: Kind, weight: float, *patterns: str) -> Cue:
    return Cue(kind, weight, _any(*patterns))


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


USER_CUES = (
    _cue(
        Kind.RULE,
        2.5,
        r"\b(?:please )?remember(?: that|:| to)?\b",
        r"\bfor the record\b",
        r"\b(?:keep|bear) in mind\b",
        r"\bdon'?t forget\b",
        r"\btodo remember\b",
        r"\bmerk(?:e|'?) dir\b",
        r"\bvergiss nicht\b",
        r"\bdenk daran\b",
        r"\bn'?oublie pas\b",
        r"\bretiens\b",
        r"\bsouviens\b",
        r"\brecuerda\b",
        r"\bno olvides\b",
        r"覚えて",
        r"記住",
    ),
    _cue(
        Kind.RULE,
        2.0,
        r"\b(?:always|never)\b",
        r"\bfrom now on\b",
        r"\bgoing forward\b",
        r"\bmust(?:n'?t| not| never| be| have)?\b",
        r"\bunder no circumstances\b",
        r"\bno exceptions?\b",
        r"\b(?:our|the|as a|by) (?:convention|rule|policy|standard)\b",
        r"\b(?:is|are|it'?s) (?:strictly )?(?:forbidden|prohibited|not allowed|off limits|required|mandatory)\b",
        r"\bimmer\b",
        r"\b(?:nie|niemals)\b",
        r"\bab (?:jetzt|sofort)\b",
        r"\bkunftig\b",
        r"\bdarf(?:st)? (?:nicht|kein|nie)",
        r"\btoujours\b",
        r"\bjamais\b",
        r"\bdesormais\b",
        r"\b(?:il|on) (?:ne )?(?:faut|doit)\b",
        r"\bsiempre\b",
        r"\bnunca\b",
        r"\ba partir de ahora\b",
        r"\bde ahora en adelante\b",
        r"必ず",
        r"常に",
        r"絶対",
        r"禁止",
        r"てはいけない",
        r"しないで",
        r"必须",
        r"不要",
    ),
    _cue(
        Kind.RULE,
        2.0,
        r"\bwe(?:'ve| have)? (?:just |finally |now )?(?:decided|agreed|settled|chose|chosen|picked|went with|opted)\b",
        r"\bdecision\b",
        r"\bi(?:'ve| have)? (?:just )?decided\b",
        r"\b(?:let'?s|lets|we'?ll|we will|we'?re going to|we are going to|i'?d) (?:just )?(?:go|stick|stay|keep|use|drop|switch|move|pick|adopt|standardi[sz]e|not)\b",
        r"\bgo(?:ing)? with\b",
        r"\bwir (?:haben .{0,60})?(?:entschieden|beschlossen|einigten|nehmen|bleiben)\b",
        r"\bon (?:a decide|va|garde|part sur|reste)\b",
        r"\bnous avons decide\b",
        r"\b(?:hemos decidido|decidimos|vamos a usar|nos quedamos)\b",
        r"に決め",
        r"にします",
        r"にしよう",
        r"ことにし",
        r"决定",
    ),
    _cue(
        Kind.RULE,
        1.5,
        r"^(?:please |and |but |also,? |so |no,? |also please )?(?:do not|don'?t|dont|avoid|stop|no more|keep|stick to|leave)\b",
        r"\bdo not\b",
        r"\bdon'?t (?:use|touch|add|put|write|change|edit|commit|push|run|call|import|log|store|ever|rely|mix)\b",
        r"\bshould(?:n'?t| not| never| always| only)\b",
        r"\bonly (?:use|ever|allow|if|when|on|from|the|via|in)\b",
        r"\b(?:ausschliesslich|nur noch|bitte (?:nicht|kein|nur))",
        r"\bkein(?:e|en)? (?:mehr|neue)",
        r"\bne (?:pas|jamais|plus)\b",
        r"\bn[e']\s?\w+ (?:pas|plus|jamais)\b",
        r"^no (?:uses|toques|anadas)\b",
        r"\bsolo (?:usa|se)\b",
    ),
    _cue(
        Kind.RULE,
        1.2,
        r"\b(?:no longer|not any ?more|any longer|used to)\b",
        r"\b(?:switched|moved|migrated|changed|switch|move|migrate) (?:\w+ ){0,4}(?:from|to|over|off|away)\b",
        r"\breplaced? .{1,60} (?:with|by)\b",
        r"\bchanged? (?:my|our) mind",
        r"\bscrap that\b",
        r"^actually\b",
        r"\binstead(?: of)?\b",
        r"\brather than\b",
        r"\bnicht mehr\b",
        r"\bstatt\b",
        r"\bau lieu d",
        r"\bplutot que\b",
        r"\ben (?:vez|lugar) de\b",
        r"ではなく",
        r"じゃなく",
        r"代わり",
        r"而不是",
    ),
    _cue(
        Kind.RULE,
        1.1,
        r"^(?:please |and |so |no,? |ok(?:ay)?,? |yes,? )?(?:use|prefer|make sure|ensure|treat|require|reject|assume|pin)\b",
        r"\bmake sure\b",
        r"\b(?:have|has|need|needs) to (?:be|stay|keep|go|work|run|support|pass|match|fit|use)\b",
        r"\bcan(?:'?t|not| not)\b",
        r"\bmuss\b",
        r"\bsoll(?:en|te)?\b",
        r"\bnutz(?:en?|t)\b",
        r"\bverwende[nt]?\b",
        r"\butilise[rz]?\b",
        r"\b(?:usa|usar|usamos|utiliza)\b",
        r"使っ",
        r"使い",
        r"使う",
        r"使用",
        r"てください",
    ),
    _cue(
        Kind.FACT,
        1.3,
        r"\bwe (?:only |also |still |currently |just |all )?(?:use|run|deploy|keep|store|have|host|support|target|rely|ship|require|call|work|pay|own|release|follow|don'?t|do not|cannot|can'?t|need|aim|sell|get|write|publish|build)\b",
        r"\bour \w+",
        r"\bthe team\b",
        r"\bfyi\b",
        r"\bnote(?: that|:)\b",
        r"\bby the way\b",
        r"\bbtw\b",
        r"\bfor context\b",
        r"\b(?:is|are) called\b",
        r"\b(?:stands for|means|refers to)\b",
        r"\b(?:owns?|owned by|responsible for|in charge of)\b",
        r"\bwir (?:nutzen|verwenden|haben|brauchen|arbeiten|deployen|setzen|betreiben)\b",
        r"\bunsere?[rmns]?\b",
        r"\b(?:nous|on) (?:utilise|utilisons|a|avons|deploie|travaille)",
        r"\b(?:notre|nos)\b",
        r"\b(?:usamos|tenemos|desplegamos|trabajamos|nuestr[oa]s?)\b",
        r"は.{1,40}(?:です|ます|ある)",
    ),
    _cue(
        Kind.FACT,
        0.9,
        r"\b(?:lives?|runs?|listens?|sits?|stored|located|hosted|defaults?|named|happens?|expires?|returns?|expects?|contains?|supports?|costs?|takes?|starts?|ends?|closes?|means) (?:in|on|at|under|by|to|every|up|about|only|for|as|behind|inside|with|when|from|roughly|\d)",
        r"\b(?:is|are|was|will be) (?:\w+ )?(?:the|a|an|on|in|at|only|not|still|due|\d|behind|under|limited|fixed|frozen|based|read-only|owned|allowed|`)",
        r"\b(?:deadline|limit|budget|quota|maximum|minimum|at most|at least|no more than|version|port)\b",
    ),
    _cue(Kind.FACT, 0.6, r"\d ?(?:%|€|\$|ms|s|sec\w*|min\w*|hours?|days?|weeks?|months?|years?|[kmgt]i?b|fps|px|°|tage?n?|jours?|dias?)(?!\w)", r"[$€£] ?\d"),
    _cue(
        Kind.PREFERENCE,
        2.2,
        r"\bi (?:really |much |generally |usually |always |strongly )?(?:prefer|like|love|hate|dislike|can'?t stand|want you|don'?t (?:want|like|need)|do not (?:want|like))\b",
        r"\bi'?d rather\b",
        r"\bi'?m (?:based|colou?r|left|on (?:a |an )?(?:mac|linux|windows|vacation|holiday|leave)|used to|allergic)\b",
        r"\bi (?:use|work|live|speak|type|read|review|am) (?:\w+ )?(?:in|on|with|vim|emacs|neovim|a|an|fish|zsh|from|colou?r)\b",
        r"\bmy (?:preferred|favou?rite|editor|shell|time ?zone|name|pronouns|keyboard|machine|laptop|terminal|screen|setup|working hours)\b",
        r"\bcall me\b",
        r"\b(?:answer|reply|respond|write|talk)(?: to)? (?:me )?in (?:english|german|french|spanish|japanese|short|bullet|plain)",
        r"\bkeep (?:your |the |all )?(?:answers?|responses?|repl(?:y|ies)|explanations?|summar(?:y|ies)) (?:short|brief|concise|to)\b",
        r"\bno emojis?\b",
        r"\b(?:for|to) me\b.{0,40}\b(?:always|prefer|better)\b",
        r"\bich (?:mag|bevorzuge|hasse|mochte|will|arbeite)\b",
        r"\bje (?:prefere|deteste|veux|n'?aime)\b",
        r"\b(?:prefiero|odio|no me gusta|me gusta|quiero que)\b",
        r"\bantworte? (?:mir )?(?:bitte )?(?:auf|kurz)\b",
        r"\breponds?(?:-moi)? en\b",
        r"\bresponde(?:me)? en\b",
        r"のほうが好き",
        r"が好き",
    ),
    _cue(
        Kind.RULE,
        0.9,
        r"\b(?:every|each|all|everything|any|only|jede[rsnm]?|alle[srn]?|chaque|tou(?:s|tes)|cada|tod[oa]s)\b",
        r"\bat (?:least|most)\b",
        r"^(?:and |but |also,? )?no (?!problem|worries|need|idea|thanks|way\b)[a-z-]+\b(?!,)",
        r"^[^.:!?]{3,60}: (?=\S)",
    ),
    _cue(Kind.CAUSE, 1.2, r"\b(?:because|root cause|turned out|turns out|the reason|weil|parce que|porque|原因)\b"),
)

ASSISTANT_CUES = (
    _cue(
        Kind.CAUSE,
        1.6,
        r"\broot cause\b",
        r"\b(?:was|is|were|are) (?:\w+ )?(?:caused|triggered) by\b",
        r"\bculprit\b",
        r"\bturn(?:ed|s) out\b",
        r"\bthe (?:real |actual |underlying )?(?:problem|issue|bug|reason|error|failure|cause|leak|slowdown|crash|regression|mismatch)\b[^.]{0,60}\b(?:was|is|were|came|comes|happens?|happened)\b",
        r"\bdue to\b",
        r"\bstem(?:s|med) from\b",
        r"\bthat(?:'s| is| was) why\b",
        r"\bcame from\b",
        r"\bursache\b",
        r"\blag (?:am|an|daran)\b",
        r"\bcause\b",
        r"\bvenait d",
        r"\bcausa\b",
        r"\bel problema (?:era|es)\b",
        r"原因",
        r"问题是",
    ),
    _cue(
        Kind.CAUSE,
        0.8,
        r"\bbecause\b",
        r"\bso (?:that )?every\b",
        r"\bweil\b",
        r"\bparce qu",
        r"\bporque\b",
        r"ため",
        r"ので",
        r"因为",
    ),
    _cue(
        Kind.FIX,
        1.3,
        r"\b(?:i(?:'ve| have)? |now |is |was |are |were |been )?(?:fixed|resolved|solved)\b",
        r"\bthe (?:fix|solution|remedy|workaround)\b",
        r"\bworkaround\b",
        r"\bnow (?:\w+ )?(?:passes|works|uses|returns|handles|runs|reads|writes|checks|waits|retries|goes|lives|sends|has|keeps|takes|loads|respects|sorts|skips|rejects|stores|fails|logs|builds|is|are)\b",
        r"\b(?:works?|passes?) (?:now|again)\b",
        r"\bno longer\b",
        r"\bbehoben\b",
        r"\bgelost\b",
        r"\bjetzt\b",
        r"\bcorrig[ee]\w*\b",
        r"\bmaintenant\b",
        r"\b(?:corregido|solucionado|arreglado|ahora)\b",
        r"修正",
        r"解決",
        r"直り",
        r"修复",
    ),
    _cue(
        Kind.FIX,
        0.9,
        r"^(?:so |done[:,.] |ok,? )?(?:i(?:'ve| have)? )?(?:\w+ly )?(?:changed|replaced|moved|removed|switched|wrapped|pinned|dropped|rewrote|split|raised|lowered|set|bumped|extracted|renamed|disabled|enabled|added|introduced|made|put)\b",
        r"\b(?:was|were|is|are|has been|have been) (?:changed|replaced|moved|removed|switched|wrapped|pinned|dropped|raised|lowered|renamed|disabled|enabled)\b",
        r"^(?:replacing|changing|moving|removing|switching|pinning|setting|raising|lowering|disabling|adding|wrapping) .{3,80} (?:fixed|fixes|solves|solved|made|makes|brought|brings|cured)\b",
    ),
    _cue(
        Kind.RULE,
        1.5,
        r"\b(?:we|i|you)(?:'ve| have)? (?:decided|agreed|settled|chose|opted|picked)\b",
        r"\bdecision\b",
        r"\bas (?:agreed|decided|discussed|you (?:said|asked|wanted))\b",
        r"\bchose .{2,60} over\b",
        r"\b(?:we|it)(?:'ll| will) (?:stay|keep|use|remain)\b",
        r"\bthe rule (?:is|for)\b",
        r"\bentschieden\b",
        r"\b(?:nous avons|on a) (?:choisi|decide|retenu)\b",
        r"\b(?:decidimos|elegimos)\b",
        r"決定",
        r"にしました",
    ),
    _cue(
        Kind.RULE,
        0.9,
        r"\binstead of\b",
        r"\brather than\b",
        r"\bmust(?:n'?t)?\b",
        r"\b(?:always|never)\b",
        r"\b(?:statt|anstatt)\b",
        r"\bau lieu\b",
        r"\ben (?:lugar|vez) de\b",
        r"ではなく",
    ),
    _cue(
        Kind.HOW_TO,
        1.6,
        r"^(?:so )?(?:to|for) (?:\w+ ){0,8}?(?:run|deploy|test|build|release|reproduce|roll|regenerate|start|restart|debug|publish|seed|reset|refresh|update|restore|add|create|install|profile|record|check|verify|migrate|rotate|ship|sign|generate)\b[^.]{0,200}`",
        r"\b(?:run|use|call|execute|type|start with|invoke|via|with|by|by running|using) `[^`]+`",
r"^`[^`]+`,? (?:(?:then|followed by|and) `[^`]+`,? )?(?:then )?[a-z]+s\b",
        r"\bum .{3,100} zu\b.{0,80}`",
        r"\bpour .{3,80}`",
        r"\bpara .{3,80}`",
        r"`[^`]+`\s?(?:で|を実行)",
    ),
    _cue(Kind.HOW_TO, 0.9, r"`(?:\./)?[a-z][\w./-]* [^`]+`"),
    _cue(
        Kind.HOW_TO,
        0.8,
        r"\b(?:steps?|order|sequence|procedure|runbook|first .{3,120} then)\b",
        r"\bbefore (?:you |the )?(?:deploy|merg|release|push|commit|run|start|upgrad)",
        r"\bafter (?:each|every|the) (?:deploy|release|merge|upgrade)",
    ),
    _cue(
        Kind.RESULT,
        1.5,
        r"\bfrom (?:\w+ ){0,3}~?[\d.,]+ ?\S{0,12} (?:\w+ ){0,3}(?:down |up )?to\b",
        r"[\d.,]+ ?(?:ms|s|sec|seconds?|minutes?|hours?|%|percent|x|times|gb|mb|kb|gib|mib|fps|rows?(?:/s)?|req(?:uests)?(?:/s)?|points?)\b.{0,60}\b(?:faster|slower|less|lower|more|higher|smaller|better|fewer|instead|before|down|now|saved|peak|median)\b",
        r"\b(?:p50|p95|p99|median|throughput|accuracy|f1|auc|rmse|mae|coverage|recall|precision|latency|peak|bundle size|cold start)\b[^.]{0,80}\d",
        r"\b(?:measured|benchmark(?:ed)?|reduced|dropped|fell|shrank|shrinks|rose|improved|cut|went) (?:\w+ ){0,6}(?:by|to|from|down|up)\b.{0,20}\d",
        r"\bvon [\d.,]+.{1,30} auf [\d.,]+",
        r"\bde [\d.,]+.{1,30} a [\d.,]+",
    ),
    _cue(
        Kind.RESULT,
        0.6,
        r"\b\d[\d.,]* ?(?:ms|s|seconds?|minutes?|hours?|%|percent|gb|mb|kb|gib|mib|fps|rows|requests)\b",
    ),
    _cue(
        Kind.FACT,
        1.2,
        r"\b(?:lives?|is stored|are stored|is defined|are defined|is configured|is set|are kept|is kept|sits|is read|is written|is generated|are generated|resides?|belongs?|goes) (?:in|on|at|under|by|from|into|behind|inside|with)\b",
        r"\b(?:listens on|runs on|reads from|writes to|talks to|depends on|relies on|defaults? to|is limited to|points? to|maps? to|expects?|requires?|supports?|accepts?|enforces?|is owned by|is (?:the )?(?:only|source of truth))\b",
        r"\bnote(?: that|:)",
        r"\b(?:caveat|gotcha|careful|beware|watch out|keep in mind|be aware|important)\b",
        r"\bonly (?:works?|accepts?|supports?|applies|runs?|valid|if|when|on|for)\b",
        r"\b(?:liegt|steht|lauft|gespeichert|hangt) (?:in|im|auf|unter|von)\b",
        r"\b(?:se trouve|est stocke|ecoute sur|depend)\b",
        r"\b(?:esta en|vive en|se guarda|depende|escucha en)\b",
        r"にあり",
        r"必要",
    ),
    _cue(Kind.FACT, 0.5, r"\b(?:is|are|has|have|uses?|contains?|means|returns?|takes?|holds?)\b"),
)

PROGRESS = _any(
    r"^(?:ok(?:ay)?|right|good|great|sure|now|next|first|then|so|got it|understood|alright|perfect|yes|hmm|thanks)?[,.!:]? ?(?:and |then |now )?(?:let me|let'?s (?:see|look|check|start|try|take|dig|first|begin|find|run|verify)|i'?ll\b|i will\b|i'?m going to|i am going to|i'?m (?:now |just )?(?:\w+ing)\b|i need to|i (?:want|have) to|i should|we need to (?:look|check|see)|looking (?:at|into)|checking|reading|running (?:it|the|them)|searching|trying|working on|starting)\b",
    r"^(?:ok(?:ay)?,? )?i (?:can )?(?:see|reproduced?|read|looked|checked|tried|found it|had a look)\b",
    r"^(?:give me a|one moment|hold on|hang on|wait\b|back in)", r"\bstill (?:running|working on|looking|checking|investigating)\b", r"^(?:ich (?:schaue|prufe|sehe|werde)|schauen wir|moment)\b", r"^(?:je (?:regarde|vais|verifie)|regardons|voyons)\b", r"^(?:voy a|dejame|vamos a ver|miro|reviso)\b", r"(?:見て|確認し)(?:みます|ます)",
)  # fmt: skip
OFFER = _any(
    r"\b(?:would|do) you (?:like|want|prefer)\b", r"\bshall (?:i|we)\b", r"^should i\b", r"\bif you(?:'d| would)? (?:want|like|prefer|wish)\b", r"\blet me know\b", r"\bhappy to\b", r"\bfeel free\b", r"\bi (?:can|could) (?:also|then|do|add|write|look|start|open|help)\b", r"\bwant me to\b", r"\bsag bescheid\b", r"\bsoll ich\b", r"\bdis-moi\b", r"\bveux-tu\b", r"\b(?:avisame|quieres que)\b", r"しましょうか",
)  # fmt: skip
HEDGE = _any(
    r"\b(?:might|maybe|perhaps|possibly|probably|presumably|likely|hopefully|apparently)\b", r"\bi (?:think|guess|suspect|believe|assume|suppose|wonder)\b", r"\b(?:seems?|looks like|appears|could be|may be|sounds like)\b", r"\b(?:one|another|an?) (?:option|alternative|idea|approach|possibility|way)\b", r"\balternatively\b", r"\bwe could\b", r"\byou could\b", r"\bnot (?:sure|certain)\b", r"\b(?:hypothesis|my guess|in theory|unclear)\b", r"\b(?:vielleicht|eventuell|vermutlich|wahrscheinlich)\b", r"\bpeut-etre\b", r"\b(?:quizas?|tal vez|creo que)\b", r"かもしれ", r"と思",
)  # fmt: skip
PASSING = _any(
    r"\b(?:for now|right now|for the moment|at the moment|this time|just this once|temporarily|today|tonight|tomorrow|in a minute|not yet|later|for a sec|some ?day|eventually|next (?:week|sprint|step))\b"
)
CHIT_CHAT = _any(
    r"^(?:thanks?|thank you|thx|great|nice|perfect|awesome|cool|sounds good|sorry|hello|hi|hey|good (?:morning|question|point|catch|idea|job|evening)|you'?re (?:absolutely )?right|makes sense|got it|understood|absolutely|of course|sure|no worries|no problem|lol|haha|wow|hmm+|ugh|well done|exactly|fair enough|ok(?:ay)?|yes|yep|no|done|all set|lgtm|danke|super|merci|gracias|ありがとう|了解)\b",
)  # fmt: skip
TASK = _any(
    r"^(?:ok(?:ay)?,? |and |now |then |so |also,? |next,? |please |hey,? |first,? |great,? |cool,? |alright,? )*(?:can you|could you|would you|please|add|fix|write|create|implement|refactor|look|check|update|show|explain|find|run|make|try|help|investigate|debug|rename|remove|delete|move|build|set up|open|read|review|change|continue|go (?:on|ahead)|do (?:it|that|the)|commit|push|merge|give|tell|list|draft|finish|start|have a look|take a look|i (?:want|need) (?:you )?to|we need (?:a|an|to)|i need|schau|mach|bitte|kannst du|peux-tu|ajoute|puedes|anade|arregla)\b",
    r"(?:調べ|見|教え|直し|追加し|書い|作っ|確認し)て(?:ください|くれ|ほしい)?[。!]?$",
)  # fmt: skip
QUESTION = _any(
    r"[?？]\s*[\"')\]*]*$", r"^(?:what|why|how|where|when|who|which|is|are|does|do|did|can|could|should|would|will|any|was|were|has|have)\b(?!.*[.!:]$)(?! not\b)",
)  # fmt: skip
ECHO = _any(
    r"^(?:understood|noted|ok(?:ay)?|right|agreed|got it|good to know|thanks|sure|fine|will do|sensible|verstanden|notiert|gut|bien note|entendu|d'accord|entendido|de acuerdo|vale|了解\w*|わかりました)\b",
)  # fmt: skip
COMPLAINT = _any(
    r"\b(?:crash(?:es|ed)?|fail(?:s|ed|ing)?|broken|doesn'?t work|does not work|not working|too slow|slow|wrong|error|bug|issue|stuck|weird|complain\w*|reported|expires?|flaky)\b",
    r"\b(?:fehler|kaputt|langsam|stimmt nicht|plante|vides?|lent\w*|erreur|falla|lent[ao]|tarda)\b",
)  # fmt: skip
PER_CASE = _any(r"\bfor (?:each|every|any|all)\b", r"\b(?:each|every) time\b", r"\bwhenever\b")
TESTS_PASS = _any(
    r"^\W*(?:done[.,:;!]? ?)?(?:all |the )?(?:\d+ )?(?:unit |integration |existing |e2e )?(?:tests?|checks?|suite|build|everything|lint)\b[^.]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeeds?|clean|ok)\b[^.]{0,25}\.?$"
)
GOOD_HEADING = _any(
    r"\b(?:root cause|cause|fix|decisions?|decided|conclusions?|results?|findings?|outcome|how to|lessons?|learned|conventions?|rules?|constraints?|gotchas?|benchmarks?|deploy\w*|ursache|ergebnis\w*|losung|decision|resultats?|conclusion(?:es)?|resultados?|causa)\b"
)
BAD_HEADING = _any(
    r"\b(?:next steps?|todo|to do|plan|options?|alternatives?|open questions?|questions?|proposal|ideas?|follow-?ups?|remaining|future|nachste schritte|prochaines etapes|proximos pasos|approach)\b"
)
GENERIC_HEADING = _any(
    r"^(?:summary|overview|results?|changes?|what (?:changed|i did|was done|happened)|done|details?|notes?|findings?|conclusions?|fix|root cause|cause|decisions?|status|explanation|analysis|here'?s .{0,60}|in short|tl;?dr|verification|tests?|the (?:fix|cause|changes?|result)|zusammenfassung|ergebnis|resume|resumen)\W*$"
)
PROPOSAL = _any(
    r"\bi(?:'d| would)? (?:suggest|recommend|propose|advise|lean|go with|favou?r|vote)\b",
    r"\bmy (?:recommendation|suggestion|proposal|preference|vote)\b",
    r"\bwe (?:could|should|can)\b",
    r"\bich (?:schlage|empfehle|wurde)\b",
    r"\bje (?:propose|recommande|suggere)\b",
    r"\b(?:propongo|sugiero|recomiendo)\b",
)
ACCEPTANCE = _any(
    r"^(?:yes|yep|yeah|yup|ok(?:ay)?|agreed|sounds good|sure|perfect|great|good|do (?:it|that|so)|go (?:ahead|for it)|let'?s do (?:it|that|this)|that works|fine|approved|deal|exactly|ja|genau|einverstanden|oui|d'accord|si|vale|de acuerdo|perfecto|はい|それで)\b(?!.*\b(?:but|however|instead|aber|mais|pero|no)\b)"
)
CHOICE = _any(
    r"\b(?:option|variant|alternative|number|no\.|approach|plan) ?#?(?P<a>[1-5a-e])\b",
    r"\b(?:the |go with |take |pick )(?P<b>first|second|third|fourth)(?: one| option| approach)?\b",
)
ANAPHORA = _any(
    r"^(?:it|its|it's|this|that|these|those|they|their|he|she|both|which|there|same|the (?:latter|former|same|other|second|first)|das|dies\w*|es|sie|c'est|cela|ca|ils?|elles?|eso|esto|esos|それ|これ)\b"
)
SECRET = re.compile(
    r"\b(?:sk|pk|rk|m0|psk|ghp|gho|ghs|glpat|xox[abprs]|github_pat|AKIA|ASIA|AIza|eyJ)[-_]?[A-Za-z0-9_\-]{12,}|-----BEGIN|://[^/\s:@]+:[^/\s@]+@"
    r"|\b(?:password|passwd|passphrase|pwd|secret|token|api[-_ ]?key|credential)s?\b\W{0,3}(?:is|=|:|are)\W{0,4}(?=\S*[\d!@#$%^&*])[^\s`]{6,}"
    r"|\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24,}\b|\b[0-9a-fA-F]{32,}\b",
    re.IGNORECASE,
)
REDACTED = re.compile(r"\[REDACTED", re.IGNORECASE)
