# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The small changes that can be made in a function.

Left out is what no test of behaviour can see: log lines and assertions, and deleting a
call that only gives memory, a descriptor or a lock back.
"""

import re

from . import source

_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_LOGIC = {"&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=",
                "++", "--"}
_QUIET = re.compile(r"triad_log_\w+|triad_agent_log|\w*assert\w*")
_GIVES_BACK = re.compile(
    r"(?:\w+_)?(?:free|unref|clear|destroy|close|lock|unlock)|pthread_\w+|va_\w+")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)")


def changes(function, code):
    """All that can be done to a function of the code: (operator, statement or condition,
    how it reads, how it reads afterwards)."""
    for piece in function.pieces:
        if piece.tokens and not _QUIET.fullmatch(piece.tokens[0].text):
            begin, finish = piece.tokens[0].start, piece.tokens[-1].end
            for make in (_tokens, _negation, _deletion, _return, _jump):
                for operator, start, end, new in make(piece, function, code):
                    yield (operator, piece, source.one_line(code[begin:finish]),
                           source.one_line(code[begin:start] + new + code[end:finish]))


# --- operators and constants -------------------------------------------------

def _tokens(piece, _function, _code):
    if piece.kind == "case":
        return
    for i in _computed(piece):
        token = piece.tokens[i]
        for name, table in (("comparison", _COMPARISONS), ("logic", _LOGIC),
                            ("arithmetic", _ARITHMETIC)):
            if token.text in table and (name != "arithmetic" or _is_binary(piece, i)):
                yield name, token.start, token.end, table[token.text]
        if not (piece.kind == "return" and len(piece.tokens) == 3):
            yield from _constant(token)


def _computed(piece):
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
            yield "constant", token.start, token.end, new


# --- statements --------------------------------------------------------------

def _negation(piece, _function, code):
    if piece.kind in ("if", "while"):
        start, end = piece.tokens[0].start, piece.tokens[-1].end
        yield "negation", start, end, f"!({code[start:end]})"


def _deletion(piece, _function, _code):
    if piece.kind != "expression" or piece.tokens[-1].text != ";":
        return
    words = piece.words
    is_call = len(words) > 3 and words[1] == "(" and \
        re.fullmatch(r"[A-Za-z_]\w*", words[0])
    if is_call and _GIVES_BACK.fullmatch(words[0]):
        return
    if is_call or _ASSIGNMENTS & set(words):
        yield "deletion", piece.tokens[0].start, piece.tokens[-1].end, ";"


def _return(piece, function, code):
    if piece.kind != "return" or len(piece.tokens) < 3:
        return
    start, end = piece.tokens[1].start, piece.tokens[-2].end
    old = code[start:end]
    new = _other_value(old, function.returns)
    if new != old:
        yield "return value", start, end, new


def _other_value(old, type_name):
    if "*" in type_name:
        return "NULL"
    if "bool" in type_name.split():
        return {"true": "false", "false": "true"}.get(old, f"!({old})")
    return "1" if old == "0" else "0"


def _jump(piece, _function, _code):
    if piece.kind in ("break", "continue"):
        yield "jump", piece.tokens[0].start, piece.tokens[-1].end, ";"
