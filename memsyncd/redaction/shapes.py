"""Secrets told by their own shape: vendors' prefixes, tokens, webhook addresses, passwords in URLs and commands.

Each shape has needles (lower case, looked for in the lower-cased text, which costs next to nothing) and a pattern
that runs only when a needle is there. A pattern's group `secret`, or all it matches, is replaced. Every repetition is
bounded, or uses the same characters that its left boundary forbids, so that no text makes it try a run twice.
"""

import re
from dataclasses import dataclass

from memsyncd.redaction.replacement import REPLACEMENT

_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m))"
"""A word's left edge: also after an escape (`\\n`, `\\u0022`), a percent code, and the end of a colour code."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: any of `needles` in the lower-cased text makes `pattern` worth running."""

    needles: tuple[str, ...]
    pattern: re.Pattern[str]

    def redact(self, text: str) -> str:
        """Return `text` with this shape's secrets replaced."""
        return self.pattern.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    secret = match.groupdict().get("secret")
    if secret is None:
        return REPLACEMENT
    start, end = match.span("secret")
    offset = match.start()
    whole = match.group()
    return whole[: start - offset] + REPLACEMENT + whole[end - offset :]


def _prefixed(prefix: str, characters: str, least: int, *needles: str) -> Shape:
    needles = needles or (prefix.lower().replace("\\", ""),)
    return Shape(needles, re.compile(f"{_EDGE}{prefix}[{characters}]{{{least},}}"))


_ALL = r"A-Za-z0-9_\-"
_WORD = "A-Za-z0-9_"
_PLAIN = "A-Za-z0-9"

VENDORS = (
    # Facts 6.4 and 6.6: twelve or more after the prefix.
    _prefixed("mem0_sk-", _ALL, 12),
    _prefixed("p?sk-", _ALL, 12, "sk-"),
    _prefixed("m0(?:-|sk_|sk-)", _ALL, 12, "m0-", "m0sk"),
    _prefixed("gh[pousr]_", _PLAIN, 12, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _prefixed("github_pat_", _WORD, 12),
    _prefixed(r"xox[a-z](?:-|\.xox[a-z]-)", _ALL, 12, "xox"),
    _prefixed("xapp-", _ALL, 12),
    # Facts 6.5, and the other long-lived and temporary id prefixes of the same vendor.
    _prefixed("A(?:KIA|SIA|BIA|CCA)", "A-Z0-9", 12, "akia", "asia", "abia", "acca"),
    # The rest: the vendors' published formats; the least length is well under the real one, since a cut token leaks too.
    _prefixed(
        "gl(?:pat|dt|rt|cbt|ptt|ft|oas|imt|agent|soat|ffct|rtr)-",
        _ALL + ".",
        12,
        "glpat-",
        "gldt-",
        "glrt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "gloas-",
        "glimt-",
        "glagent-",
        "glsoat-",
        "glrtr-",
    ),
    _prefixed("AIza", _ALL, 24),
    _prefixed(r"ya29\.", _ALL + ".", 12),
    _prefixed("1//0", _ALL, 24),
    _prefixed("GOCSPX-", _ALL, 12),
    _prefixed("npm_", _PLAIN, 20),
    _prefixed("pypi-AgE", _ALL, 12),
    _prefixed("hf_", _PLAIN, 16),
    _prefixed(r"SG\.", _ALL + ".", 24),
    _prefixed("[srp]k_(?:live|test)_", _WORD, 8, "k_live_", "k_test_"),
    _prefixed("whsec_", _PLAIN + "+/=", 12),
    _prefixed("shp(?:at|ca|pa|ss|ua)_", _PLAIN, 12, "shpat_", "shpca_", "shppa_", "shpss_", "shpua_"),
    _prefixed("do[opr]_v1_", _PLAIN, 12, "_v1_"),
    _prefixed("dckr_(?:pat|oat)_", _ALL, 12, "dckr_"),
    _prefixed("gl(?:sa|c)_", _WORD + "+/=", 12, "glsa_", "glc_"),
    _prefixed("lin_(?:api|oauth)_", _PLAIN, 12, "lin_api_", "lin_oauth_"),
    _prefixed("key-", _PLAIN, 32),
    _prefixed("(?:gsk_|xai-|pplx-|tvly-|nvapi-|fw_)", _ALL, 20, "gsk_", "xai-", "pplx-", "tvly-", "nvapi-", "fw_"),
    _prefixed("(?:r8_|figd_|ntn_|phx_|sbp_)", _ALL, 20, "r8_", "figd_", "ntn_", "phx_", "sbp_"),
    _prefixed(r"hv[sbr]\.", _ALL, 12, "hvs.", "hvb.", "hvr."),
    _prefixed(r"dp\.(?:pt|st|ct|sa|scim|audit)\.", _ALL + ".", 12, "dp."),
    _prefixed("(?:rubygems_|pscale_(?:tkn|pw|oauth)_|sntry[su]_)", _ALL + ".=", 12, "rubygems_", "pscale_", "sntry"),
    _prefixed("(?:PMAK|NRAK|tskey|sq0atp|sq0csp)-", _ALL, 12, "pmak-", "nrak-", "tskey-", "sq0"),
    _prefixed("ATATT3", _ALL + "=", 12),
    _prefixed("dapi", "a-f0-9", 32),
    _prefixed("AGE-SECRET-KEY-1", "A-Z0-9", 12),
    _prefixed("lsv2_(?:pt|sk)_", _WORD, 12, "lsv2_"),
    _prefixed("sb_secret_", _ALL, 12),
    Shape((":aa",), re.compile(r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}")),
)

_JWT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m))"
_CURL = r"\bcurl\b[^\n|;]{0,400}?[ \t](?:-u|--user)[ \t=]?[ \t]{0,4}\\{0,8}[\"']?[^\s:\"'\\]{0,80}:"

