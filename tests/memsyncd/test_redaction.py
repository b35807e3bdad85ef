"""What redaction takes out, and what it leaves alone. Secrets are put together here, so that none stands in the source."""

import json

import pytest

from memsyncd.redaction import REPLACEMENT, bounded, redact, redact_value

S = "zq" + "7Vx4" + "mK2w"  # the made-up secret of every row
LONG = "aB3" * 14
B = "-" * 5

PEM = f"{B}BEGIN RSA PRIVATE KEY{B}\n{LONG}\n{LONG}\n{B}END RSA PRIVATE KEY{B}"

NOTATIONS = [
    "{name}={S}",
    "{name}: {S}",
    '{name}="{S}"',
    "{name} = '{S}'",
    '{{"{name}": "{S}"}}',
    "{{'{name}': '{S}'}}",
    '{{"a": "{{\\"{name}\\": \\"{S}\\"}}"}}',
    "?x=1&{name}={S}&next=1",
    "--{name} {S}",
    "--{name}={S}",
]
NAMES = [
    "password", "passwd", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "secret", "client_secret", "clientSecret", "api_key", "apiKey",
    "X-Api-Key", "token", "access_token", "refreshToken", "AWS_SECRET_ACCESS_KEY", "credential", "SECRET_KEY_BASE", "API_KEY_2", "_authToken", "passphrase",
]  # fmt: skip

