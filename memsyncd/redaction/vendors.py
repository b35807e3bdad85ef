"""Secrets told by the prefix their vendor gives them."""

import re
from dataclasses import dataclass

from memsyncd.redaction.replacement import REPLACEMENT
from memsyncd.redaction.shape import Shape

_EDGE = re.compile(
    r"(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9]m)",
)
"""A word's left edge (facts 6.31): also after an escape (`\\n`, `\\u0022`), a percent code, a colour code."""


@dataclass(frozen=True, slots=True)
class _Vendor:
    """A prefix and the least of what must follow it, and all that can."""

    needles: tuple[str, ...]
    least: re.Pattern[str]
    rest: re.Pattern[str]

    def redact(self, text: str) -> str:
        """Return `text` with this vendor's secrets replaced."""
        pieces: list[str] = []
        done = position = 0
        # Only a fixed length is looked at before the edge is known to be one, so each place is looked at once.
        while found := self.least.search(text, position):
            start, end = found.span()
            position = start + 1
            if _EDGE.match(text, start):
                rest = self.rest.match(text, end)
                pieces += (text[done:start], REPLACEMENT)
                done = position = rest.end() if rest else end
        return "".join((*pieces, text[done:])) if pieces else text


def _prefixed(prefix: str, characters: str, least: int, *needles: str) -> _Vendor:
    return _Vendor(
        needles=needles or (prefix.replace("\\", ""),),
        least=re.compile(f"{prefix}[{characters}]{{{least}}}"),
        rest=re.compile(f"[{characters}]*"),
    )


_ALL = r"A-Za-z0-9_\-"
_WORD = "A-Za-z0-9_"
_PLAIN = "A-Za-z0-9"

