"""`headway predict` of runs that label: lines are answered as they come."""

import io
import os
import sys
from collections.abc import Iterator
from itertools import islice

import pytest

from headway.commands.labelling import print_answers
from headway.labelling.predictions import Answer, Asked


class InBatches:
    """A predictor that reads as many lines as it can before it answers, as models do."""

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        while some := [*islice(lines, 64)]:
            yield from (Answer(f"{line}: one of {len(some)}", {}) for line in some)


def test_lines_that_are_typed_are_answered_before_more_are_read(monkeypatch, capsys):
    ours, typed = os.pipe()
    said: list[str] = []

    class Terminal(io.FileIO):
        def readinto(self, buffer) -> int:  # asked for more: what was said until then
            said.append(capsys.readouterr().out)
            if len(said) == 3:
                os.close(typed)
            else:
                os.write(typed, [b"a\nb\n", b"c\n"][len(said) - 1])
            return super().readinto(buffer)

    with io.TextIOWrapper(io.BufferedReader(Terminal(ours)), "utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        print_answers(InBatches(), None, 1, json=False)
    assert said == ["", "a: one of 2\nb: one of 2\n", "c: one of 1\n"]


@pytest.mark.parametrize("given", ["a", ""])
def test_a_text_of_the_command_line_is_one_line(given, capsys):
    print_answers(InBatches(), given, 1, json=False)
    assert capsys.readouterr().out == f"{given}: one of 1\n"