# Text with {S} for the secret; what must be left of it is checked only for not having the secret, and having the mark.
REDACTS = [
    "Authorization: Basic {S}",
    "authorization=token {S}",
    "authorization: bearer {S}",
    "Proxy-Authorization: Basic {S}",
    "curl -H 'Authorization: Bearer {S}' http://host.example",
    'curl -H "Authorization: Digest username=\\"bob\\", response=\\"{S}\\"" x',
    '{{"Authorization": "Bearer {S}"}}',
    "> Cookie: sid={S}; theme=dark; more={S}",
    "Set-Cookie: sid={S}; Path=/; HttpOnly",
    "x-amz-security-token: {S}",
    "PRIVATE-TOKEN: {S}",
    "API key: {S}",
    "secret access key = {S}",
    "export API_KEY={S}",
    "password:\nab{S}\n",
    '{{"password":\n  "{S}"}}',
    "password is {S}",
    'the password is "{S}".',
    "CREATE USER bob WITH PASSWORD '{S}'",
    "CREATE USER bob IDENTIFIED BY '{S}'",
    "https://bob:{S}@host.example/x",
    "postgres://app:{S}@db.example:5432/app",
    "postgres://app:{S}@p@db.example/app",
    "postgres://app:{S}/p@db.example/app",
    "redis://:{S}@cache.example/0",
    "bob:{S}@tcp(db.example:3306)/app",
    "mysql -u root -p{S} app",
    "sshpass -p {S} ssh host.example",
    "sshpass -p '{S}' ssh host.example",
    "docker login -u bob -p {S} registry.example",
    "redis-cli -h host.example -a {S} ping",
    "curl -u bob:{S} http://host.example",
    'curl --user "bob:{S}" http://host.example',
    "machine host.example login bob password {S}",
    "Server=db.example;User Id=sa;Pwd={S};Encrypt=true",
    "Endpoint=sb://x.example/;SharedAccessKeyName=k;SharedAccessKey={S}=;EntityPath=q",
    "AccountName=a;AccountKey={S}==;EndpointSuffix=core.example",
    "https://a.blob.example/c?sv=1&sig={S}%3D&se=2",
    "https://s3.example/k?X-Amz-Credential=x&X-Amz-Signature={S}&next=1",
    "password: str = '{S}'",
    "const apiKey: string = '{S}';",
    "config['password'] = '{S}'",
    'os.environ["API_KEY"] = "{S}"',
    ":password => '{S}'",
    "'password' => '{S}',",
    "if password == '{S}':",
    "connect(user='bob', password='{S}')",
    "<password>{S}</password>",
    '{{"name": "DB_PASSWORD", "value": "{S}"}}',
    "- name: API_KEY\n  value: {S}\n",
    '["tool", "--password", "{S}"]',
    '{{"auth": "{S}{S}"}}',
    'password=a"b{S}',
    "password='it'{S}",
    'password="first words {S}',
    '{{"tokens": 3, "password": ["{S}", "{S}"]}}',
    'password = """{S}"""',
    "password = b'{S}'",
    "the password: `{S}`",
    "\\npassword={S}\\nnext",
    '{{"a": "x\\u0022password\\u0022: \\u0022{S}\\u0022"}}',
    "password%3D{S}%26next",
    "\x1b[31mpassword={S}\x1b[0m",
    "https://hooks.slack.com/services/T00/B00/{S}",
    "https://chat.example/api/webhooks/123/{S}",
    "password=ab,cd{S}",
    "password=ab&cd{S}",
    "password=P(a)s)s{S}",
    "user = bob, password = swordfish{S}",
    "password: |\n  {S}\n",
    "password: >-\n  {S}",
    "password: !vault {S}",
    "user[password]={S}&x=1",
    "client.setPassword('{S}')",
    "ENV API_KEY {S}",
    "the password {S} works",
    "openssl enc -pass pass:{S} -in x",
    "ldapsearch -x -w {S} -b x",
    "jdbc:oracle:thin:scott/{S}@host.example:1521:x",
    'Content-Disposition: form-data; name="password"\r\n\r\n{S}\r\n--b',
    "https://api.example/v1?key={S}{S}{S}",
    "spring.datasource.password = swordfish{S}",
    "def f(self, password: str = '{S}', other='x')",
    '{{"token": "{S}", "other": 5}}',
    "db:\n  password:\n    '{S}'  # rotate\n  user: bob",
    'password:\n  "{S}"',
    "token:\n  {S}\n",
    'client_secret:\r\n  "{S}"\r\nnext: 1\r\n',
    "token: >-\n  {S}",
    "secret: |\n  first {S}\n\n  second-{S}\nname: bob",
    "api_key: !text |+2\n    {S}\n",
    "  - token: |2-\n      {S}\n  - name: x",
    "pw: {S}",
    "pw = {S}",
    "db_pw={S}",
    "pwd = {S}",
    "the password is Coral!Reef",
    "the password is CoralReefTide.",
    "the password is 84817364",
    "the password is '{S}'",
    "the passphrase is 'swordfish{S}'",
    "das Passwort lautet {S}",
    "das Passwort lautet Seepferd{S}, bitte merken",
    "Passwort: {S}",
    "passwort ist {S}",
    "Kennwort={S}",
    "das Kennwort ist '{S}'",
    "mot de passe : {S}",
    "Mot de passe\u00a0: {S}",
    "le mot de passe est {S}.",
    "MOT_DE_PASSE={S}",
    "contrase\u00f1a: {S}",
    "la contrase\u00f1a es {S}",
    "la contrasen\u0303a es {S}",
    "CONTRASE\u00d1A={S}",
    '{{"contrase\\u00f1a": "{S}"}}',
    '{{"contrase\u00f1a": "{S}"}}',
    "\u5bc6\u7801\u662f {S}",
    "\u5bc6\u7801\u662f{S}\u3002",
    "\u5bc6\u7801\uff1a{S}",
    "\u5bc6\u78bc: {S}",
    "\u5bc6\u7801\u4e3a\u201c{S}\u201d",
    '{{"\u5bc6\u7801": "{S}"}}',
    '{{"a": "\\u5bc6\\u7801\\uff1a{S}"}}',
    '{{"a": "\\u5bc6\\u7801\\u662f {S}"}}',
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f {S}",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f\u300c{S}\u300d\u3067\u3059",
    "\ube44\ubc00\ubc88\ud638: {S}",
    "\u043f\u0430\u0440\u043e\u043b\u044c: {S}",
    "openssl enc -aes-256-cbc -k {S} -in x",
    "openssl enc -d -k '{S}' -in x",
    "openssl enc -K {S} -iv 0",
    "openssl pkcs12 -passin 'pass:{S}' -in x",
    "https://a.blob.example/c?sv=1&se=2\\u0026sig={S}%3D",
    "https://a.blob.example/c?sp=r\\u0026sig={S}%3D\\u0026se=1",
    "u=https%3A%2F%2Fa.example%2Fc%3Fsv%3D1%26sig%3D{S}%26x",
    "sig={S}A{S}%3D&se=2&sv=1",
    "please use password:\n  '{S}' for it",
    '{{"a": "password:\\n  \\"{S}\\""}}',
    '{{"a": "db:\\n  password:\\n    {S}\\n  user: bob"}}',
    '{{"a": "token: >-\\n  {S}\\nname: bob"}}',
    '{{"a": "token: |\\r\\n  {S}"}}',
    "the password for the database is {S}",
    "the password to the database: {S}",
    "Passwort f\u00fcr die Datenbank: {S}",
    "das Passwort von Staging lautet {S}",
    "le mot de passe de la base est {S}",
    "la contrase\u00f1a de staging es {S}",
    "\u5bc6\u7801\u8bbe\u7f6e\u4e3a {S}",
    "PW=swordfish{S}",
]  # fmt: skip

