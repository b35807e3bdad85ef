"""Whether an unquoted value after a telling name is a secret itself, or code or prose that only speaks of one."""

import re

from memsyncd.redaction.names import announces
from memsyncd.redaction.operands import is_capitalised, is_drawn, is_operand

_NO_SECRET = frozenset(
    {
        "str", "string", "bytes", "bytearray", "int", "integer", "float", "number", "num", "bool",
        "boolean", "any", "object", "optional", "text", "char", "varchar", "list", "dict", "array", "map",
        "set", "tuple", "union", "none", "null", "nil", "undefined", "void", "never", "unknown", "nan",
        "true", "false", "yes", "no", "on", "off", "self", "this", "type", "secretstr", "secretbytes",
        "option", "result", "some", "callable", "annotated", "literal", "readonly", "static", "const",
        "let", "var", "final", "default", "required", "missing", "invalid", "incorrect", "wrong", "expired",
        "expires", "revoked", "rotated", "unset", "empty", "needed", "optional.", "hidden", "masked",
        "redacted", "present", "absent", "changed", "failed", "accepted", "denied", "rejected", "forbidden",
        "valid", "ok", "okay", "error", "a", "an", "the", "at", "as", "is", "are", "was", "be", "must",
        "should", "may", "can", "will", "has", "have", "had", "not", "and", "or", "if", "in", "of", "for",
        "from", "to", "by", "with", "without", "your", "our", "my", "their", "his", "her", "its", "it",
        "that", "these", "those", "when", "where", "which", "who", "see", "enter", "click",
        "use", "using", "needs", "there", "only", "must.", "then", "else", "return", "pass", "break",
        "continue", "raise", "throw", "await", "async", "new", "del", "lambda", "include", "options", "flag", "flags",
        "argument", "arguments", "parameter", "parameters", "field", "fields", "prompt", "prompts", "omit",
        "same-origin", "inherit", "hover", "before", "after", "focus", "active", "visited", "first-child",
        "last-child", "nth-child",
        "erforderlich", "vergessen", "falsch", "ung\u00fcltig", "ge\u00e4ndert", "abgelaufen", "leer", "wie", "der",
        "die", "das", "ein", "eine", "nicht", "muss", "wird", "eingeben", "anders", "folgenderma\u00dfen", "bitte",
        "obligatoire", "requis", "oubli\u00e9", "incorrecte", "invalide", "vide", "expir\u00e9", "le", "la", "les",
        "un", "une", "pas", "doit", "saisir", "obligatorio", "obligatoria", "requerida", "requerido", "incorrecta",
        "incorrecto", "olvidada", "inv\u00e1lida", "vac\u00eda", "el", "una", "debe", "caducada",
    }
)  # fmt: skip
"""Words of type annotations, empty values, code, CSS and everyday sentences, in lower case."""

_ALGORITHM = re.compile(
    r"(?i)(?:base|sha|md|argon|utf|aes|pbkdf|oauth|ntlmv?|hs|rs|es|pkcs|x)-?[0-9]{1,4}(?:id)?(?:[-/']\w{1,12})?"
    r"|[a-z]{1,20}-(?:specific|only|based|like|compatible|encoded|hashed|protected|managed|encrypted|sensitive)"
    r"|[0-9]+(?:-[0-9]+)?[-+]?(?:bits?|bytes?|char(?:acter)?s?|digits?|chars?|days?|h|s|m)?"
)
"""What a sentence says of a password with digits in it: how it is encoded, how long it is."""

