# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The small changes that can be made in a function.

Left out is what no test of behaviour can see: log lines and assertions, and deleting a
call that only gives memory, a descriptor or a lock back.
"""

import dataclasses
import re

_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_LOGIC = {"&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=",
                "++", "--"}
_QUIET = re.compile(r"triad_log_\w+|triad_agent_log|\w*assert\w*")
_GIVES_BACK = re.compile(
    r"(?:\w+_)?(?:free|unref|clear|destroy|close|lock|unlock)|pthread_\w+|va_\w+")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")


@dataclasses.dataclass
class Change:
    """Text from 'start' to 'end' is replaced by 'new'; 'words' tell it."""

    operator: str
    start: int
    end: int
    new: str
    words: str


def changes(function, text):
    """All that can be done to a function of the text, in the order of the text."""
    found = []
    for piece in function.pieces:
        if piece.tokens and not _QUIET.fullmatch(piece.tokens[0].text):
            for make in (_tokens, _negation, _deletion, _return, _jump):
                found += make(piece, function, text)
    return sorted(found, key=lambda it: (it.start, it.operator))


def _between(piece, text):
    return " ".join(text[piece.tokens[0].start:piece.tokens[-1].end].split())


# --- operators and constants -------------------------------------------------

def _tokens(piece, _function, _text):
    if piece.kind == "case":
        return
    for i in _code(piece):
        token = piece.tokens[i]
        for name, table in (("comparison", _COMPARISONS), ("logic", _LOGIC),
                            ("arithmetic", _ARITHMETIC)):
            if token.text in table and (name != "arithmetic" or _is_binary(piece, i)):
                new = table[token.text]
                yield Change(name, token.start, token.end, new,
                             f"'{token.text}' becomes '{new}'")
        if not (piece.kind == "return" and len(piece.tokens) == 3):
            yield from _constant(token)


def _code(piece):
    """The indices of tokens that are computed when the statement runs: all, but in a
    declaration only what stands behind '='; nothing in sizeof()."""
    is_static = piece.tokens[0].text == "static"
    depth, is_value, skip_to = 0, piece.kind != "declaration", 0
    for i, token in enumerate(piece.tokens):
        if piece.kind == "declaration":
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0 and token.text in ("=", ","):
                is_value = token.text == "=" and not is_static
                continue
        if token.text == "sizeof":
            skip_to = _end_of_group(piece.tokens, i + 1)
        if is_value and i >= skip_to:
            yield i


def _end_of_group(tokens, i):
    depth = 0
    while i < len(tokens):
        depth += (tokens[i].text in "([") - (tokens[i].text in ")]")
        i += 1
        if depth == 0:
            break
    return i


def _is_binary(piece, i):
    if piece.tokens[i].text in ("+=", "-="):
        return True
    if i == 0 or piece.tokens[i - 1].text in ("return", "case", "sizeof"):
        return False
    last = piece.tokens[i - 1].text
    return last == "]" or re.fullmatch(r"\w+", last) or \
        (last == ")" and not _is_cast(piece.tokens, i - 1))


def _is_cast(tokens, i):
    """Whether the ')' at this index ends a type: '(int)' or '(struct x *)'."""
    first = i - 1
    while first >= 0 and re.fullmatch(r"\w+|\*", tokens[first].text):
        first -= 1
    before = tokens[first - 1].text if first > 0 else ""
    return first >= 0 and tokens[first].text == "(" and not re.fullmatch(r"\w+", before)


def _constant(token):
    match = _INTEGER.fullmatch(token.text)
    if not match:
        return
    is_hex = match[1][:2].lower() == "0x"
    value = int(match[1], 16 if is_hex else 8 if re.match(r"0\d", match[1]) else 10)
    for step in (1, -1):
        if value + step >= 0:
            new = (hex(value + step) if is_hex else str(value + step)) + match[2]
            yield Change("constant", token.start, token.end, new,
                         f"'{token.text}' becomes '{new}'")


# --- statements --------------------------------------------------------------

def _negation(piece, _function, text):
    if piece.kind in ("if", "while") and piece.tokens:
        start, end = piece.tokens[0].start, piece.tokens[-1].end
        yield Change("negation", start, end, f"!({text[start:end]})",
                     f"the condition of '{piece.kind} ({_between(piece, text)})' "
                     "is negated")


def _deletion(piece, _function, text):
    if piece.kind != "expression" or piece.tokens[-1].text != ";":
        return
    words = [token.text for token in piece.tokens]
    is_call = len(words) > 3 and words[1] == "(" and \
        re.fullmatch(r"[A-Za-z_]\w*", words[0])
    if is_call and _GIVES_BACK.fullmatch(words[0]):
        return
    if is_call or _ASSIGNMENTS & set(words):
        yield Change("deletion", piece.tokens[0].start, piece.tokens[-1].end, ";",
                     f"'{_between(piece, text)}' is deleted")


def _return(piece, function, text):
    if piece.kind != "return" or len(piece.tokens) < 3:
        return
    start, end = piece.tokens[1].start, piece.tokens[-2].end
    old = text[start:end]
    new = _other_value(old, function.returns)
    if new != old:
        yield Change("return value", start, end, new,
                     f"'{_between(piece, text)}' returns '{' '.join(new.split())}'")


def _other_value(old, type_name):
    if "*" in type_name:
        return "NULL"
    if "bool" in type_name.split():
        return {"true": "false", "false": "true"}.get(old, f"!({old})")
    return "1" if old == "0" else "0"


def _jump(piece, _function, _text):
    if piece.kind in ("break", "continue"):
        yield Change("jump", piece.tokens[0].start, piece.tokens[-1].end, ";",
                     f"'{piece.kind};' is dropped")