VENDORS = [
    ("sk-", 20), ("sk-ant-", 20), ("sk-proj-", 20), ("psk-", 12), ("m0-", 12), ("m0sk_", 12), ("mem0_sk-", 12), ("ghp_", 36), ("gho_", 36), ("ghu_", 36),
    ("ghs_", 36), ("ghr_", 36), ("github_pat_", 40), ("glpat-", 20), ("xoxb-", 20), ("xoxp-", 20), ("xapp-", 20), ("AIza", 35), ("ya29.", 30), ("npm_", 36),
    ("pypi-AgE", 40), ("hf_", 34), ("SG.", 40), ("sk_" + "live_", 24), ("rk_" + "live_", 24), ("pk_" + "live_", 24), ("shpat_", 32), ("dop_v1_", 40),
    ("dckr_pat_", 27), ("glsa_", 30), ("lin_api_", 40), ("key-", 32), ("whsec_", 30), ("hvs.", 24), ("gsk_", 40), ("GOCSPX-", 24), ("lsv2_pt_", 30),
]  # fmt: skip

KEEPS = [
    "password is required",
    "the token expired",
    "token: str",
    "def get_token(self)",
    'password = os.environ["X"]',
    "password = getpass()",
    "password = getpass.getpass('Password: ')",
    "task-abcdefghijklmnop",
    "sk-" + "x" * 11,
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "123e4567-e89b-12d3-a456-426614174000",
    "max_tokens=100",
    "tokens: 5",
    "secrets: inherit",
    "secrets:\n  - db",
    "import secrets",
    "token_count=3",
    '{"prompt_tokens": 12, "completion_tokens": 30}',
    ".token.keyword { color: red; } .token:hover { top: 0 }",
    "/src/auth/token.py:12: error",
    "src/password_reset/views.py",
    "PWD=/home/bob",
    "OLDPWD=/home/bob",
    "--- PASS: TestThing (0.00s)",
    "pass: 12 fail: 0",
    "12 passed, 1 failed",
    "tests_pass=3",
    "password: Optional[str] = None",
    "password: str | None = None,",
    "token = None",
    "token=null",
    "api_key=settings.api_key",
    "api_key = self.api_key",
    "connect(password=password)",
    "connect(token=user_token)",
    "token = get_token(request)",
    "token = tokens[i]",
    "token = self.next_token",
    'password="$DB_PASSWORD"',
    "password=${DB_PASSWORD}",
    "--token $TOKEN",
    "--token=$(cat file)",
    "token: ${{ secrets.TOKEN }}",
    "postgres://app:${PASSWORD}@db.example/app",
    "postgres://app:{password}@db.example/app",
    "curl -H 'Authorization: Bearer $TOKEN' x",
    "Authorization: Bearer <token>",
    'f"Bearer {token}"',
    "http://host.example:8080/path@x",
    "git@host.example:team/tool.git",
    "ssh://git@host.example/team/tool",
    "https://bob@host.example/x",
    "the author: Jane; authors: 3",
    "authenticate: yes",
    "credentials: include",
    "primary_key=id",
    "public_key: abc",
    "cache_key = 'x'",
    "sort key: name",
    '{"key": "value"}',
    "token_type=bearer",
    "password_field = 'x'",
    "secretName: app-secret",
    "--password-stdin",
    "--password-file=/run/x",
    "type=password",
    '<input type="password" name="q">',
    "next_token: abc",
    "nextPageToken=abc",
    "pad_token='[PAD]'",
    "Token::Type",
    "secret::Key",
    "tokens.filter(token => token.x)",
    "Token token = lexer.next();",
    "token = strtok(NULL, x)",
    "unexpected token '<'",
    "Unexpected token: identifier",
    "if (token == '(') {",
    "SELECT * FROM tokens WHERE id = 5",
    "reset your password: see the docs",
    f"{B}BEGIN PUBLIC KEY{B}\nabc\n{B}END PUBLIC KEY{B}",
    f'if "{B}BEGIN PRIVATE KEY{B}" in text:',
    "the cookie: chocolate",
    "secretary: Jane",
    "passenger: Jane",
    "mysql -u root -p app",
    "cp -p a b",
    "keyboard: us",
    "monkey=1",
    "risk-assessment-for-the-project",
    "a desk-lamp and a disk-usage-analyzer",
    "the `token` field",
    "self._token = token",
    "self.password = swordfish",
    "user, password = auth",
    'headers["Authorization"] = self._build_auth_header(request)',
    'authorization = b"Basic " + encoded',
    '"Authorization": f"Bearer {self.token}",',
    "userpass = username + suffix",
    "token = Name.Builtin",
    "token = Keyword.Type if token == Literal else token",
    "_styles[token] = ndef",
    ":param token: Description of it",
    "password: (bool, optional): Hide typed text.",
    "token = -1",
    '<a accesskey="p" href="x.html">',
    ".. _`cookie`: http://host.example/limits",
    'password = ""',
    "getpass('Password')",
    "validate_password('short')",
    "password v2",
    "token(1)",
    "password:\n  description: The password",
    "tokens[token] = 5",
    "the --username and --password options",
    'if token == "integer":',
    "def __init__(self, secret=None, salt='plain'):",
    "publicKeyToken='6595b64144ccf1df'",
    "print('password={0}'.format(x))",
    '{"session_id": "abc-123", "tool_use_id": "toolu_01"}',
    "the password field is empty",
    "the password is required",
    "the password is wrong, the token is set",
    "the password is expired and must be changed",
    "the password is base64 encoded",
    "the password is 8-20 characters long",
    "the password is SHA-256 hashed",
    "the password is not-empty",
    "the password is PostgreSQL-specific",
    "the password is MD5'd",
    "the secret is clientSecret",
    "password:\n  type: string",
    "properties:\n  password:\n    type: string\n    format: password\n",
    "secrets:\n  - name: x",
    "token:\n  description: >\n    What the call is made with\n",
    "secrets:\n  db_url:\n    external: true",
    "the secret:\n  nobody knows it",
    "token: |\nname: bob",
    "token:\n  required",
    "the password for the user is required",
    "the password of a user: see the docs",
    "the password to the database is stored in a vault",
    '{"a": "password:\\n  ", "b": "x1", "c": "y"}',
    '{"a": "password:\\n  type: string\\n"}',
    '{"a": "see the token:\\n\\nit is there"}',
    "Passwort vergessen?",
    "Passwort: vergessen",
    "das Passwort ist falsch",
    "das Passwort ist erforderlich",
    "das Passwort lautet wie immer",
    "das Passwort lautet anders",
    "le mot de passe est obligatoire",
    "le mot de passe est incorrect",
    "mot de passe : obligatoire",
    "un mot de passe",
    "la contrase\u00f1a es obligatoria",
    "contrase\u00f1a: requerida",
    "\u5bc6\u7801\u662f\u5fc5\u586b\u7684",
    "\u5bc6\u7801\uff1a\u8bf7\u8f93\u5165",
    "\u5bc6\u7801\u662f string \u7c7b\u578b",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f null \u3067\u3059",
    "\u30d1\u30b9\u30ef\u30fc\u30c9\u3092\u5fd8\u308c\u305f",
    "pw = playwright",
    "def test(pw: Playwright)",
    "pw = pwd.getpwuid(1)",
    "pwd = /home/bob",
    "upward = 5",
    "openssl enc -k $KEY -in x",
    "openssl req -key server.key -new",
    "openssl rsa -passin env:X -in y",
    "sig=inspect.signature(x)",
    "sig = signature",
    "ACCOUNT SKU ACabc SK123",
    "base" + "AC" + "0f" * 16,
    f"{B}END PRIVATE KEY{B}",
    f"the line\n{B}END PRIVATE KEY{B}",
    f"see\nit\n{B}END RSA PRIVATE KEY{B}\n",
    "",
    "   ",
]


