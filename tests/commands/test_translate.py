"""`headway translate`: lines in, lines out."""

import gzip
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from everyday_run import Finished, command

from headway import cli
from headway.commands.lines import in_chunks
from headway.commands.standard_input import CHARACTERS_AT_ONCE, waiting_lines
from headway.core.errors import DataError
from headway.operations.shipped import say_once
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

LONG = "I love learning " * 40
LINES = ["I love cats.", "", "The dog is tired.", "   ", "I love learning.", "He sings."]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "in.en"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return file


def translate(run: Path, *arguments: object) -> Finished:
    finished = command("translate", str(run), *map(str, arguments), "--runtime.threads=1")
    assert "Traceback" not in finished.err
    return finished


def test_as_many_lines_come_out_as_go_in_in_order_and_blank_stays_blank(everyday_run, text):
    finished = translate(everyday_run, text)
    assert finished.status == 0, finished.err
    lines = finished.out.split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(LINES)
    expected = Translator.load(everyday_run).translate(list(LINES))
    assert lines == expected
    assert all(not line for line, source in zip(lines, LINES, strict=True) if not source.strip())
    assert any(lines)


def test_that_a_training_may_go_on_is_said_and_how(everyday_run, text, tmp_path):
    stopped = tmp_path / "stopped run"
    shutil.copytree(everyday_run, stopped)
    settings = stopped / "config.toml"
    marked = settings.read_text(encoding="utf-8")
    assert marked.count("finished = true") == 1
    settings.write_text(marked.replace("finished = true", "finished = false"), encoding="utf-8")
    assert command("check", str(stopped), "--accept").status == 0
    whole, found = translate(everyday_run, text), translate(stopped, text)
    assert "unfinished" not in whole.err + command("check", str(everyday_run)).out
    assert found.out == whole.out
    used = [command("check", str(stopped)).out]
    others = ("embed", str(text), "--json"), ("export", str(tmp_path / "peg"), "--to", "pegasus")
    for verb, *more in others:
        say_once.cache_clear()  # once a process
        used.append(command(verb, str(stopped), *more).err)
    for said in (found.err, *used):
        _, _, told = said.partition("is unfinished: headway ")
        words = shlex.split(told.partition(" goes on")[0])  # as a shell takes it
        assert words == ["train", "--out", str(stopped), "--resume"]


def test_a_file_may_be_packed_and_have_other_line_ends(everyday_run, text, tmp_path):
    packed = tmp_path / "in.en.gz"
    packed.write_bytes(gzip.compress("\r\n".join(LINES).encode()))  # and no end of the last line
    assert translate(everyday_run, packed).out == translate(everyday_run, text).out


def test_a_line_of_another_separator_is_one_line(everyday_run, tmp_path):
    file = tmp_path / "in.en"
    file.write_bytes("I love\u2028cats.\nI\rlove\x0bcats.\n".encode())
    assert translate(everyday_run, file).out.count("\n") == 2


def test_the_output_file_appears_whole(everyday_run, text, tmp_path):
    out = tmp_path / "new" / "out.zh"
    finished = translate(everyday_run, text, "--out", out)
    assert finished.out == ""
    assert out.read_text(encoding="utf-8") == translate(everyday_run, text).out
    assert [file.name for file in out.parent.iterdir()] == ["out.zh"]


def test_a_packed_name_gets_packed_lines(everyday_run, text, tmp_path):
    out = tmp_path / "out.zh.gz"
    assert translate(everyday_run, text, "--out", out).status == 0
    lines = gzip.decompress(out.read_bytes()).decode()
    assert lines == translate(everyday_run, text).out


@pytest.mark.parametrize("through", ["itself", "link.en"])
def test_a_text_is_not_written_over_by_its_translation(everyday_run, text, through):
    out = text
    if through != "itself":
        out = text.with_name(through)
        out.symlink_to(text)
    before = text.read_bytes()
    finished = translate(everyday_run, text, "--out", out)
    assert finished.status == 2
    assert "does not replace what went in" in finished.err
    assert "--in-place" not in finished.err
    assert text.read_bytes() == before