_REFERENCE = re.compile(
    r"\$\{[^}\n]{0,200}\}|\$\([^)\n]{0,200}\)|\$\{\{[^}\n]{0,200}\}\}|\$[A-Za-z_][A-Za-z0-9_]*|\$[@*#?$0-9]"
    r"|\{\{[^}\n]{0,200}\}\}|\{[\w.]{1,100}(?:![rsa])?\}|<[A-Za-z][\w .-]{0,60}>|%\([A-Za-z_]\w{0,60}\)s"
    r"|%[A-Za-z_]{2,60}%|%[sdrvq]|:[a-z_]{2,40}|\*{2,}"
)
"""Shell and template variables, placeholders, and values that are masked already."""

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]{0,60}"
_CALL = re.compile(
    r"(?:await |new |\*|&|!|-)?(?:" + _IDENTIFIER + r"(?:\.|::|->|\?\.)){0,6}" + _IDENTIFIER + r"!?\??"
    r"(?:\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,4}\)|\(\\{0,8}\Z|\(\s|\([^)\n]{0,200}$)"
    r"(?=[\s,;.:)\]}?\"'`\\|&]|\Z)",
    re.MULTILINE,
)
_INDEX = re.compile(
    r"(?:" + _IDENTIFIER + r"\.){0,6}" + _IDENTIFIER + r"(?:\[[^\]\n]{1,100}\]|<[A-Za-z_][\w<>, |]{0,80}>)"
    r"(?=[\s,;.:)\]}?\"'`\\=|&(\[]|\Z)"
)
_DOTTED = re.compile(r"[*&!]?" + _IDENTIFIER + r"(?:(?:\.|::|->|\?\.)" + _IDENTIFIER + r"){1,8}")
_ROOTS = frozenset(
    {
        "self", "this", "cls", "super", "os", "sys", "process", "env", "environ", "config", "conf", "cfg",
        "settings", "options", "opts", "args", "kwargs", "params", "ctx", "context", "request", "req",
        "response", "res", "reply", "app", "current_app", "secrets", "credentials", "creds", "user",
        "account", "session", "client", "data", "body", "payload", "event", "state", "props", "store",
        "form", "inputs", "input", "vault", "module", "window", "document", "import", "var", "local",
        "github",
    }
)  # fmt: skip
_BARE = re.compile(r"[*&]?" + _IDENTIFIER)
_CODE_FOLLOWS = re.compile(r"\s{0,4}[),;\]}]|[ \t]{1,4}=[ \t]")
_SMALL = re.compile(r"-?[0-9]{1,2}")


_CASES = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_SYMBOL = re.compile(r"[A-Za-z0-9][!@#$%^&*+=~?][A-Za-z0-9]")
_MIN_CASES = 8
_MIN_NUMBER = 6
"""Shorter words of these kinds are names and counts."""


def is_made_up(word: str) -> bool:
    """Whether `word`, which a sentence calls a secret, is none of the language: digits, odd capitals, signs inside."""
    if word.isdigit():
        return len(word) >= _MIN_NUMBER
    if _ALGORITHM.fullmatch(word) or not any(map(str.isalpha, word)):
        return False
    if any(map(str.isdigit, word)) or _SYMBOL.search(word):
        return True
    return len(word) >= _MIN_CASES and _CASES.search(word) is not None and not announces(word)


def is_prose(word: str) -> bool:
    """Whether `word` is one that types, empty values and sentences about secrets are made of."""
    return word.strip(".,;:!?()[]{}'\"").lower() in _NO_SECRET


def is_reference(text: str, position: int = 0, end: int | None = None) -> bool:
    """Whether all of text[position:end] is a variable or placeholder that names a secret without holding it."""
    return _REFERENCE.fullmatch(text, position, len(text) if end is None else end) is not None


def is_code_or_prose(text: str, start: int, end: int, *, name: str, spaced: bool, target: bool = False) -> bool:
    """Whether the unquoted value text[start:end] after `name` holds no secret.

    `spaced` tells that the sign between them stood between spaces, as in `password = value`, `target` that the name is
    an attribute or one of several that code assigns to.
    """
    value = text[start:end]
    if is_prose(value) or not value.strip("*.,;:!?()[]{}<>-=|/\\#"):
        return True
    reference = _REFERENCE.match(text, start)
    if reference is not None and reference.end() >= end:
        return True
    if (_CALL.match(text, start) or _INDEX.match(text, start)) and not _is_drawn_word(text, start):
        return True
    if spaced and _SMALL.fullmatch(value):
        return True
    return _names_another(text, start, value.rstrip(".,;:)"), name=name, spaced=spaced, target=target)


def _is_drawn_word(text: str, start: int) -> bool:
    """Whether a secret stands before the bracket that makes what begins at `start` look like code."""
    word = _BARE.match(text, start)
    return word is not None and text[word.end()] in "([<" and is_drawn(word.group())


def _names_another(text: str, start: int, value: str, *, name: str, spaced: bool, target: bool) -> bool:
    """Whether `value` is a variable or attribute: `password=password`, `token = settings.api_key`."""
    if _DOTTED.fullmatch(value):
        parts = re.split(r"\.|::|->|\?\.", value.lstrip("*&!"))
        capitals = spaced and all(part[0].isupper() and part.isalpha() for part in parts)
        return capitals or parts[0].lower() in _ROOTS or announces(parts[-1])
    if not _BARE.fullmatch(value) or name.isupper():
        return False
    bare = value.lstrip("*&")
    if spaced and is_capitalised(bare):
        return False
    if bare.strip("_") == name.strip("_") or (spaced and not any(map(str.isdigit, bare)) and target):
        return True
    if spaced and is_operand(text, start + len(value), bare, name):
        return True
    telling = announces(bare) and ("_" in bare or not bare.islower())
    return telling and (spaced or _CODE_FOLLOWS.match(text, start + len(value)) is not None)