def assert_gone(text: str) -> str:
    """Redact, check the common promises, and give the result back."""
    redacted = redact(text)
    assert S not in redacted
    assert REPLACEMENT in redacted
    assert redact(redacted) == redacted
    return redacted


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_secret_goes_whatever_the_name_and_the_notation(name: str, notation: str) -> None:
    """Every telling name is understood in every notation."""
    text = notation.format(name=name, S=S)
    redacted = assert_gone(text)
    assert name in redacted
    if text.startswith('{"'):
        json.loads(redacted)
    if "&next=1" in text:
        assert redacted.endswith("&next=1")


@pytest.mark.parametrize("row", REDACTS)
def test_a_secret_in_its_context_goes(row: str) -> None:
    """Headers, addresses, commands, code, documents: the secret goes and the mark stands."""
    text = row.format(S=S)
    redacted = assert_gone(text)
    if text.startswith(("{", '["')):
        json.loads(redacted)


@pytest.mark.parametrize(("prefix", "length"), VENDORS)
@pytest.mark.parametrize(
    "around", ["{}", "use {} now", '{{"a": "{}"}}', "a\\n{}\\nb", "url?x={}&y=1", "`{}`", "x\x1b[1m{}\x1b[0m"]
)
def test_a_vendors_key_goes_by_its_shape(prefix: str, length: int, around: str) -> None:
    """A known prefix with enough after it is a secret wherever it stands."""
    body = ("x9" * length)[:length]
    redacted = redact(around.format(prefix + body))
    assert body not in redacted
    assert redacted == around.format(REPLACEMENT)


