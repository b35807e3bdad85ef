"""Words of the coding field that mean nearly the same, and words that exclude each other where one is chosen."""

# ruff: noqa: E501  (a group of words is read best on one line)

from collections.abc import Mapping
from functools import cache

from memsyncd.platforms.local.stemming import stem

_GROUPS = """
db database postgres postgresql mysql mariadb sqlite mongodb aurora datastore datenbank
sql query queries statement statements
auth authentication authenticate login signin logon authorization oauth sso credentials anmeldung connexion
deploy deployment release ship rollout publish launch delivery ausrollen despliegue
release version tag
test tests testing spec specs suite check checks verify verified validation
config configuration configure settings setting options preferences einstellung
fix fixed repair resolve resolved solve solution patch remedy cure workaround heal behoben
error errors failure fault exception crash crashed bug problem issue fail failed break broken wrong defect fehler erreur
crash die died kill killed abort terminate terminated oom
cause caused reason why culprit origin because trigger triggered due explain ursache grund raison
k8s kubernetes cluster
ci pipeline workflow actions build builds runner runners checks
repo repository codebase project
env environment
prod production live
stage staging preprod
test staging sandbox
dev development developer developers engineer engineers
local locally laptop machine computer workstation
doc docs documentation document documented handbook readme manual guide wiki
dep dependency dependencies package packages library libraries module modules
external outside vendor party
dir directory directories folder folders path location
file files document
func function method routine
param parameter argument arg flag switch
flag toggle feature
perf performance speed fast faster slow slower slowdown slowness latency quick quickly quicker laggy lag responsive optimi optimise optimize optimised optimized optimisation
wait waits waiting duration long delay pause sleep
mem memory ram heap
img image images picture pictures photo photos screenshot screenshots
msg message messages notification
power energy battery
raw original
proxy gateway ingress
container docker podman
req request requests call calls
res response reply replies answer respond antwort antworten antworte
frontend client browser web ui
framework javascript js react vue angular svelte
newcomer newcomers onboarding beginner beginners starter
unit units metre metres meter meters feet metric imperial celsius fahrenheit
keep kept retention delete deleted deletes purge purged expire thrown throw drop dropped
cookie cookies browser
alert alerts alarm alarms warn warning
frequent frequently often interval intervals every
responsible writes maintains owns reviews
forecast forecasts prediction predictions predict
learn learned learnt lesson lessons tried experience disaster
pwd password passwords passphrase login
cert certificate certificates tls ssl https
cache caching cached caches memoise
log logs logging logger logged trace
queue broker rabbitmq kafka
job jobs task tasks worker cron schedule scheduled batch step
night nightly overnight midnight
daily day every
week weekly monday tuesday wednesday thursday friday
delete remove removed drop erase purge discard clear cleanup
create add make build generate generated produce produced insert
change changed changes modify edit edited update updated alter touch touched manual manually hand
rename name naming named called scheme convention prefix
move migrate migration switch convert port
start begin boot run launch execute invoke
resume continue restart interrupted interrupt
stop halt end kill terminate shutdown
rerun again repeat repeated retry retries attempt reprocess backfill replay twice
choose chose chosen pick picked decide decided decision select selected settle settled option adopt go
prefer preference favourite like want wants rather
forbid forbidden never ban banned disallow prohibit prohibited avoid not
allow allowed permit permitted may
rule policy convention guideline standard principle requirement require required must obligation
limit maximum max cap ceiling threshold bound most space
minimum min least floor oldest lowest
size large big small huge heavy
count number amount many
duplicate duplicates duplicated twice double doubled repeated
dedupe deduplicate deduplication duplicate
timeout deadline expiry expire expires lifetime valid ttl long
keep kept retain retention store stored hold
backup backups snapshot dump restore
format formatter formatting style lint linter
indent indentation tabs spaces
branch branches trunk main master
commit commits committed message
pr pull mr merge
review reviewer reviews reviewers
merge rebase squash merged
user users customer customers client clients account people buyer visitor
server backend service host daemon
frontend ui interface web client browser
browser browsers chrome firefox safari
api endpoint endpoints route routes interface
webhook webhooks callback callbacks hook
url address link links hyperlink hyperlinks
key token secret secrets credentials
sign signed signing signature
language locale translation translated i18n english german french spanish deutsch englisch francais anglais espanol ingles
date time timezone timestamp utc clock hour
money amount amounts price prices currency cents total sum cost costs monetary montant montants somme sommes
invoice invoices bill facture
pay paid payment payments charge charged checkout billing
budget cost costs cheap expensive money
async asynchronous concurrent concurrency parallel parallelism
race deadlock lock locks locking mutex concurrent
upload uploads import ingest ingestion load loads loader
download export fetch
flaky unstable unreliable intermittent sometimes occasionally random
random seed randomness
stable reliable robust
team colleagues people staff department
owner owns responsible charge contact
install setup bootstrap
hosted hosting runs lives located stored sits kept
metric metrics monitoring monitor alert alerts dashboard page paged pages
chart charts graph graphs plot diagram
accuracy score precision quality recall f1 metric figure
train training fit learning
model models network classifier
inference predict prediction
data dataset set samples
tune tuning tuned hyperparameter hyperparameters
experiment experiments run runs tracking
row rows record records entry entries
column field attribute
schema migration migrations table tables
bucket s3 storage store disk volume
encrypt encryption encrypted protect protected
hash hashing hashed digest
email mail
measure measured benchmark result profile
improve improved improvement faster gain better gained rise rises
reduce reduced lower decrease shrink shrank drop dropped less smaller
increase raise raised grow higher
sensor reading measurement
device hardware board phone tablet
phone mobile smartphone android ios iphone
iphone ios ipad
os operating platform system android windows linux
approve approved accept accepted agree grant granted
reject rejected refuse refused decline declined deny denied
permission permissions right rights access role roles privilege privileges
component components widget control element
button click press tap
menu navigation sidebar
form dialog modal popup window
cart basket order orders
subscription plan tier
discount coupon voucher
sort sorted order ranking rank
attachment file
socket connection connections network
header headers metadata
session cookie
array list sequence
map dict dictionary object
string text
integer int number
float decimal
null none nil undefined missing absent empty blank
class type struct model
exception throw thrown raise raised
binary executable artifact artefact
identifier symbol name
comment comments docstring
mock mocks fake stub fixture fixtures
ticket tickets issue story
deadline due until embargo freeze frozen
meeting call
maintainer owner maintain maintains
vendor vendors supplier provider third
contract agreement
holiday vacation leave
public open external
private internal confidential
percent percentage share ratio proportion
average mean median typical
outlier outliers anomaly anomalies
invalid malformed corrupt incorrect wrong bad
strange odd weird unusual
correct right proper valid
default defaults standard
custom customised special
optional voluntary
mandatory required must compulsory
before prior earlier
after later following
final last end
startup start launch boot open opening
quit exit close shutdown
write written author edit
print output display
print export save
read load parse parser
send sends sent deliver delivery transmit
receive received arrive arrives incoming
push publish upload
pull fetch download get
sync synchronise synchronised replicate mirror
compare comparison equal match
convert conversion transform translate
contain contains include includes including
belong belongs place placed put
share shared common
single one individual
multiple several many various
priority precedence important first
safe safety secure security
risk danger dangerous
cheap free cost price
subset part sample
colour theme palette style look
recipient subscriber subscribers member members
region zone area
country market
weekday day date
quota limit limits exceeded full
old older legacy previous former past oldest
new newer newest latest modern
background foreground inactive
offline disconnected
sound audio noise music
screen resolution display pixel
frame frames fps
title titles heading headings header
capital capitalised capitalise case uppercase lowercase
search find found lookup
hide hidden exclude excluded invisible
show shown visible display displayed
filter filters search
input type typing enter keystroke
keyboard shortcut accessibility a11y wcag
colour color colours colors
render renders rendered rerender draw
bundle bundler webpack vite
minify compress compressed shrink
down unavailable outage broken
machine machines node nodes server servers instance instances vm
scale scaling autoscale autoscaling grow
region country eu europe
legal law compliance gdpr regulation audit auditors
incident outage breach emergency
rate throttle throttling limiting
brute attack attacks
port listen listens
replace replaced swap substitute
support supported supports supporting compatible compatibility run
c native compiled extension
api public interface
deprecate deprecated deprecation old
changelog changes changed history
quote quoted quotes quotation
newline newlines multiline line
round rounded rounding
internal inside private
tester testers qa internal
gps position location sample sampling
package apk bundle binary size
constraint unique index
serialise serialize serializer
bottleneck slow most
"""