@pytest.mark.parametrize("option", ["--memory", "--glossary", "--codes"])
@pytest.mark.parametrize("new", ["new.po", "new.json", "new.docx"])
def test_a_file_that_an_option_has_taken_is_told_and_no_empty_result_written(
    everyday_run, tmp_path, monkeypatch, option, new
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    out, old, app = tmp_path / new, tmp_path / "old.tsv", tmp_path / f"app{Path(new).suffix}"
    finished = translate(everyday_run, option, old, app, "--out", out)
    assert finished.status == 2
    assert f"{option} has taken {old}, {app}" in finished.err
    assert f"got --out {out} and no FILE" in finished.err
    assert not out.exists()


def test_lines_of_standard_input_may_become_an_object(everyday_run, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"I love cats.\n")))
    out = tmp_path / "out.json"
    assert translate(everyday_run, "--json", "--out", out).status == 0
    assert len(json.loads(out.read_text(encoding="utf-8"))["translations"]) == 1


def test_lines_become_no_document(everyday_run, text, tmp_path):
    for name in ("new.docx", "new.po", "new.xlsx"):
        finished = translate(everyday_run, text, "--out", tmp_path / name)
        assert finished.status == 2
        assert f"{text} is lines of text; got --out {tmp_path / name}." in finished.err
        assert not Path(tmp_path, name).exists()


def test_what_fails_half_way_leaves_the_earlier_output(everyday_run, tmp_path):
    out, broken = tmp_path / "out.zh", tmp_path / "in.en"
    out.write_text("earlier", encoding="utf-8")
    broken.write_bytes(b"fine\n\xff\xfe\n")
    finished = translate(everyday_run, broken, "--out", out)
    assert finished.status == 2
    assert "line 2" in finished.err
    assert out.read_text(encoding="utf-8") == "earlier"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("more", [[], ["--n-best", "2"]])
def test_an_interruption_says_that_nothing_is_written_and_what_keeps_it(
    everyday_run, tmp_path, monkeypatch, more
):
    """In the second portion; that the first was done had been said."""
    whole, out = tmp_path / "in.en", tmp_path / "out.zh"
    whole.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    portions = iter([["I love cats."], ["He sings."]])

    def interrupted(_):
        yield from portions
        raise KeyboardInterrupt

    monkeypatch.setattr("headway.commands.translate.chunks_of", interrupted)
    finished = translate(everyday_run, whole, "--out", out, *more)
    assert finished.status == 130
    assert "translated 2 lines\n" in finished.err
    assert f"interrupted: nothing of {out} is written" in finished.err
    assert ("--out FOLDER --shards" in finished.err) is (not more)  # which shards do not have
    assert not out.exists()


def test_lines_that_are_too_long_are_cut_and_counted(everyday_run, tmp_path):
    file = tmp_path / "in.en"
    file.write_text(f"{LONG}\nI love cats.\n{LONG}\n", encoding="utf-8")
    finished = translate(everyday_run, file)
    assert finished.status == 0
    assert finished.out.count("\n") == 3
    assert "2 of the lines were longer than the 100 sub-words" in finished.err
    assert "cut at the end" in finished.err


def test_json_is_one_object_of_the_promised_shape(everyday_run, text):
    finished = translate(everyday_run, text, "--json", "--n-best", "2")
    found = json.loads(finished.out)
    assert set(found) == {"translations"}
    assert [one["source"] for one in found["translations"]] == LINES
    for one in found["translations"]:
        assert {"source", "target", "score", "tokens", "alignment", "n_best"} <= set(one)
        if not one["source"].strip():
            assert (one["target"], one["n_best"], one["tokens"]) == ("", [], [])
            continue
        assert 1 <= len(one["n_best"]) <= 2
        assert {key: one[key] for key in ("target", "score", "tokens", "alignment")} == {
            key: one["n_best"][0][key] for key in ("target", "score", "tokens", "alignment")
        }
        scores = [alternative["score"] for alternative in one["n_best"]]
        assert scores == sorted(scores, reverse=True)
        for alternative in one["n_best"]:
            n_tokens = len(alternative["tokens"])
            assert len(alternative["token_log_probs"]) == n_tokens + 1
            assert [target for _, target in alternative["alignment"]] == list(range(n_tokens))
            sources = [source for source, _ in alternative["alignment"]]
            assert all(0 <= source < len(one["source_tokens"]) for source in sources)