@pytest.mark.parametrize("prefix", ["AK" + "IA", "AS" + "IA"])
def test_an_access_key_id_and_the_secret_beside_it_go(prefix: str) -> None:
    """A credentials table has the secret beside the id."""
    secret = "aB3/" * 10
    assert redact(f"{prefix}{'Q7' * 8},{secret}\n") == f"{REPLACEMENT},{REPLACEMENT}\n"
    assert redact((prefix + "q7" * 8).lower()) == (prefix + "q7" * 8).lower()


@pytest.mark.parametrize("prefix", ["S" + "K", "A" + "C"])
def test_an_id_of_two_letters_and_hexadecimal_goes(prefix: str) -> None:
    """Twilio's ids: two capitals and 32 digits, no less."""
    assert redact(f"sid {prefix}{'0f' * 16}, next") == f"sid {REPLACEMENT}, next"
    assert redact(f"sid {prefix}{'0f' * 15}, next") == f"sid {prefix}{'0f' * 15}, next"


def test_a_block_of_lines_goes_line_by_line_and_what_follows_stays() -> None:
    """Each deeper line of a YAML text is replaced, to a bound, and the next name is left."""
    text = "secret: |\n  one two\n\n  three\nname: bob\n"
    assert redact(text) == f"secret: |\n  {REPLACEMENT}\n\n  {REPLACEMENT}\nname: bob\n"
    long = "token: >\n" + "  word\n" * 40
    assert redact(long).count(REPLACEMENT) == 16
    assert redact(redact(long)) == redact(long)


def test_a_json_web_token_goes() -> None:
    """Three base64 parts, the first a JSON object."""
    token = ".".join(["ey" + "J" + "x9" * 10, "ey" + "J" + "x9" * 10, "x9_-" * 8])
    assert redact(f"got {token} back") == f"got {REPLACEMENT} back"


