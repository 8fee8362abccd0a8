from pathlib import Path

from doctoring import everyday, lines_of

from headway.corpora.cleaned import CleanedCorpus, clean_corpus
from headway.corpora.corpus import Corpus
from headway.corpora.settings import NotedCleaning
from headway.doctor.examination import Examination, Tools, examine
from headway.doctor.findings import Finding, Severity

Texts = list[tuple[str, str]]
N_PAIRS = 2_000


def cleaned(tmp_path: Path, train: Texts, valid: Texts | None = None) -> CleanedCorpus:
    def corpus(name: str, texts: Texts) -> Corpus:
        paths = tmp_path / f"{name}.en", tmp_path / f"{name}.zh"
        for n, path in enumerate(paths):
            path.write_text("".join(f"{pair[n]}\n" for pair in texts), encoding="utf-8")
        return Corpus(paths[:1], paths[1:])

    return clean_corpus(
        corpus("train", train),
        NotedCleaning(),
        tmp_path / "cache",
        valid=corpus("valid", valid) if valid else None,
        hold_out=0,
    )


def urgent(found: Examination) -> dict[str, Finding]:
    return {
        finding.name: finding
        for finding in found.findings
        if finding.severity is Severity.LOOK
    }  # fmt: skip


def test_clean_text_raises_no_alarm(tmp_path: Path) -> None:
    pairs = everyday(N_PAIRS + 200)
    corpus = cleaned(tmp_path, pairs[:N_PAIRS], pairs[N_PAIRS:])
    found = examine(corpus, "en", "zh", Tools(lambda text: ("en" if text.isascii() else "zh", 1.0)))
    assert urgent(found) == {}
    assert found.sizes.histograms["source_characters"].total == corpus.reports["train"].kept
    assert found.scripts["source"] == {"LATIN": 1.0}
    assert found.languages["source"] == {"en": 1.0}
    assert found.n_sampled == corpus.reports["train"].kept


def test_every_planted_fault_is_found_at_its_line(tmp_path: Path) -> None:
    pairs = everyday(N_PAIRS)
    planted = {
        "wrong_script": (pairs[100][0], "Je ne sais pas"),
        "mojibake": ("The catâ€™s house is big.", pairs[400][1]),
        "replacement_character": (pairs[500][0], pairs[500][1] + "\ufffd"),
        "invisible": (pairs[600][0].replace(" ", " \u200b"), pairs[600][1]),
        "near_duplicate": (pairs[3][0].upper(), pairs[3][1] + "！"),
        "near_leakage": ("The Test Sentence!", "试题句"),
        "copy": ("Peking Rundschau", "Peking Rundschau"),
    }
    lines = {}
    for row, (name, pair) in enumerate(planted.items()):
        pairs[100 * row + 100] = pair
        lines[name] = 100 * row + 101
    corpus = cleaned(tmp_path, pairs, [("the test sentence", "别的")])
    found = {
        finding.name: finding for finding in examine(corpus, "en", "zh", Tools()).findings
    }  # fmt: skip
    for name, line in lines.items():
        assert line in lines_of(found[name]), name


def test_a_shifted_file_is_named_from_its_line_on(tmp_path: Path) -> None:
    pairs = everyday(3_000)
    targets = [target for _, target in pairs]
    del targets[699]
    shifted = list(zip([source for source, _ in pairs], targets, strict=False))
    finding = urgent(examine(cleaned(tmp_path, shifted), "en", "zh", Tools()))["misaligned"]
    assert abs(finding.examples[0].line - 700) <= 10


def test_slow_checks_see_a_sample_that_the_seed_decides(
    tmp_path: Path,
) -> None:
    corpus = cleaned(tmp_path, everyday(N_PAIRS))

    def sampled(seed: int) -> list[str]:
        seen: list[str] = []

        def detect(text: str) -> tuple[str, float]:
            seen.append(text)
            return "xx", 1.0

        assert (
            examine(corpus, None, None, Tools(detect, slow_pairs=100), seed=seed).n_sampled == 100
        )
        return seen

    assert sampled(1) == sampled(1) != sampled(2)
    assert 0 < len(sampled(1)) <= 200


def test_an_empty_corpus_is_examined_too(tmp_path: Path) -> None:
    corpus = cleaned(tmp_path, [("", "x")])
    found = examine(corpus, "en", "zh", Tools(lambda _text: ("en", 1.0)))
    assert [finding.name for finding in found.findings] == ["blank_side"]
    assert found.sizes.summary() == {}
