"""Words that say nothing, or little, about what a text is about."""

# ruff: noqa: E501  (a list of words is read best in full lines)

from memsyncd.platforms.local.stemming import stem

_ENGLISH = """
a about above after again against all am an and any are aren as at be because been before being below between both but
by can cannot could couldn did didn do does doesn doing don down during each either else ever every few for from further
get gets getting go goes going got had hadn has hasn have haven having he hence her here hers herself him himself his
how however i if in into is isn it its itself just let lets like ll m many may me might mine more most much must my
myself need needed needs no nor not now of off on once one only onto or other ought our ours ourselves out over own per
please quite rather re really s same shall she should shouldn since so some still such t than that the their theirs them
themselves then there these they thing things this those though through thus to too under until up upon us ve very via
want wants was wasn we were weren what when where whether which while who whom whose why will with within without won
would wouldn yes yet you your yours yourself also actually anyway okay ok tell told remember know known
"""
_GERMAN = """
aber als am an auch auf aus bei bin bis da damit dann das dass dein dem den denn der des die dies diese dieser doch dort
du durch ein eine einem einen einer eines er es fur gegen gibt hab habe haben hat hatte hier ich ihm ihn ihr im in ist
ja jede jeder jetzt kann kein keine konnen man mehr mein mit muss nach nicht noch nur ob oder ohne schon sein seine sich
sie sind so soll sollen sollte uber um und uns unser unsere unter vom von vor war warum was weil wenn wer werden wie wir
wird wo wollen wurde zu zum zur
"""
_FRENCH = """
ai alors au aussi aux avec avons ce cela ces cette comme dans de des donc du elle en est et eu faut ici il ils je la le
les leur lui ma mais mes moi mon ne nos notre nous on ont ou par pas plus pour pourquoi qu quand que quel quelle qui sa
sans se ses si son sont sur ta tes toi ton tous tout tres tu un une vos votre vous y
"""
_SPANISH = """
al algo como con cual cuando de del desde donde el ella ellos en entre era es esa ese eso esta este esto estos fue ha han
hasta hay la las le les lo los mas me mi muy nada ni no nos nosotros o para pero por porque que quien se ser si sin sobre
son su sus tambien te tiene todo un una uno usted y ya yo
"""

STOP_WORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH}".split())
"""Function words of the four languages the extractor reads, without accents."""

_WEAK = """
use used using make made work works working run running take takes taken come comes came put change changed changes new
thing way time times version code set setting start become became bring show look number user users happen happens
happened add added old good bad big small part case kind lot long project system different right back first last next
currently still already different everyone someone something everything anything find found give given handle deal does
"""
WEAK_STEMS = frozenset(stem(word) for word in _WEAK.split())
"""Words that say something but little, in any project: a question's other words come before them. The store's own
document frequency tells this too late, for a young store is small."""

_NAMING = "staging production prod preprod sandbox dev port key"
NAMING_STEMS = frozenset(stem(word) for word in _NAMING.split())
"""Words that say which environment or thing is meant."""
