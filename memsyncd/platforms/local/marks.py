"""Marks of what is no memory, or only together with something else: talk, offers, doubts, requests, secrets."""

# ruff: noqa: E501  (a pattern is read best on one line)

import re

from memsyncd.platforms.local.cues import any_of

PROGRESS = any_of(
    r"^(?:ok(?:ay)?|right|good|great|sure|now|next|first|then|so|got it|understood|alright|perfect|yes|hmm|thanks)?[,.!:]? ?(?:and |then |now )?(?:let me|let'?s (?:see|look|check|start|try|take|dig|first|begin|find|run|verify)|i'?ll\b|i will\b|i'?m going to|i am going to|i'?m (?:now |just )?(?:\w+ing)\b|i need to|i (?:want|have) to|i should|we need to (?:look|check|see)|looking (?:at|into)|checking|reading|running (?:it|the|them)|searching|trying|working on|starting)\b",
    r"^(?:ok(?:ay)?,? )?i (?:can )?(?:see|reproduced?|read|looked|checked|tried|found it|had a look)\b",
    r"^(?:give me a|one moment|hold on|hang on|wait\b|back in)", r"\bstill (?:running|working on|looking|checking|investigating)\b", r"^(?:ich (?:schaue|prufe|sehe|werde)|schauen wir|moment)\b", r"^(?:je (?:regarde|vais|verifie)|regardons|voyons)\b", r"^(?:voy a|dejame|vamos a ver|miro|reviso)\b", r"(?:見て|確認し)(?:みます|ます)",
)  # fmt: skip
PROMISE = any_of(
    r"\b(?:i'?ll|i will|i'?m going to) (?:\w+ ){0,2}(?:answer|reply|respond|write|stick to|speak)\b", r"\bich (?:antworte|schreibe|bleibe bei|halte mich|werde)\b", r"\bje (?:repondrai|reponds|ecrirai|vais)\b", r"\b(?:respondere|contestare|escribire)\b",
)  # fmt: skip
COMMITTED = any_of(
    r"^\W*(?:done[.,:;!]? ?)?(?:i(?:'ve| have)? |it'?s |it is )?(?:committed|pushed)(?: (?:and pushed|it|that|this|the changes?|everything|both|all))? (?:as|to|on|under|with the message)\b.{0,160}$",
    r"^\W*(?:committet|eingecheckt) (?:als|unter|auf)\b",
)
OFFER = any_of(
    r"\b(?:would|do) you (?:like|want|prefer)\b", r"\bshall (?:i|we)\b", r"^should i\b", r"\bif you(?:'d| would)? (?:want|like|prefer|wish)\b", r"\blet me know\b", r"\bhappy to\b", r"\bfeel free\b", r"\bi (?:can|could) (?:also|then|do|add|write|look|start|open|help)\b", r"\bwant me to\b", r"\bsag bescheid\b", r"\bsoll ich\b", r"\bdis-moi\b", r"\bveux-tu\b", r"\b(?:avisame|quieres que)\b", r"しましょうか",
)  # fmt: skip
HEDGE = any_of(
    r"\b(?:might|maybe|perhaps|possibly|probably|presumably|likely|hopefully|apparently)\b", r"\bi (?:think|guess|suspect|believe|assume|suppose|wonder)\b", r"\b(?:seems?|looks like|appears|could be|may be|sounds like)\b", r"\b(?:one|another|an?) (?:option|alternative|idea|approach|possibility|way)\b", r"\balternatively\b", r"\bwe could\b", r"\byou could\b", r"\bnot (?:sure|certain)\b", r"\b(?:hypothesis|my guess|in theory|unclear)\b", r"\b(?:vielleicht|eventuell|vermutlich|wahrscheinlich)\b", r"\bpeut-etre\b", r"\b(?:quizas?|tal vez|creo que)\b", r"かもしれ", r"と思",
)  # fmt: skip
PASSING = any_of(
    r"\b(?:for now|right now|for the moment|at the moment|this time|just this once|temporarily|today|tonight|tomorrow|in a minute|not yet|later|for a sec|some ?day|eventually|next (?:week|sprint|step))\b"
)
CHIT_CHAT = any_of(
    r"^(?:thanks?|thank you|thx|great|nice|perfect|awesome|cool|sounds good|sorry|hello|hi|hey|good (?:morning|question|point|catch|idea|job|evening)|you'?re (?:absolutely )?right|makes sense|got it|understood|absolutely|of course|sure|no worries|no problem|no(?=[,.!]|$)|lol|haha|wow|hmm+|ugh|well done|exactly|fair enough|ok(?:ay)?|yes|yep|done|all set|lgtm|danke|super|merci|gracias|ありがとう|了解)\b",
)  # fmt: skip
TASK = any_of(
    r"^(?:ok(?:ay)?,? |and |now |then |so |also,? |next,? |please |hey,? |first,? |great,? |cool,? |alright,? )*(?:can you|could you|would you|please|add|fix|write|create|implement|refactor|look|check|update|show|explain|find|run|make|try|help|investigate|debug|rename|remove|delete|move|build|set up|open|read|review|change|continue|go (?:on|ahead)|do (?:it|that|the)|commit|push|merge|give|tell|list|draft|finish|start|have a look|take a look|i (?:want|need) (?:you )?to|we need (?:a|an|to)|i need|schau|mach|bitte|kannst du|peux-tu|ajoute|puedes|anade|arregla)\b",
    r"(?:調べ|見|教え|直し|追加し|書い|作っ|確認し)て(?:ください|くれ|ほしい)?[。!]?$",
)  # fmt: skip
QUESTION = any_of(
    r"[?\uff1f]\s*[\"')\]*]*$", r"^(?:what|why|how|where|when|who|which|is|are|does|do|did|can|could|should|would|will|any|was|were|has|have)\b(?!.*[.!:]$)(?! not\b)",
)  # fmt: skip
ECHO = any_of(
    r"^(?:understood|noted|ok(?:ay)?|right|agreed|got it|good to know|thanks|sure|fine|will do|sensible|verstanden|notiert|gut|bien note|entendu|d'accord|entendido|de acuerdo|vale|了解\w*|わかりました)\b",
)  # fmt: skip
COMPLAINT = any_of(
    r"\b(?:crash(?:es|ed)?|fail(?:s|ed|ing)?|broken|doesn'?t work|does not work|not working|too slow|slow|wrong|error|bug|issue|stuck|weird|complain\w*|reported|expires?|flaky)\b",
    r"\b(?:fehler|kaputt|langsam|stimmt nicht|plante|vides?|lent\w*|erreur|falla|lent[ao]|tarda)\b",
)  # fmt: skip
PER_CASE = any_of(
    r"\b(?:each|every|any) (?:[\w-]+ ){0,3}(?:changes?|releases?|commits?|pull requests?|prs?|merges?|migrations?|features?|bugs?|fix(?:es)?|tickets?|deploy\w*|sprints?|versions?|time|week|month|day)\b",
    r"\bwhenever\b",
)
TESTS_PASS = any_of(
    r"^\W*(?:done[.,:;!]? ?)?(?:all |the )?(?:\d+ )?(?:unit |integration |existing |e2e )?(?:tests?|checks?|suite|build|everything|lint)\b[^.]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeeds?|clean|ok)\b[^.]{0,25}\.?$"
)
GOOD_HEADING = any_of(
    r"\b(?:root cause|cause|fix|decisions?|decided|conclusions?|results?|findings?|outcome|how to|lessons?|learned|conventions?|rules?|constraints?|gotchas?|benchmarks?|deploy\w*|ursache|ergebnis\w*|losung|decision|resultats?|conclusion(?:es)?|resultados?|causa)\b"
)
BAD_HEADING = any_of(
    r"\b(?:next steps?|todo|to do|plan|options?|alternatives?|open questions?|questions?|proposal|ideas?|follow-?ups?|remaining|future|nachste schritte|prochaines etapes|proximos pasos|approach)\b"
)
GENERIC_HEADING = any_of(
    r"^(?:summary|overview|results?|changes?|what (?:changed|i did|was done|happened)|done|details?|notes?|findings?|conclusions?|fix|root cause|cause|decisions?|status|explanation|analysis|here'?s .{0,60}|in short|tl;?dr|verification|tests?|the (?:fix|cause|changes?|result)|zusammenfassung|ergebnis|resume|resumen)\W*$"
)
PROPOSAL = any_of(
    r"\bi(?:'d| would)? (?:suggest|recommend|propose|advise|lean|go with|favou?r|vote)\b",
    r"\bmy (?:recommendation|suggestion|proposal|preference|vote)\b",
    r"\bwe (?:could|should|can)\b",
    r"\bich (?:schlage|empfehle|wurde)\b",
    r"\bje (?:propose|recommande|suggere)\b",
    r"\b(?:propongo|sugiero|recomiendo)\b",
)
ACCEPTANCE = any_of(
    r"^(?:yes|yep|yeah|yup|ok(?:ay)?|agreed|sounds good|sure|perfect|great|good|do (?:it|that|so)|go (?:ahead|for it)|let'?s do (?:it|that|this)|that works|fine|approved|deal|exactly|ja|genau|einverstanden|oui|d'accord|si|vale|de acuerdo|perfecto|はい|それで)\b(?!.*\b(?:but|however|instead|aber|mais|pero|no)\b)"
)
CHOICE = any_of(
    r"\b(?:option|variant|alternative|number|no\.|approach|plan) ?#?(?P<a>[1-5a-e])\b",
    r"\b(?:the |go with |take |pick )(?P<b>first|second|third|fourth)(?: one| option| approach)?\b",
)
ANAPHORA = any_of(
    r"^(?:it|its|it's|this|that|these|those|they|their|he|she|both|which|there|same|the (?:latter|former|same|other|second|first)|das|dies\w*|es|sie|c'est|cela|ca|ils?|elles?|eso|esto|esos|それ|これ)\b"
)
OBJECT_ANAPHORA = any_of(
    r"^(?:please |bitte )?(?:always |never )?(?:write|keep|name|put|leave|make|phrase|document|schreib\w*|ecri\w*|escrib\w*)(?:-| )(?:them|it|those|these|sie|es|das|les|los|las)\b"
)
STANDING_REQUEST = any_of(
    r"^(?:please )?(?:can|could|would|will) you\b", r"^(?:bitte )?(?:kannst|konntest|wurdest) du\b"
)
BARE_VERDICT = any_of(
    r"\b(?:tried|tested|attempted|experimented|probiert|versucht|essaye|probamos)\b.{3,200}\b(?:disaster|nightmare|mess|catastrophe|fiasco|dead end|waste of time|mistake|katastrophe|reinfall|desastre)\W*$"
)
UNNAMED_TROUBLE = any_of(
    r"^the (?:real |actual |underlying )?(?:failures?|errors?|problem|issue|bug|crash(?:es)?|hang|slowdown|leak|regression|root cause|cause|culprit|reason|fix|solution)\b(?! (?:of|in|with|when|where|that|for|at|on|behind)\b)",
    r"^(?:die|der|das) (?:ursache|fehler|problem|absturz|grund|losung)\b(?! (?:fur|von|bei|in|im|des|der)\b)",
)
ERROR_NAME = re.compile(
    r"`[^`\n]{0,60}(?:error|exception|locked|denied|timed? ?out|refused|not found|fail|violat|invalid|unknown|missing|exceeded)[^`\n]{0,60}`"
    r"|\b(?-i:[A-Z])\w{0,60}(?:Error|Exception|Timeout)\b(?:: [^.;\n]{3,60})?"
    r"|[\"\u201c](?=[^\"\u201d\n]{0,60}(?:error|exception|locked|denied|timed? ?out|refused|not found|fail))[^\"\u201d\n]{5,80}[\"\u201d]",
    re.IGNORECASE,
)
SECRET = re.compile(
    r"\b(?:sk|pk|rk|m0|psk|ghp|gho|ghs|glpat|xox[abprs]|github_pat|AKIA|ASIA|AIza|eyJ)[-_]?[A-Za-z0-9_\-]{12,}|-----BEGIN|://[^/\s:@]+:[^/\s@]+@"
    r"|\b(?:password|passwd|passphrase|pwd|secret|token|api[-_ ]?key|credential)s?\b\W{0,3}(?:is|=|:|are)\W{0,4}(?=\S*[\d!@#$%^&*])[^\s`]{6,}"
    r"|\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24,}\b|\b[0-9a-fA-F]{32,}\b",
    re.IGNORECASE,
)
REDACTED = re.compile(r"\[REDACTED", re.IGNORECASE)