@pytest.mark.parametrize("text", KEEPS)
def test_ordinary_prose_and_code_stay(text: str) -> None:
    """What only speaks of secrets is left as it is."""
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PEM, REPLACEMENT),
        (PEM.replace("\n", "\\n"), REPLACEMENT),
        (PEM.replace("RSA", "OPENSSH"), REPLACEMENT),
        (PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), REPLACEMENT),
        (f"a\n{PEM}\nb\n{PEM}\nc", f"a\n{REPLACEMENT}\nb\n{REPLACEMENT}\nc"),
        (f"{B}BEGIN PRIVATE KEY{B}\n{LONG}\n{LONG[:9]}", REPLACEMENT),
        (f"{B}BEGIN PRIVATE KEY{B}\n{LONG}\n\nand then some words", f"{REPLACEMENT}\n\nand then some words"),
        (f'{{"k": "{B}BEGIN PRIVATE KEY{B}\\n{LONG}\\n{LONG}"}}', f'{{"k": "{REPLACEMENT}"}}'),
        (f"1\u2192{B}BEGIN EC PRIVATE KEY{B}\n     2\u2192{LONG}\n     3\u2192{LONG}", f"1\u2192{REPLACEMENT}"),
        (f"{LONG}\n{LONG}\n{LONG[:7]}=\n{B}END RSA PRIVATE KEY{B}\nok", f"{REPLACEMENT}\nok"),
        (f"{LONG[:5]}\n{LONG}\n{B}END PRIVATE KEY{B}", REPLACEMENT),
        (f"some words\n{LONG}\n{B}END OPENSSH PRIVATE KEY{B}", f"some words\n{REPLACEMENT}"),
        (f'{{"k": "{LONG}\\n{LONG}\\n{B}END PRIVATE KEY{B}\\n"}}', f'{{"k": "{REPLACEMENT}\\n"}}'),
        (f"  8\u2192{LONG}\n  9\u2192{LONG}\n 10\u2192{B}END EC PRIVATE KEY{B}", f"  8\u2192{REPLACEMENT}"),
        (f"{PEM}\nx y\n{LONG}\n{B}END PRIVATE KEY{B}", f"{REPLACEMENT}\nx y\n{REPLACEMENT}"),
    ],
)
def test_private_key_blocks_go_finished_or_not(text: str, expected: str) -> None:
    """A block goes as one; without an end marker to the end of its base64 lines, without a head from their start."""
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"apiKey": "k", "name": "n"}', f'{{"apiKey": "{REPLACEMENT}", "name": "n"}}'),
        ('{"password": "pre\\"post"}', f'{{"password": "{REPLACEMENT}"}}'),
        ("?access_token=v1&next=1", f"?access_token={REPLACEMENT}&next=1"),
        ("?api_key=v1&next=1", f"?api_key={REPLACEMENT}&next=1"),
        ("DB_PASSWORD=v1 x", f"DB_PASSWORD={REPLACEMENT} x"),
        ("password: two words", f"password: {REPLACEMENT} words"),
        ('{"password": ""}', f'{{"password": "{REPLACEMENT}"}}'),
        ('{"token": 123}', f'{{"token": "{REPLACEMENT}"}}'),
        ("https://bob:pw@host/x", f"https://bob:{REPLACEMENT}@host/x"),
        ('password=a"b', f"password={REPLACEMENT}"),
        ("password:\nnext", f"password:\n{REPLACEMENT}"),
        ("token=v1", f"token={REPLACEMENT}"),
        ("spring.datasource.password = swordfish", f"spring.datasource.password = {REPLACEMENT}"),
        ("user = bob, password = swordfish", f"user = bob, password = {REPLACEMENT}"),
        ("PASSWORD=password", f"PASSWORD={REPLACEMENT}"),
        ("password: hunter, user: bob", f"password: {REPLACEMENT}, user: bob"),
        ('{"token": null, "password": true}', '{"token": null, "password": true}'),
    ],
)
def test_the_plugins_table_holds_and_its_leaks_are_closed(text: str, expected: str) -> None:
    """Facts 6.10 to 6.35, with what they call unchanged or leaking made better."""
    assert redact(text) == expected


