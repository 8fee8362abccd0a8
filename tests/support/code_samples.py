"""Codes of every kind, as they stand in texts."""

SAMPLES = (
    "%s", "%(name)s", "%1$d", "%%", "%name%", "{name}", "{0:.2f}", "{{x}}", "${x}", ":class:`~a.B`",
    ":ref:`some words <target>`", ":dfn:`words`", "`link <http://a.b/c>`_", "[md](http://x)",
    "``x y``", "|sub|", "<b>", "</b>", "<br/>", '<a href="x y">', "</a>", "&amp;", "&#160;",
    "http://a.b/c_(d)?e=f#g", "me@example.org", "/usr/lib/x", r"C:\Temp\x", r"\n",
    "--long-option", "snake_case", "call()", "a.bcd.efg", "[#note]_",
    "%n", "%1", "%L1", "%name", "@count", "!name", ":min",
    "\ue000", "\ue001", "\uf8ff", "<g id=\"1\">", "</g>",
)  # fmt: skip
