"""Secrets that words or signs follow, so that they look like code or prose. All are put together here."""

import pytest

from memsyncd.redaction import REPLACEMENT, redact

KEY = "Arl63XykWZeiNN" + "Ciia3anXn9k3ksu9mI4ROnl89S"
DRAWN = [KEY, "f86d0818" + "84c7d659a2feaa0c55ad015a", "f86d081884" + "c7d659a2fe", "abcd1234" + "efgh5678"]
DRAWN += ["JBSWY3DP" + "EHPK3PXP", "live_" + "f86d081884c7", "kT9v" + "Lq2xZp"]
PASSWORDS = [
    "Summer" + "2026",
    "hunter" + "22",
    "BlueHorse" + "77",
    "Winter_" + "2026",
    "Passw" + "0rd",
    "swordfish" + "1",
]

WORDS = ["in prod", "is set", "and that is it", "or so", "if asked", "else none", "- staging", "(prod)", "[prod]"]
SIGNS = ["+ suffix", "* 2", "% x"]

CODE = [
    "token = next_token if x else y",
    'password = config["x"]',
    "password = value2 if x else y",
    "password = salt1 - salt2",
    "token = t1 or t2",
    "token = Base64Url(x)",
    "token = sha256(x)",
    "token = myVeryOwnFunction2(x)",
    "secret = base64_urlsafe_b64encode(x)",
    "password = Rfc2898DeriveBytes(x, y)",
    "password = Sha256 if x else Sha512",
    "password = newPassword1 if a else b",
    "password = user_input2 or None",
    "has_password = row1 is None",
    "token = x509CertificateChain if x else y",
    "secret = hmac_sha256 % x",
    "pw = page22 - offset",
    "api_key = first4 + last4",
    "token = tokens2[index]",
    "token = x509 if x else y",
    "secret = curve25519_key + salt",
    "password = hmacSha256 or x",
    "token = iso8601 - x",
    "password = newPassword1",
]


@pytest.mark.parametrize("value", DRAWN)
@pytest.mark.parametrize("follows", [*WORDS, *SIGNS])
@pytest.mark.parametrize("name", ["api_key", "aws_secret_access_key", "the token", "password"])
def test_a_word_drawn_by_chance_is_a_secret_whatever_follows(name: str, value: str, follows: str) -> None:
    """An operator of code behind it makes no name of it."""
    assert redact(f"we put {name} = {value} {follows}") == f"we put {name} = {REPLACEMENT} {follows}"


@pytest.mark.parametrize("bracket", ["(prod)", "[prod]", "<prod>"])
@pytest.mark.parametrize("name", ["api_key", "token", "signing key", "key"])
def test_a_bracket_makes_no_call_of_a_key(name: str, bracket: str) -> None:
    """A remark that begins without a blank."""
    assert KEY not in redact(f"{name} = {KEY}{bracket} x")


@pytest.mark.parametrize("value", PASSWORDS)
@pytest.mark.parametrize("follows", WORDS)
@pytest.mark.parametrize("name", ["password", "db_password", "passphrase", "admin_pass", "pwd"])
def test_a_word_in_a_passwords_shape_is_one_in_a_sentence(name: str, value: str, follows: str) -> None:
    """As people make them: words with a number behind, a figure for a letter."""
    assert redact(f"{name} = {value} {follows}") == f"{name} = {REPLACEMENT} {follows}"


@pytest.mark.parametrize("code", CODE)
def test_expressions_of_code_stay(code: str) -> None:
    """Names with numbers behind them, names of algorithms, calls and indexes."""
    assert redact(code) == code


@pytest.mark.parametrize(
    "row",
    [
        "our token, {}, expires in May",
        "our token ({}) expires",
        "the api key \u2013 {} \u2013 is new",
        "the password, {}, is new",
        "the secret (`{}`) works",
    ],
)
def test_a_secret_beside_its_name_goes(row: str) -> None:
    """Between commas, in brackets, between dashes."""
    assert redact(row.format(KEY)) == row.format(REPLACEMENT)


@pytest.mark.parametrize(
    "text",
    ["the token, as said, is gone", "f(token, x1y2)", "the token (see below)", "the secret, 3f786850e3, is short"],
)
def test_a_word_beside_a_secrets_name_stays(text: str) -> None:
    """Only what looks drawn by chance is one."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "row",
    [
        "echo {} | sudo -S id",
        "echo '{}' | sudo -kS id",
        'echo -n "{}"|sudo -u root -S id',
        "printf '%s\\n' {} | sudo --stdin id",
        '{{"command": "echo \\"{}\\" | sudo -S id"}}',
        "sudo -S id <<< {}",
        "sudo -S <<<'{}' id",
    ],
)
def test_a_password_for_sudo_goes(row: str) -> None:
    """What standard input brings it, be it a word of the language."""
    word = "sword" + "fish"
    assert redact(row.format(word)) == row.format(REPLACEMENT)


@pytest.mark.parametrize(
    "text",
    ["echo $PW | sudo -S id", 'echo "$PW" | sudo -S id', "echo y | sudo -E pacman -S vim", "echo x | sudo tee /sys/S"],
)
def test_other_input_of_sudo_stays(text: str) -> None:
    """A variable, a yes, a file's text."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "head", ["MTk4NjIyNDgzNDcxOTI1MjQ4", "Nzk4NjIyNDgzNDcxOTI1MjQ4Nw", "OTk4NjIyNDgzNDcxOTI1MjQ4N"]
)
@pytest.mark.parametrize("around", ["{}", "x={} y", '{{"a": "{}"}}', "a\\n{}\\nb"])
def test_a_bots_token_goes(head: str, around: str) -> None:
    """Discord's have no prefix: an id, a time and a signature in base64."""
    for tail in ("ZnCjm1XVW7vRze4b7Cq4se7kKWs", "ZnCjm1XVW7vRze4b7Cq4se7kKWsAbCdEfGh12_"):
        assert redact(around.format(f"{head}.Cl2FMQ.{tail}")) == around.format(REPLACEMENT)


@pytest.mark.parametrize(
    "text",
    ["MyVeryLongModuleNameOfTest.module.another_long_function_name_here", "Make.sure.x", "Nothing.second.third" * 3],
)
def test_dotted_names_are_no_bots_token(text: str) -> None:
    """Names of modules have the form at most."""
    assert redact(text) == text
