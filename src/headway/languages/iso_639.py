"""Codes of languages in three letters (ISO 639-3: `eng`, `deu`), and the same in two."""

_CODES = (
    "afr af amh am ara ar arg an asm as aze az bak ba bel be ben bn bos bs bre br bul bg cat ca "
    "ces cs cym cy dan da deu de dzo dz ell el eng en epo eo est et eus eu fao fo fas fa fin fi "
    "fra fr fry fy ful ff gla gd gle ga glg gl grn gn guj gu hat ht hau ha hbs sh heb he hin hi "
    "hrv hr hun hu hye hy ibo ig ind id isl is ita it jav jv jpn ja kan kn kat ka kaz kk khm km "
    "kik ki kin rw kir ky kor ko kur ku lao lo lat la lav lv lin ln lit lt ltz lb lug lg mal ml "
    "mar mr mkd mk mlg mg mlt mt mon mn msa ms mya my nep ne nld nl nno nn nob nb nor no oci oc "
    "ori or orm om pan pa pol pl por pt pus ps que qu ron ro rus ru san sa sin si slk sk slv sl "
    "sme se sna sn som so sot st spa es sqi sq srp sr swa sw swe sv tam ta tat tt tel te tgk tg "
    "tgl tl tha th tuk tk tur tr uig ug ukr uk urd ur uzb uz vie vi vol vo wln wa xho xh yor yo "
    "zho zh zul zu "
    # the languages by which FLORES and Tatoeba name a group that ISO 639-1 has one code for
    "als sq arb ar azj az ekk et fil tl fuv ff gaz om gug gn khk mn kmr ku lvs lv npi ne ory or "
    "pbt ps pes fa plt mg prs fa quy qu swh sw uzn uz zsm ms"
).split()
TWO_LETTERS = dict(zip(_CODES[::2], _CODES[1::2], strict=True))
"""Of the languages that py3langid knows."""