@pytest.mark.parametrize("given", ["--n-best", "--decoding.n-best"])
def test_of_n_best_a_blank_line_has_as_many_so_that_groups_can_be_read(
    everyday_run, tmp_path, given
):
    file = tmp_path / "in.en"
    file.write_text("I love cats.\n\nHe sings.\n", encoding="utf-8")
    finished = translate(everyday_run, file, "--beam", "3", given, "2", "--scores")
    written = [bool(line) for line in finished.out.splitlines()]
    assert written == [True, True, False, False, True, True]


def test_n_best_gives_each_translation_its_own_line_with_score_and_alignment(
    everyday_run, tmp_path
):
    file = tmp_path / "in.en"
    file.write_text("I love cats.\n", encoding="utf-8")
    options = ["--beam", "3", "--n-best", "3", "--scores", "--alignment"]
    lines = translate(everyday_run, file, *options).out.splitlines()
    assert len(lines) == 3
    cells = [line.split("\t") for line in lines]
    scores = [float(score) for score, _, _ in cells]
    assert scores == sorted(scores, reverse=True)
    for _, _, alignment in cells:
        assert all(pair.replace("-", "", 1).isdecimal() for pair in alignment.split())
    assert len({target for _, target, _ in cells}) > 1


def test_beam_of_one_is_greedy(everyday_run, text):
    greedy = translate(everyday_run, text, "--method", "greedy").out
    assert translate(everyday_run, text, "--beam", "1").out == greedy


def test_a_setting_may_stand_before_the_file(everyday_run, text):
    behind = translate(everyday_run, text, "--decoding.beam", "1")
    before = command("translate", str(everyday_run), "--decoding.beam", "1", str(text))
    assert (before.status, before.out) == (0, behind.out)


def test_sampling_repeats_with_its_seed(everyday_run, text):
    sampled = [
        translate(everyday_run, text, "--method", "sampling", "--decoding.seed", seed).out
        for seed in (1, 1, 2)
    ]
    assert sampled[0] == sampled[1] != sampled[2]