_VENDORS: tuple[_Vendor | Shape, ...] = (
    # Facts 6.4 and 6.6: twelve or more after the prefix.
    _prefixed("mem0_sk-", _ALL, 12),
    _prefixed("psk-", _ALL, 12),
    _prefixed("sk-", _ALL, 12),
    _prefixed("m0(?:-|sk_|sk-)", _ALL, 12, "m0-", "m0sk_", "m0sk-"),
    _prefixed("gh[pousr]_", _PLAIN, 12, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _prefixed("github_pat_", _WORD, 12),
    _prefixed(r"xox[a-z](?:-|\.xox[a-z]-)", _ALL, 12, *(f"xox{kind}-" for kind in "abcdeoprs")),
    _prefixed("xapp-", _ALL, 12),
    # A secret access key beside its id, as in a table of credentials; then the id (facts 6.5) and its kin.
    Shape(
        ("AKIA", "ASIA"),
        re.compile(r"A(?:KIA|SIA)[A-Z0-9]{12,32}[\s,:;|\"']{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"),
    ),
    _prefixed("A(?:KIA|SIA|BIA|CCA)", "A-Z0-9", 12, "AKIA", "ASIA", "ABIA", "ACCA"),
    # The rest: the vendors' published formats; the least length is under the real one, since a cut token leaks too.
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
    _prefixed("pypi-AgE", _ALL, 12, "pypi-"),
    _prefixed("hf_", _PLAIN, 16),
    _prefixed(r"SG\.", _ALL + ".", 24),
    _prefixed("[srp]k_(?:live|test)_", _WORD, 8, "k_live_", "k_test_"),
    _prefixed("whsec_", _PLAIN + "+/=", 12),
    _prefixed("shp(?:at|ca|pa|ss|ua)_", _PLAIN, 12, "shpat_", "shpca_", "shppa_", "shpss_", "shpua_"),
    _prefixed("do[opr]_v1_", _PLAIN, 12, "o_v1_", "p_v1_", "r_v1_"),
    _prefixed("dckr_(?:pat|oat)_", _ALL, 12, "dckr_pat_", "dckr_oat_"),
    _prefixed("gl(?:sa|c)_", _WORD + "+/=", 12, "glsa_", "glc_"),
    _prefixed("lin_(?:api|oauth)_", _PLAIN, 12, "lin_api_", "lin_oauth_"),
    _prefixed("key-", _PLAIN, 32),
    _prefixed("(?:gsk_|xai-|pplx-|tvly-|nvapi-|fw_)", _ALL, 20, "gsk_", "xai-", "pplx-", "tvly-", "nvapi-", "fw_"),
    _prefixed("(?:r8_|figd_|ntn_|phx_|sbp_)", _ALL, 20, "r8_", "figd_", "ntn_", "phx_", "sbp_"),
    _prefixed(r"hv[sbr]\.", _ALL, 12, "hvs.", "hvb.", "hvr."),
    _prefixed(
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.",
        _ALL + ".",
        12,
        "dp.pt.",
        "dp.st.",
        "dp.ct.",
        "dp.sa.",
        "dp.scim.",
        "dp.audit.",
    ),
    _prefixed(
        "(?:rubygems_|pscale_(?:tkn|pw|oauth)_|sntry[su]_)",
        _ALL + ".=",
        12,
        "rubygems_",
        "pscale_tkn_",
        "pscale_pw_",
        "pscale_oauth_",
        "sntrys_",
        "sntryu_",
    ),
    _prefixed("(?:PMAK|NRAK|tskey|sq0atp|sq0csp)-", _ALL, 12, "PMAK-", "NRAK-", "tskey-", "sq0atp-", "sq0csp-"),
    _prefixed("ATATT3", _ALL + "=", 12),
    _prefixed("dapi", "a-f0-9", 32),
    _prefixed("(?:SK|AC)", "a-f0-9", 32, "SK", "AC"),
    _prefixed("AGE-SECRET-KEY-1", "A-Z0-9", 12, "AGE-SECRET-KEY-"),
    _prefixed("lsv2_(?:pt|sk)_", _WORD, 12, "lsv2_pt_", "lsv2_sk_"),
    _prefixed("sb_secret_", _ALL, 12),
    Shape((":AA",), re.compile(r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}")),
    # A bot's token of Discord: its id in base64, a time and a signature, none of which has a prefix.
    Shape(
        (".",),
        re.compile(
            f"(?:{_EDGE.pattern})" + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\."
            r"(?=[A-Za-z_-]{0,38}[0-9])[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])"
        ),
    ),
)

_BOT = "."
_AFTER_ID = "[^.]{6}[.][A-Za-z0-9_-]{27}"
"""What follows the first point of a bot's token, which alone is too common to tell one."""

_SIGNS = "-_."
"""Most prefixes end in one of these."""


def _tails(width: int, needles: set[str]) -> str:
    return "(?<=" + "|".join(sorted({re.escape(needle[-width:]) for needle in needles})) + ")"


_SIGNED = {needle for shape in _VENDORS for needle in shape.needles if needle[-1] in _SIGNS}
_WIDTHS = (3, 4, 6)
"""How much of a needle's end is compared: the widest that the needle has."""

_POSSIBLE = [
    re.compile(
        f"[{sign}](?:"
        + "|".join(
            _tails(least, needles)
            for least, most in zip(_WIDTHS, (*_WIDTHS[1:], 99), strict=True)
            if (needles := {needle for needle in _SIGNED if needle[-1] == sign and least <= len(needle) < most})
        )
        + (f"|(?={_AFTER_ID})" if sign == _BOT else "")
        + ")"
    )
    for sign in _SIGNS
]
"""For each sign, it with the end of a needle before it. A pattern that begins with one character is found fastest."""

_BY_TAIL: dict[str, list[tuple[str, int]]] = {}
for _index, _vendor in enumerate(_VENDORS):
    for _needle in _vendor.needles:
        _BY_TAIL.setdefault(_needle[-3:], []).append((_needle, _index))
for _tail, _found in _BY_TAIL.items():
    if _tail.endswith(_BOT) and _tail != _BOT:
        _found += _BY_TAIL[_BOT]

_CAPITAL = re.compile("A(?:KIA|SIA|BIA|CCA|Iza|TATT3)")
_OTHERS = [
    (needle, index)
    for index, shape in enumerate(_VENDORS)
    for needle in shape.needles
    if needle[-1] not in _SIGNS and not _CAPITAL.fullmatch(needle)
]
_CAPITALS = [index for index, shape in enumerate(_VENDORS) if any(map(_CAPITAL.fullmatch, shape.needles))]


def redact_vendors(text: str) -> str:
    """Return `text` without the secrets whose prefix betrays them."""
    possible = {index for needle, index in _OTHERS if needle in text}
    if _CAPITAL.search(text):
        possible.update(_CAPITALS)
    for pattern in _POSSIBLE:
        for tail in {text[match.end() - 3 : match.end()] for match in pattern.finditer(text)}:
            possible.update(index for needle, index in _BY_TAIL.get(tail, _BY_TAIL[_BOT]) if needle in text)
    for index in sorted(possible):
        text = _VENDORS[index].redact(text)
    return text
