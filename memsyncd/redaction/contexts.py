"""Secrets told by what stands around them: addresses, signed links, web tokens, commands, SQL."""

import re

from memsyncd.redaction.shape import EDGE, Shape

_JWT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m))"
_CURL = EDGE + r"curl\b[^\n|;]{0,200}?[ \t](?:-u|--user)[ \t=]?[ \t]{0,4}\\{0,8}[\"']?[^\s:\"'\\]{0,80}:"
_SUDO = (
    EDGE + r"sudo[ \t]{1,4}"
    r"(?:-[A-Za-z]{0,8}[CDRTUghprtu][ \t]{1,4}[^\s|;]{1,40}[ \t]{1,4}|-[A-Za-z-]{1,20}[ \t]{1,4}){0,4}?"
    r"(?:-[A-Za-z]{0,8}S|--stdin)(?![\w-])"
)
_ECHO = EDGE + (
    r"(?:echo|printf)[ \t]{1,4}(?:-[neE]{1,3}[ \t]{1,4}|\\{0,8}[\"']?%s(?:\\{1,8}n)?\\{0,8}[\"']?[ \t]{1,4})?"
)
_WORD = r"(?P<quote>\\{0,8}[\"'](?!\$))?(?P<secret>(?(quote)[^\"'\\\n]{1,200}|[^\s\"'$\\|;<>-][^\s\"'\\|;]{0,200}))"
"""`echo … | sudo -S`: a password goes to standard input."""

_ADDRESSES = (
    Shape(
        ("hooks.slack.com/",), re.compile(r"(?i:hooks\.slack\.com)/(?:services|workflows|triggers)/(?P<secret>[\w/-]+)")
    ),
    Shape(("/api/webhooks/",), re.compile(r"/api/webhooks/[0-9]{1,24}/(?P<secret>[\w-]+)")),
    Shape(("webhook.office.com/",), re.compile(r"(?i:webhook\.office\.com)/webhookb2/(?P<secret>[\w@/-]+)")),
    # scheme://user:password@host, any scheme; a port followed by a path is no password. The user stays.
    Shape(
        ("://",),
        re.compile(
            r"://[^\s:/?#@\"'`<>\\]{0,128}:(?![0-9]{1,5}(?:[/?#\s\"'),\\]|\Z))(?!\$\{?\w{1,64}\}?@|\{\w{1,64}\}@)"
            r"(?P<secret>[^\s\"'`<>]{1,256}?)@(?=[\w.\[%$\{-])(?![^\s/?#\"'`<>@\\]{0,256}@)"
        ),
    ),
    # A lone user part that looks like a token.
    Shape(("://",), re.compile(r"(?i:https?)://(?P<secret>(?=[^\s/@]{0,80}[0-9])[\w.~%-]{20,256})@")),
)

_COMMANDS = (
    # Commands: the letter -p is a password only for programs known to mean that.
    Shape(
        ("sshpass",),
        re.compile(EDGE + r"sshpass[ \t]{1,4}-p[ \t]{0,4}(?P<secret>\\{0,8}[\"'][^\"'\\\n]+|[^\s\"'$\\-][^\s\"'\\]*)"),
    ),
    Shape(
        ("mysql", "mariadb"),
        re.compile(
            EDGE + r"(?:mysql|mariadb)[a-z_-]{0,12}[ \t][^\n|;&]{0,200}?(?<=[ \t])-p(?P<secret>[^\s\"'$\\][^\s\"'\\]*)"
        ),
    ),
    Shape(
        ("login",),
        re.compile(
            EDGE + r"login[ \t][^\n|;&]{0,200}?(?<=[ \t])-p[ \t=]{1,4}"
            r"(?P<secret>\\{0,8}[\"'][^\"'\\\n]+|[^\s\"'$\\-][^\s\"'\\]*)"
        ),
    ),
    Shape(
        ("redis-cli",),
        re.compile(EDGE + r"redis-cli[ \t][^\n|;&]{0,200}?(?<=[ \t])-a[ \t]{1,4}(?P<secret>[^\s\"'$\\-][^\s\"'\\]*)"),
    ),
    Shape(("pass:",), re.compile(r"-pass(?:in|out)?[ \t=]{1,4}\\{0,8}[\"']?pass:(?P<secret>(?![$%{])[^\s\"'`\\]+)")),
    Shape(
        ("openssl",),
        re.compile(
            EDGE + r"openssl[ \t][^\n|;&]{0,200}?(?<=[ \t])-[kK][ \t]{1,4}"
            r"(?P<secret>\\{0,8}[\"'](?!\$)[^\"'\\\n]+|[^\s\"'$\\-][^\s\"'\\]*)"
        ),
    ),
    Shape(
        ("ldap",),
        re.compile(
            EDGE + r"ldap[a-z]{1,12}[ \t][^\n|;&]{0,200}?(?<=[ \t])-w[ \t]{1,4}(?P<secret>[^\s\"'$\\-][^\s\"'\\]*)"
        ),
    ),
    Shape(("sudo",), re.compile(_ECHO + _WORD + r"\\{0,8}[\"']?[ \t]{0,4}\|[ \t]{0,4}" + _SUDO)),
    Shape(("sudo",), re.compile(_SUDO + r"[^\n|;]{0,200}?<<<[ \t]{0,4}" + _WORD)),
    Shape(("curl",), re.compile(_CURL + r"(?P<secret>[^\s\"'$\\][^\s\"'\\]*)")),
)

