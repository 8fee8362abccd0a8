r"""The one table of what counts as a code: tags, placeholders, markup, addresses, names.

Chosen by what translators really copy. In 41,000 pairs of the Python documentation in English and
Chinese, 99 % of the codes of the kinds that stand there do so in both sides as often; single
*emphasized* words (93 %), CamelCase (97 %, but inflected), `::` (76 %) and `\ ` (69 %) are left to
the model. The placeholders are those of `benchmarks/code_kinds.tsv`. Every repetition is bounded,
so that no text takes more than linear time.
"""

_NAME_ROLES = (
    "class|meth|func|mod|attr|data|exc|const|obj|type|keyword|option|envvar|file|program|command"
)
_TEXT_ROLES = "dfn|guilabel|menuselection|abbr|emphasis|strong|title-reference"
ROLE = r":(?:[A-Za-z][\w+.-]{0,30}:){1,3}`"
_URL = r"[\w\#$%&*+,./:;=?@~!-]"
_URL_END = r"[\w\#$%&*+/=@~-]"
_IN_URL = rf"\({_URL}{{0,100}}\)|\{{[\w.$]{{1,60}}\}}"
_TYPE = r"(?:\d{1,4}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtL])?[sdiufFgGeExXcpro@]"
_CONVERSION = rf"[\#0+-]{{0,3}}{_TYPE}"
_SWITCHES = (
    "allowfullscreen|async|autofocus|autoplay|checked|controls|defer|disabled|hidden|loop|multiple|"
    "muted|novalidate|open|readonly|required|reversed|selected"
)
_VALUE = r"""(?:"[^"<>]{0,300}"|'[^'<>]{0,300}'|[^\s"'<>]{1,300})"""
_BLOCKS = "if|else|elseif|elif|endif|each|for|foreach|end|block|include|await|key|html|plural"
BB = (
    "b|i|u|s|url|img|color|colour|size|quote|code|list|center|left|right|font|email|sup|sub|spoiler"
)
_TEX = "textbf|textit|texttt|textsc|textsf|emph|underline|title|chapter|(?:sub){0,2}section|caption"
_IN = r"[^{}]{1,150}"
_CLOCK = r"%-?[aAbBdeHIjmMpPSyYzZ]"
_PICTURES = (
    "\u00a9\u00ae\u2022\u203c\u2049\u2122\u2139\u2190-\u21ff\u231a-\u23ff\u25a0-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\U0001f000-\U0001faff"
)
_PICTURE = f"[{_PICTURES}][\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]{{0,2}}"