def test_standard_input_is_translated_as_a_file_is(everyday_run, text, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(text.read_bytes()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    assert translate(everyday_run).out == translate(everyday_run, text).out


def test_on_standard_input_too_only_a_line_feed_ends_a_line(everyday_run, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"I\rlove\r\ncats\r\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    assert translate(everyday_run).out.count("\n") == 2


def test_standard_input_that_is_not_utf_8_is_refused(everyday_run, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b"fine\nna\xefve\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stream)
    finished = translate(everyday_run)
    assert finished.status == 2
    assert "must be UTF-8; standard input is not" in finished.err
    assert "iconv" in finished.err


def test_each_line_is_answered_before_the_next_one_comes():
    reader, writer = os.pipe()
    with open(reader, "rb") as stream, open(writer, "wb", buffering=0) as typed:
        typed.write(b"first\n")
        chunks = waiting_lines(stream)
        assert next(chunks) == ["first"]
        typed.write(b"second\nthi")
        assert next(chunks) == ["second"]
        typed.write(b"rd")
        typed.close()
        assert [line for chunk in chunks for line in chunk] == ["third"]


def test_who_types_is_told_that_lines_are_waited_for(capsys):
    """And nobody else."""
    for opened, told in ((os.pipe, False), (os.openpty, True)):
        reader, writer = opened()
        with open(reader, "rb") as stream, open(writer, "wb", buffering=0) as typed:
            typed.write(b"first\n")
            assert next(waiting_lines(stream)) == ["first"]
        assert ("Ctrl-D ends" in capsys.readouterr().err) == told


def test_a_command_that_ends_while_more_could_be_typed_has_its_own_status():
    code = """
import sys
from headway.commands.lines import chunks_of
for lines in chunks_of(None):
    print(lines)
    sys.exit(7)
"""
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    found = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=found) as process:
        assert process.stdin is not None
        process.stdin.write(b"first\n")
        process.stdin.flush()
        assert process.wait() == 7  # and nobody has closed the pipe
        assert process.stdout.read() == b"['first']\n"
        assert process.stderr.read() == b""


def test_an_error_of_the_stream_is_not_waited_for_in_vain():
    class Unplugged(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _buffer: object) -> int:
            raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        list(waiting_lines(io.BufferedReader(Unplugged())))
    with pytest.raises(DataError, match="line 2, byte 3"):
        list(waiting_lines(io.BufferedReader(io.BytesIO(b"fine\nna\xefve"))))
    assert list(waiting_lines(io.BufferedReader(io.BytesIO(b"")))) == []


def test_an_endless_line_counts_as_blank_is_never_held_and_is_said(capsys):
    class Endless(io.RawIOBase):
        left = 50 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:
            n = min(len(buffer), self.left)
            buffer[:n] = b"a" * n
            self.left -= n
            return n

    tracemalloc.start()
    stream = io.BufferedReader(Endless())
    found = [line for chunk in waiting_lines(stream) for line in chunk]
    assert found == [""]
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()
    assert "1 of the lines had more than 1,048,576 bytes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.en"], "no such file: nowhere.en"),
        (["--n-best", "7"], "n_best must not exceed decoding.beam"),
        (["--beam", "0"], "beam must be at least 1"),
        (["--method", "magic"], "method must be one of"),
        (["--score"], "did you mean --scores?"),
        (["--model.heads", "4"], "takes settings of --decoding and --runtime; got one of --model"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(everyday_run, arguments, message):
    finished = translate(everyday_run, *arguments)
    assert finished.status == 2
    assert message in finished.err
    assert finished.out == ""


def test_a_folder_without_a_run_or_without_a_model_yet_is_refused(everyday_run, tmp_path):
    finished = translate(tmp_path)
    assert finished.status == 2
    assert "holds no config.toml" in finished.err
    for name in ("config.toml", "tokenizer.json"):
        (tmp_path / name).write_bytes((everyday_run / name).read_bytes())
    finished = translate(tmp_path)
    assert finished.status == 2
    assert "has no model yet" in finished.err
    assert "--resume" in finished.err


@pytest.mark.parametrize("held", ["a pipe", "a file"])
def test_long_lines_are_not_held_by_the_thousand(held):
    text = b"".join(b"%d" % (i % 10) * 500_000 + b"\n" for i in range(40))
    stream = io.BufferedReader(io.BytesIO(text))
    chunks = (
        waiting_lines(stream)
        if held == "a pipe"
        else in_chunks(line.decode().rstrip("\n") for line in stream)
    )
    found = []
    for chunk in chunks:
        assert sum(map(len, chunk)) < CHARACTERS_AT_ONCE + 500_001
        found += chunk
    assert "\n".join(found).encode() + b"\n" == text


def test_lines_of_a_file_that_are_too_long_are_said(everyday_run, tmp_path):
    text = tmp_path / "long.en"
    text.write_bytes(b"The dog runs.\n" + b"a" * (1 << 21) + b"\nThe dog runs.\n")
    finished = translate(everyday_run, text)
    first, blank, last = finished.out.splitlines()
    assert (first, blank) == (last, "")
    assert "1 of the lines had more than 1,048,576 bytes" in finished.err
    assert "the first is line 2" in finished.err
