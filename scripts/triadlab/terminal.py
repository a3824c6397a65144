# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A terminal's text: a command's output as it comes on a terminal, with its colors, and
a picture (SVG) of that."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from xml.sax.saxutils import escape

from .errors import LabError

_ESCAPE = re.compile(r"\033\[([0-9;]*)m")
# SGR numbers -> classes of the picture's style; 0 ends all.
_CLASSES = {1: "b", 31: "r", 32: "g", 33: "y"}
_COLORS = (31, 32, 33)

# In the picture's units.
_FONT = 14
_CELL = 8.43  # a character of a monospace font of that size
_LINE = 18
_MARGIN = 16
_BAR = 34

_STYLE = """\
text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;\
font-size:14px;fill:#1f2328}
.w{fill:#f6f8fa;stroke:#d0d7de}.l{stroke:#d0d7de}.t{fill:#656d76}
.p{fill:#0550ae;font-weight:bold}.b{font-weight:bold}
.r{fill:#cf222e}.g{fill:#116329}.y{fill:#855800}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}
.w{fill:#0d1117;stroke:#30363d}.l{stroke:#30363d}.t{fill:#8d96a0}
.p{fill:#79c0ff}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}}"""


def run(call, n_columns, allowed=(0,)):
    """What the command of a run.Call prints to a terminal of that width."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 60, n_columns, 0, 0))
    process = subprocess.Popen(
        call.command, executable=call.program, stdin=subprocess.DEVNULL, stdout=far,
        stderr=far, env={**call.variables, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(far)
    octets = b""
    try:
        while more := os.read(near, 65536):
            octets += more
    except OSError:
        pass  # so ends a terminal that nobody writes to any longer
    finally:
        os.close(near)
    text = octets.decode("utf-8", "replace").replace("\r\n", "\n")
    if process.wait() not in allowed:
        raise LabError(f"{' '.join(call.command)}: exit status {process.returncode}: "
                       f"{text.strip()}")
    return text


def _change(classes, numbers):
    """The classes that are on after an escape sequence."""
    for number in (int(one or 0) for one in numbers.split(";")):
        if number == 0:
            classes = ()
        elif number in _COLORS:
            others = {_CLASSES[one] for one in _COLORS}
            classes = (*(one for one in classes if one not in others), _CLASSES[number])
        elif number in _CLASSES:
            classes = (*classes, _CLASSES[number])
    return classes


def pieces(text):
    """[[(column, text, class names)]] of each line: no escape sequences, and no piece
    with two blanks in a row, so that columns stand below each other in any font."""
    lines, classes = [], ()
    for line in text.rstrip("\n").split("\n"):
        found, column = [], 0
        # Text and the numbers of escape sequences take turns.
        for i, part in enumerate(_ESCAPE.split(line)):
            if i % 2:
                classes = _change(classes, part)
                continue
            for word in re.finditer(r"\S+(?: \S+)*", part):
                found.append((column + word.start(), word[0], " ".join(classes)))
            column += len(part)
        lines.append(found)
    return lines


def _text(x, y, text, classes, is_exact=True):
    names = f' class="{classes}"' if classes else ""
    # Whatever the font, a piece is as wide as its columns.
    width = f' textLength="{len(text) * _CELL:.1f}"' if is_exact and len(text) > 1 else ""
    return f'<text x="{x:.1f}" y="{y}"{names}{width}>{escape(text)}</text>'


def draw(title, shown, n_columns):
    """A window with [(command, what it printed)]."""
    rows = []
    for command, printed in shown:
        rows += [[(0, "$", "t"), (2, command, "p")], *pieces(printed), []]
    rows.pop()
    width = round(2 * _MARGIN + n_columns * _CELL)
    height = _BAR + 2 * _MARGIN + len(rows) * _LINE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>",
        f'<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="l" d="M0 {_BAR}.5H{width}"/>',
        *(f'<circle cx="{20 + 20 * i}" cy="17" r="6" fill="{color}"/>'
          for i, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))),
        _text(88, 22, title, "t", is_exact=False)]
    for i, row in enumerate(rows):
        y = _BAR + _MARGIN + _FONT + i * _LINE
        lines += [_text(_MARGIN + column * _CELL, y, text, classes)
                  for column, text, classes in row]
    return "\n".join([*lines, "</svg>", ""])