CONTEXTS = (
    Shape(("eyj",), re.compile(_JWT + r"eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{2,}){1,4}\.?")),
    # A secret access key beside its id, as in a credentials table.
    Shape(
        ("[redacted]",),
        re.compile(r"\[REDACTED\][\s,:;|\"']{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ),
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
    # user:password@tcp(host), as Go's MySQL driver writes it.
    Shape(("@tcp(", "@unix("), re.compile(r"[\w.-]{1,64}:(?P<secret>[^\s\"'`@:/]{1,128})@(?:tcp|unix)\(")),
    # A signed address's signature.
    Shape(
        ("sig=", "signature="),
        re.compile(r"(?i)[?&;](?:amp;)?(?:x-(?:amz|goog)-)?sig(?:nature)?=(?P<secret>[\w%+/=~-]{8,})"),
    ),
    Shape(("bearer ",), re.compile(r"(?i)\bbearer +(?P<secret>(?=[^\s]{0,64}[0-9])[\w.~+/=-]{12,})")),
    # Commands: the letter -p is a password only for programs known to mean that.
    Shape(
        ("sshpass",),
        re.compile(r"\bsshpass[ \t]{1,4}-p[ \t]{0,4}(?P<secret>\\{0,8}[\"'][^\"'\\\n]{1,200}|[^\s\"'$\\-][^\s\"'\\]*)"),
    ),
    Shape(
        ("mysql", "mariadb"),
        re.compile(
            r"\b(?:mysql|mariadb)[a-z_-]{0,12}[ \t][^\n|;&]{0,300}?(?<=[ \t])-p(?P<secret>[^\s\"'$\\][^\s\"'\\]*)"
        ),
    ),
    Shape(
        ("login ",),
        re.compile(
            r"\blogin[ \t][^\n|;&]{0,300}?(?<=[ \t])-p[ \t=]{1,4}(?P<secret>\\{0,8}[\"'][^\"'\\\n]{1,200}|[^\s\"'$\\-][^\s\"'\\]*)"
        ),
    ),
    Shape(
        ("redis-cli",),
        re.compile(r"\bredis-cli[ \t][^\n|;&]{0,300}?(?<=[ \t])-a[ \t]{1,4}(?P<secret>[^\s\"'$\\-][^\s\"'\\]*)"),
    ),
    Shape(("curl",), re.compile(_CURL + r"(?P<secret>[^\s\"'$\\][^\s\"'\\]*)")),
    # .netrc
    Shape(("login ", "machine "), re.compile(r"\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}(?P<secret>\S+)")),
    # SQL
    Shape(
        ("identified",),
        re.compile(
            r"(?i)\bidentified\s{1,8}(?:with\s{1,8}\S{1,64}\s{1,8})?by\s{1,8}\\{0,8}[\"'](?P<secret>[^\"'\\\n]{1,200})"
        ),
    ),
)


def redact_shapes(text: str, lowered: str) -> str:
    """Return `text` without the secrets whose shape betrays them; `lowered` is `text` in lower case."""
    for shape in VENDORS:
        for needle in shape.needles:
            if needle in lowered:
                text = shape.redact(text)
                break
    if REPLACEMENT in text:
        lowered = text.lower()
    for shape in CONTEXTS:
        for needle in shape.needles:
            if needle in lowered:
                text = shape.redact(text)
                break
    return text