def test_json_that_parsed_still_parses_when_a_quote_in_prose_runs_on() -> None:
    """An apostrophe opened in one string must not swallow the next one."""
    text = json.dumps({"a": "password: 'oops", "b": "it's", "c": [1, "token=x'y z"]})
    value = json.loads(redact(text))
    assert set(value) == {"a", "b", "c"}
    assert "oops" not in value["a"]
    assert value["b"] == "it's"
    lines = f"{text}\n{text}\nno json"
    assert [json.loads(line)["b"] for line in redact(lines).split("\n")[:2]] == ["it's", "it's"]


def test_a_value_is_redacted_through_and_through() -> None:
    """Strings, keys, numbers under a secret name, pairs of name and value, flags and what follows them."""
    value = {
        "n": 1,
        "token": 123,
        "password": {"a": ["x", None, True]},
        "list": ["tool", "--password", S, "-v"],
        "env": [{"name": "API_KEY", "value": S}, {"name": "HOME", "value": "/root"}],
        f"password={S}": 1,
        "text": f"password={S}",
    }
    assert redact_value(value) == {
        "n": 1,
        "token": REPLACEMENT,
        "password": {"a": [REPLACEMENT, None, True]},
        "list": ["tool", "--password", REPLACEMENT, "-v"],
        "env": [{"name": "API_KEY", "value": REPLACEMENT}, {"name": "HOME", "value": "/root"}],
        f"password={REPLACEMENT}": 1,
        "text": f"password={REPLACEMENT}",
    }
    assert value["token"] == 123


def test_a_value_nested_past_the_interpreters_stack_is_redacted() -> None:
    """Depth is no way around it, and no way to break it."""
    value: object = f"token={S}"
    for _ in range(20_000):
        value = [value]
    redacted = redact_value(value)
    while isinstance(redacted, list):
        redacted = redacted[0]
    assert redacted == f"token={REPLACEMENT}"


@pytest.mark.parametrize(
    "key", ["password", "passwords", "tokens", "Password", "user_pass", "userPass", "pass", "PASS_2", "keypass"]
)
def test_what_a_value_under_a_name_becomes_depends_on_the_name(key: str) -> None:
    """Counts of tokens and bare `pass` are not certain enough for a whole structure; the rest is."""
    hidden = key not in {"tokens", "pass", "PASS_2"}
    assert redact_value({key: ["x"], 1: "y"}) == {key: [REPLACEMENT if hidden else "x"], 1: "y"}


@pytest.mark.parametrize(
    ("key", "value", "hidden"),
    [
        ("pwd", S, True),
        ("pw", S, True),
        ("pass", S, True),
        ("auth", S + S, True),
        ("pwd", "/home/bob", False),
        ("PWD", "~/x", False),
        ("auth", "yes", False),
        ("Passwort", "x", True),
        ("mot de passe", "x", True),
        ("contrase\u00f1a", "x", True),
        ("\u5bc6\u7801", "x", True),
        ("\u5bc6\u7801\u5b57\u6bb5", "x", False),
    ],
)
def test_a_text_under_a_name_goes_as_it_would_in_a_text(key: str, value: str, hidden: bool) -> None:
    """Uncertain names are weighed by their value, other languages' names are certain."""
    assert redact_value({key: value}) == {key: REPLACEMENT if hidden else value}


def test_keys_that_become_alike_keep_their_entries() -> None:
    """Two secrets used as keys stay two entries."""
    assert sorted(redact_value({f"token={S}1": 1, f"token={S}2": 2}).values()) == [1, 2]


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("  abc  ", 10, "abc"), ("abcdefgh", 5, "abcde\n...[truncated 3 chars]"), ("abcde", 5, "abcde")],
)
def test_bounded_text_says_how_much_it_lost(text: str, limit: int, expected: str) -> None:
    """Facts 6.37: the note comes on top of the limit."""
    assert bounded(text, limit) == expected


def test_bounded_text_is_redacted_before_it_is_cut() -> None:
    """A cut must not leave half a secret."""
    assert S[:4] not in bounded(f"password={S}", 13)