_ALTERNATIVES = """
tabs spaces
npm yarn pnpm bun
postgres postgresql mysql mariadb sqlite mongodb dynamodb
pytest unittest nose
jest vitest mocha
black ruff yapf flake8 pylint
eslint biome
webpack vite rollup esbuild parcel
rest graphql grpc
redis memcached
rabbitmq kafka sqs nats
docker podman
terraform pulumi ansible
aws gcp azure
github gitlab bitbucket
merge rebase squash
pip poetry uv pipenv conda
json yaml toml xml
flask django fastapi
react vue svelte angular
redux zustand mobx recoil
single double
english german french spanish
light dark
celery rq huey
make just
main master develop
cents euros dollars
utc local
camelcase snakecase kebabcase
jwt session cookie
"""


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """Return for each stem the stems that mean nearly the same in this field; a stem may belong to several groups."""
    return _by_member(_GROUPS)


@cache
def alternatives() -> Mapping[str, frozenset[str]]:
    """Return for each stem the stems that exclude it where one is chosen: `tabs` and `spaces`."""
    return _by_member(_ALTERNATIVES)


def _by_member(groups: str) -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in groups.strip().splitlines():
        group = {stem(word) for word in line.split()}
        for member in group:
            table.setdefault(member, set()).update(group - {member})
    return {member: frozenset(others) for member, others in table.items()}
