"""What translators and reviewers note beside a translation: which notes say that it is not good."""

import re
from collections.abc import Iterable

from headway.localization.formats.keyed import OF_DEVELOPERS

DOUBTFUL = "doubtful"
"""What `skip_notes` takes for every note that `doubt` knows."""

_SURE = re.compile(
    r"""(?<!\w)(?:
      (?:not|n[o']?t|isn'?t|nicht|pas|não|niet|nie|není|inte|ikke|ei|не)
        \s+(?:ok(?:ay)?|good|in\s+ordnung|gut|bons?|bonnes?|bien|buen[oa]|va\s+bene|goed|dobr\w+|
        dobře|bra|god|ок|хорошо|approved|accepted|acceptable|correct|right|clear|final|finished|
        genehmigt|freigegeben|korrekt|richtig)
      | non?\s+(?:ok(?:ay)?|good|bons?|bonnes?|bien|buen[oa]|va\s+bene)
      | (?:mis|wrongly[ ]|badly[ ]|poorly[ ])translat\w* | (?:bad|poor|wrong|false)\s+translation
      | needs?\s+(?:to\s+be\s+)?(?:work|fix|review|correct|chang|revis|check|adapt|l10n|
        translat|rewrit|updat)\w*
      | (?:has|have|must|should)\s+(?:to\s+)?be\s+
        (?:chang|correct|fix|review|check|revis|rewritt|updat)\w*
      | to\s+be\s+(?:corrected|fixed|reviewed|checked|revised|rewritten) | do\s+not\s+use
      | fix\s*me | rejected | disapproved | abgelehnt | rejeté\w* | rechazad\w+ | rejeitad\w+
      | afgekeurd | odrzucon\w+ | zamítnut\w+ | отклонен\w* | отклонён\w*
      | falsch\s+übersetzt | (?:falsche|schlechte)\s+übersetzung | (?:bitte|noch)\s+(?:über)?prüfen
      | à\s+(?:revoir|corriger|vérifier|retraduire) | mal\s+tradui\w+ | mal\s+traducid\w+
      | da\s+(?:rivedere|correggere|verificare) | traduzione\s+errata | do\s+poprawy
      | (?:неверн|неправильн|плох)\w*\s+перевод | требует\s+(?:проверки|правки|исправления)
    )(?!\w)
    | (?:翻[译譯]?|[译譯]文?)(?:错|錯|有误|有誤|不好|不对|不對|不準|不准) | [误誤]译 | 誤訳
    | 不正确 | 不正確 | 不通过 | 未通过
    | 未審核 | 未审核 | 待(?:修改|审核|校对|確認|确认|審核) | 需要?(?:修改|审核|校对|重[译譯])
    | 要(?:修正|確認|見直し) | 不合格 | (?:수정|검토|확인)\s*필요 | 오역 | 잘못된\s*번역""",
    re.VERBOSE | re.IGNORECASE,
)
_ALONE = re.compile(
    r"""\W*(?:wrong|incorrect|inaccurate|bad|poor|false|errors?|mistakes?|unclear|doubtful|draft|
      todo|fix|revise|ng|nok|n\.?ok|k\.?o\.?|falsch|fehler|fehlerhaft|schlecht|
      prüfen|überprüfen|korrigieren|ungenau|faux|fausse|incorrecte?|inexacte?|mauvais\w*|erreur|
      réviser|vérifier|incorrect[oa]|revisar|corregir|erróne[oa]|sbagliat\w|errat\w|rivedere|
      errad[oa]|incorret[oa]|corrigir|fout|onjuist|slecht|źle|błąd|błędn\w+|niepoprawn\w+|špatně|
      chyb\w+|opravit|feil|forkert|неверно|неправильно|ошибк\w|исправить|проверить|плохо|
      невірно|перевірити|check|review|no|mal|fel|nein|non|niet|нет|错误|錯誤|
      有误|有誤|不对|不對|不好|错|不行|不准确|間違\w*|不適切|잘못\w*|틀림)\W*""",
    re.VERBOSE | re.IGNORECASE,
)
_GOOD = re.compile(r"\b(?:no|not|without|kein\w*|ohne|sans|sin)\s+(?:\w+\s+)?(?:errors?|mistakes?|"
                   r"wrong|bad|fehler\w*|falsch|erreurs?|errores)\b", re.IGNORECASE)  # fmt: skip
_STATE = re.compile(
    r"state:.*(?:reject|not[-_ ]?(?:ok|approved|translated)|unapproved|disapproved|needs|"
    r"fuzzy|draft|unconfirmed|refus|wrong|incorrect)",
    re.IGNORECASE,
)


def doubt(remarks: Iterable[str]) -> str:
    """The first note that says that a translation is not good; "" if none does.

    Words such as `wrong` count where a note says nothing else: `Error message` speaks of the text.
    """
    for remark in remarks:
        if remark.startswith(OF_DEVELOPERS):
            continue
        bare = _GOOD.sub(" ", remark)
        if _STATE.match(remark) or _SURE.search(bare) or _ALONE.fullmatch(bare):
            return remark
    return ""


def held(remarks: Iterable[str], skipped: Iterable[str], doubted: str) -> bool:
    """Whether a note holds some of these words, in any case and spacing.

    `doubtful` among them stands for any note that `doubt` knows, which found `doubted`.
    """
    notes = [" ".join(remark.lower().split()) for remark in remarks]
    for given in skipped:
        words = " ".join(given.lower().split())
        holds = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        if (words == DOUBTFUL and doubted) or any(holds.search(note) for note in notes):
            return True
    return False