_PLACES = (
    # user:password@tcp(host), as Go's MySQL driver writes it.
    Shape(("@tcp(", "@unix("), re.compile(r"[\w.-]{1,64}:(?P<secret>[^\s\"'`@:/]{1,128})@(?:tcp|unix)\(")),
    # scott/password@host, as Oracle's driver has it.
    Shape((":thin:",), re.compile(r"(?i):thin:[^\s/@:\"'`]{1,64}/(?P<secret>[^\s\"'`@]{1,128})@")),
)

_SIGNATURES = (
    # A signed address's signature.
    Shape(
        ("sig",),
        re.compile(
            r"(?i)(?:[?&;](?:amp;)?|\\u0026|%26)(?:x-(?:amz|goog)-)?sig(?:nature)?(?:=|%3d)(?P<secret>[\w%+/=~-]{8,})"
        ),
    ),
    # The same without its address, as an access signature is handed round.
    Shape(
        ("sig=",),
        re.compile(r"\bsig=(?P<secret>(?=[\w%+/=~-]{0,64}[0-9%])(?=[\w%+/=~-]{0,64}[A-Z])[\w%+/=~-]{16,})"),
    ),
    Shape(("key=",), re.compile(r"[?&]key=(?P<secret>(?=[^\s&]{0,64}[0-9])[\w%~-]{24,})")),
)

_OTHERS = (
    # A form's part.
    Shape(
        ("form-data",),
        re.compile(
            r"(?i)name=\\{0,8}\"[^\"\\\n]{0,40}(?:password|passwd|secret|token|api[_-]?key)\\{0,8}\""
            r"(?:\r?\n|(?:\\{1,8}[rn])+){1,4}(?P<secret>[^\r\n\\\"]+)"
        ),
    ),
    Shape(("eyj",), re.compile(_JWT + r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{2,}){1,4}\.?")),
    Shape(("bearer ",), re.compile(r"(?i)" + EDGE + r"bearer +(?P<secret>(?=[^\s]{0,64}[0-9])[\w.~+/=-]{12,})")),
    # .netrc
    Shape(("login ",), re.compile(EDGE + r"login\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(?P<secret>\S+)")),
    # SQL
    Shape(
        ("identified",),
        re.compile(
            r"(?i)"
            + EDGE
            + r"identified\s{1,8}(?:with\s{1,8}\S{1,64}\s{1,8})?by\s{1,8}\\{0,8}[\"'](?P<secret>[^\"'\\\n]+)"
        ),
    ),
)

_GATES = (
    ("://", tuple((needle, shape) for shape in _ADDRESSES for needle in shape.needles)),
    (" -", tuple((needle, shape) for shape in _COMMANDS for needle in shape.needles)),
    ("@", tuple((needle, shape) for shape in _PLACES for needle in shape.needles)),
    ("=", tuple((needle, shape) for shape in _SIGNATURES for needle in shape.needles)),
    ("", tuple((needle, shape) for shape in _OTHERS for needle in shape.needles)),
)
"""Needles and their shapes by what all of a group have in common, so that most texts are asked for few."""


def redact_contexts(text: str, lowered: str) -> str:
    """Return `text` without the secrets whose surroundings betray them; `lowered` is `text` in lower case."""
    for gate, group in _GATES:
        if gate in lowered:
            for needle, shape in group:
                if needle in lowered:
                    text = shape.redact(text)
    return text
