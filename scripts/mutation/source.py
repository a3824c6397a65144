# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""C text: its functions, and what they consist of.

This is no parser of C. It relies on clang-format's layout: a function's braces stand
alone in the first column. Comments and preprocessor lines are blanked first, so that
offsets stay those of the file.
"""

import dataclasses
import re

_STRING = r""" "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' """
_HIDDEN = re.compile(
    _STRING + r"""| /\*.*?\*/ | //[^\n]* | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)
_SPACE = re.compile(_STRING + r"| \s+", re.VERBOSE)
_TOKEN = re.compile(
    _STRING + r"""| [A-Za-z_]\w* | \.?\d(?:[eE][+-]|[\w.])*
        | <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
        | [-+*/%&|^]= | \S""", re.VERBOSE)
_OPEN, _CLOSE = "([{", ")]}"
_TYPE_WORDS = {"const", "static", "struct", "enum", "union", "unsigned", "signed", "int",
               "char", "bool", "float", "double", "long", "short", "void", "_Atomic"}
_NOT_A_TYPE = {"return", "goto", "else", "sizeof"}


@dataclasses.dataclass
class Token:
    text: str
    start: int
    end: int


@dataclasses.dataclass
class Piece:
    """A statement or the condition of one; 'kind' is if, while, for, switch, return,
    break, continue, goto, declaration, case or expression."""

    kind: str
    tokens: list

    @property
    def words(self):
        return [token.text for token in self.tokens]


@dataclasses.dataclass
class Function:
    name: str
    returns: str
    pieces: list


def blank(text):
    """The text with spaces for what is not code; lines and offsets stay."""
    return _HIDDEN.sub(lambda match: match[0] if match[0][0] in "\"'" else
                       re.sub(r"[^\n]", " ", match[0]), text)


def one_line(code):
    """Code with one space where there were some, or an end of line."""
    return _SPACE.sub(lambda match: match[0] if match[0][0] in "\"'" else " ", code)


def tokenize(code, start, end):
    return [Token(it[0], it.start(), it.end())
            for it in _TOKEN.finditer(code, start, end)]


def words(code):
    return _TOKEN.findall(code)


def functions(text):
    code = blank(text)
    found = []
    for match in re.finditer(r"^\{\n(.*?)^\}$", code, re.MULTILINE | re.DOTALL):
        head = re.search(r"(?:^[^\n;{}]+\n)+\Z", code[:match.start()], re.MULTILINE)
        signature = head and re.match(r"(.*?)(\w+)\(", " ".join(head[0].split()))
        if signature:
            found.append(Function(signature[2], signature[1].strip(),
                                  pieces(tokenize(code, *match.span(1)))))
    return found


def closing(tokens, at):
    """The index of what closes the bracket at this index."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in _OPEN) - (tokens[i].text in _CLOSE)
        if depth == 0:
            return i
    return len(tokens) - 1


def pieces(tokens):
    found = []
    i = 0
    while i < len(tokens):
        word = tokens[i].text
        if word in ("{", "}", ";", "else", "do"):
            i += 1
        elif word in ("if", "while", "for", "switch") or _is_loop_macro(tokens, i):
            end = closing(tokens, i + 1)
            found.append(Piece(word, tokens[i + 2:end]))
            i = end + 1
        else:
            end = _statement_end(tokens, i, ":" if _is_label(tokens, i) else ";")
            found.append(Piece(_kind(tokens[i:end]), tokens[i:end + 1]))
            i = end + 1
    return found


def _is_loop_macro(tokens, i):
    if i + 1 >= len(tokens) or tokens[i + 1].text != "(":
        return False
    after = closing(tokens, i + 1) + 1
    return after < len(tokens) and tokens[after].text == "{"


def _is_label(tokens, i):
    return tokens[i].text in ("case", "default") or \
        [token.text for token in tokens[i + 1:i + 2]] == [":"]


def _statement_end(tokens, i, ender):
    while i < len(tokens) - 1 and tokens[i].text != ender:
        i = closing(tokens, i) + 1 if tokens[i].text in _OPEN else i + 1
    return i


def _kind(tokens):
    words = [token.text for token in tokens]
    if words[0] in ("return", "break", "continue", "goto"):
        return words[0]
    if words[0] in ("case", "default") or len(words) == 1:
        return "case"
    if words[0] in _TYPE_WORDS:
        return "declaration"
    is_name = re.compile(r"[A-Za-z_]\w*").fullmatch
    after_stars = next((word for word in words[1:] if word != "*"), "")
    if is_name(words[0]) and words[0] not in _NOT_A_TYPE and is_name(after_stars):
        return "declaration"
    return "expression"