# The first that fits wins. Groups called `open..` and `close..` are codes that frame text to be
# translated.
PATTERNS = {
    # :class:`int`, :ref:`text <target>`, :dfn:`text`
    "role": rf"""
        :(?:[\w-]{{1,30}}:)?(?:{_NAME_ROLES}):`[^\s`<>]{{1,200}}\s?<[^`<>]{{1,300}}>`
        | {ROLE}[^\s`<>]{{0,100}}[._()][^\s`<>]{{0,100}}\s?<[^`<>]{{1,300}}>`
        | (?P<open_role>{ROLE})[^`<>]{{1,300}}?(?P<close_role><[^`<>]{{1,300}}>`)
        | (?P<open_words>:(?:{_TEXT_ROLES}):`)[^`<>]{{1,300}}(?P<close_words>`)
        | {ROLE}[^`]{{1,300}}`
        """,
    # ``code``, `code`, `name`_ (but `some words`_ are translated), $x^2$
    "literal": r"""
        ``(?!`)[^`](?:[^`]|`(?!`)){0,300}?``(?!`)
        | (?<![\w`])`[^`\s](?:[^`]{0,298}[^`\s])?`(?![\w`])
        | (?<![\w`])`[^\s`<>]{1,200}`__?
        | (?<![\w$\\])\$(?=[^$\n]{0,100}[\\^_={}])[^$\s{(](?:[^$\n]{0,150}[^$\s])?\$(?![\w${])
        """,
    # `text <address>`_, [text](address), [#note]_, [^1], [[page|text]]
    "link": r"""
        (?P<open_link>(?<![\w`])`)(?!\s)[^`<>]{1,300}?(?P<close_link>\s?<[^`<>]{1,300}>`__?)
        | (?P<open_markdown>!?\[)[^][]{1,300}(?P<close_markdown>\]\([^()\s]{1,300}\))
        | \[(?:\#[\w-]{0,40}|\*|\d{1,4})\]_ | \[\^[\w-]{1,40}\]
        | \[[\[(]\$\{[^{}]{1,100}\}[\])]\] | \[\[[^][|]{1,200}\]\]
        | (?P<open_wiki>\[\[[^][|]{1,200}\|)[^][|]{1,200}(?P<close_wiki>\]\])
        """,
    # **bold**, '''bold''', \textbf{bold}, [b]bold[/b], |cFF00FF00colour|r
    "emphasis": rf"""
        (?P<open_bold>\*\*)(?![\s*])[^*]{{1,300}}?(?<!\s)(?P<close_bold>\*\*) | (?<!')'''(?!')
        | (?P<open_tex>\\(?:{_TEX})\*?\{{)[^{{}}]{{1,300}}(?P<close_tex>\}})
        | \\[A-Za-z]{{3,20}}\*?(?:\[[^][]{{0,60}}\])?\{{[^{{}}]{{0,200}}\}}
        | \[(?P<bb>{BB})(?:=[^][]{{1,200}})?\](?=.{{0,300}}?\[/(?P=bb)\]) | \[/(?:{BB})\] | \[\*\]
        | (?P<open_game>\|c[0-9A-Fa-f]{{8}})[^|]{{1,300}}?(?P<close_game>\|r) | §[0-9a-fk-or]
        """,
    # <b>, <br/>, <0>, <v Mary>, <00:04.500>, <color=#f00>, <%= x %>, <?= x ?>, <!-- x -->
    "tag": rf"""
        </?[A-Za-z][\w:.-]{{0,60}}
            (?:\s{{1,5}}(?:[\w:.@-]{{1,60}}\s?=\s?{_VALUE}|(?:{_SWITCHES})(?=[\s/>]))){{0,20}}
            \s?/?>
        | <(?:v|c|lang)(?:\.[\w-]{{1,30}}){{0,5}}\s[^<>]{{1,60}}>
        | <\d{{1,4}}:\d\d(?::\d\d)?\.\d{{3}}> | </?\d{{1,3}}\s?/?>
        | <[A-Za-z]{{1,20}}=[^<>\s]{{1,100}}> | <[A-Z][a-z]{{1,10}}(?:[+-]\w{{1,10}}){{1,3}}>
        | <[a-z]{{3,6}}:[^<>\s]{{1,300}}> | </?[\#@][a-z][^<>]{{0,150}}>
        | <%(?:[^%]|%(?!>)){{0,300}}%> | <\?(?:[^?]|\?(?!>)){{0,300}}\?>
        | <!--.{{0,300}}?--> | <!\[CDATA\[.{{0,300}}?\]\]>
        | &lt;/?[A-Za-z][\w:.-]{{0,60}}(?:\s[^<>&]{{0,200}})?/?&gt;
        | \[/?[a-z][\w-]{{1,30}}(?:\s{{1,3}}[\w-]{{1,30}}=
            (?:"[^"[\]]{{0,200}}"|'[^'[\]]{{0,200}}'|[^\s"'[\]]{{1,100}})){{1,10}}\s?/?\]
        | \[/?[\#@][a-z][^][]{{0,150}}\] | \[[a-z]\w{{0,60}}_\w{{1,60}}\]
        """,
    "entity": r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});",
    "address": rf"""
        (?<![A-Za-z])(?:https?|ftps?|file|git|ssh)://(?:{_URL}|{_IN_URL}){{0,500}}
            (?:{_URL_END}|{_IN_URL})
        | (?<![A-Za-z])(?:mailto|urn|doi):{_URL}{{1,200}}{_URL_END}
        | (?<![\w.])www\.{_URL}{{1,200}}{_URL_END}
        | (?<![\w.+-])[A-Za-z0-9][\w.+-]{{0,60}}@[A-Za-z0-9][A-Za-z0-9-]{{0,60}}
            (?:\.[A-Za-z0-9-]{{1,60}}){{1,5}}
        """,
    # %s, %(name)s, %1$d, %%, %name%; a space flag is not known, as "100 % sure" is no code;
    # %1, %L1, %n (Qt), %name (Drupal), %{name}, %<n>d (Ruby), %#@files@ (Apple), %Y-%m-%d
    "printf": rf"""
        (?<![\w%])%[A-Za-z_][\w.-]{{0,60}}%(?![\w%])
        | (?=%[%\w:/.,\s-]{{0,20}}%-?[aAbBHIjmMSyY]){_CLOCK}(?:[-/:.,]?\s?{_CLOCK}){{1,9}}(?!\w)
        | %\([A-Za-z_][\w.]{{0,60}}\){_CONVERSION} | %\d{{1,2}}\${_CONVERSION}
        | %\{{[^{{}}\s]{{1,80}}\}} | %<\w{{1,60}}>{_CONVERSION} | %(?:\d\$)?\#@\w{{1,60}}@
        | (?<![\d%])%{_CONVERSION}(?![A-Za-z]{{3}}) | %%
        | (?<![\w%])%(?:L?[1-9]\d?|n|[YHMSBAjyI]|[a-z][a-z_]{{3,60}})(?![\w%])
        """,
    # {name}, {0:.2f}, {0, date, long}, {$x}, {-term}, {{x}}, {{{x}}}, ${x}, {% x %}, {!! x !!}
    "braces": rf"""
        [$\#]\{{{_IN}\}} | \{{\{{\{{{_IN}\}}\}}\}} | \{{\{{{_IN}\}}\}}
        | \{{%{_IN}%\}} | \{{!!{_IN}!!\}} | \{{\#{_IN}\#\}}
        | \{{\s?\w{{1,60}}\s?,\s?choice\s?,(?:[^{{}}]|\{{[^{{}}]{{0,60}}\}}){{1,300}}\}}
        | \{{(?:[^{{}}\s\#][^{{}}\s]{{0,100}})?\}} | \{{\s?[$\\:&*?=-][^{{}}]{{0,150}}\}}
        | \{{\s?[\w.-]{{1,60}}(?:\[[\w.]{{1,30}}\])?\s?[,:|(!][^{{}}]{{0,150}}\}}
        | \{{\s[\w.-]{{1,60}}\s\}}
        | \{{[/\#@:]?(?:{_BLOCKS})(?:\s[^{{}}]{{1,150}})?\}}
        """,
    # $name, $user->name, $env:PATH, $NAME$, $(date), $t(key); not $5, $US
    "dollar": r"""
        \$t?\([^()]{1,150}\) | \$[A-Z][A-Z0-9_]{1,60}\$ | (?<![\w$])\$env:\w{1,60}
        | (?<![\w$])\$!?(?!(?:US|AU|CA|NZ|HK|SG)D?(?!\w)|[A-Z](?!\w))[A-Za-z_]\w{0,60}
            (?:->\w{1,60}|\[['"\w]{1,60}\]|\.[a-z]\w{0,60}){0,5}
        """,
    # #name#, ###NAME###, #ff8800, #1234
    "hash": r"(?<![\w&\#])\#{1,3}\w{1,60}\#{0,3}(?![\w\#])",
    # @count, !name (Drupal), :min, :NAME (Laravel), @:key (Vue), :smile:
    "variable": r"""
        (?<![\w@])@(?:\.[a-z]{1,20})?:(?:\([\w.]{1,80}\)|[\w.-]{0,80}\w)
        | (?<![\w.+@-])@[A-Za-z]\w{1,60}(?:\.[A-Za-z]\w{0,60}){0,5}(?![\w@]|\.\w)
        | (?<!\S)![a-z]\w{2,60}(?!\w) | (?<![\w:]):[a-z][\w+-]{1,40}:(?![\w:`])
        | (?<![\w:.)\]"'`/\[>]):(?:[a-z][a-z_]{1,60}|[A-Z][A-Z_]{1,60}|[A-Z][a-z]{2,60})(?![\w:`])
        """,
    "substitution": r"(?<![\w|])\|[A-Za-z](?:[\w .-]{0,60}\w)?\|(?:__?)?(?![\w|])",
    "path": r"""
        (?<![\w/.~<-])(?:~|\.{1,2})?(?:/[\w.+-]{1,100}){2,20}/?(?<!\.)
        | (?<![A-Za-z])[A-Za-z]:\\(?:[\w.+-]{1,100}\\?){1,20}(?<!\.)
        | (?<![\w\\])\\\\[\w.-]{3,60}(?:\\[\w.$+-]{1,100}){1,20}
        """,
    "escape": r"""\\(?:[abfnrtv0"'\\*_`|]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|\([^()\s]{1,100}\))""",
    # --long-option, snake_case, call(), dotted.lower.name, 192.168.0.1, an UUID
    "name": r"""
        (?<![\w-])--[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,8}(?![\w-])
        | (?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])
        | (?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?!\w|\.\w)
        | (?<![\w.])(?:[A-Za-z_]\w{0,80}\.){0,8}
            (?:[A-Za-z]\w{0,80}_\w{1,80}|_{1,2}[A-Za-z]\w{0,80}|[A-Za-z_]\w{0,80}(?=\(\)))
            (?:\.[A-Za-z_]\w{0,80}){0,8}(?:\(\))?(?!\w)
        | (?<![\w.@/-])[a-z]\w{1,80}(?:\.[a-z]\w{1,80}){1,8}(?![\w@])
        """,
    # Emoji, arrows, bullets, ©
    "picture": rf"""
        [\U0001f1e6-\U0001f1ff]{{2}} | [\#*0-9]\ufe0f?\u20e3
        | {_PICTURE}(?:\u200d{_PICTURE}){{0,6}}
        """,
}
"""By the names of the kinds."""

# A sign, or a letter or digit that no letter stands before: asked first, as most places are none.
BEGINS = rf"(?=[!$%&./:<@\[\\`{{|~\#*'§{_PICTURES}-]|(?<![A-Za-z])\w)"

OF_FILES = {
    (".json", ".po", ".properties", ".arb", ".strings", ".resx", ".xlf", ".xliff", ".ts"): (
        r"(?<![\w$])\$\d(?![\d.,]\d|\w)"  # MediaWiki, WebExtensions; elsewhere it is money
        r"|\[/?[a-z]{1,2}\d?\](?!\w)"  # a lone [b]
    ),
    (".srt", ".vtt"): r"\\[Nnh]",  # a new line, a space
}
"""Codes in files of some kinds only, as in others they would be plain text."""
