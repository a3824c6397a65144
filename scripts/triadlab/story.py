# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a demo tells: sentences, commands and their answers for people, or one document
at the end for programs."""

import json
import shlex

from .plugin import run_in, triadctl_json, wait


class Story:
    """One of them; 'document' is filled by whoever tells it."""

    def __init__(self, lab, as_json):
        self.lab = lab
        self.as_json = as_json
        self.document = {}

    def say(self, text):
        if not self.as_json:
            print(text, flush=True)

    def command(self, *words, key=None, allowed=(0,)):
        """Shows a command of triadctl and its answer, or keeps the answer as 'key'."""
        if self.as_json and key:
            self.document[key] = json.loads(
                run_in(self.lab, "triadctl", *words, "--json", allowed=allowed))
        else:
            self.program("triadctl", *words, allowed=allowed)

    def command_when(self, condition, what, *words, key):
        """As command(), once its answer for programs meets the condition; what passes soon
        is not asked for twice."""
        answer = wait(lambda: (found := triadctl_json(self.lab, *words)) and
                      condition(found) and found, what)
        if self.as_json:
            self.document[key] = answer
        else:
            self.program("triadctl", *words)

    def program(self, *words, allowed=(0,)):
        """Shows any command and what it printed."""
        self.say(f"# {shlex.join(words)}\n" + run_in(self.lab, *words, allowed=allowed))

    def end(self):
        if self.as_json:
            print(json.dumps(self.document), flush=True)
