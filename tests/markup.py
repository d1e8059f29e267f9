"""Hostile texts: markup that renders, or is fetched, where text is not escaped for Markdown."""

from __future__ import annotations

MARKUP = (
    "![evil](http://evil.example/evil.png)",
    "[evil](http://evil.example)",
    "[evil]: http://evil.example",
    "<script>evil()</script>",
    "<img src=//evil.example/evil.png onerror=evil()>",
    "<http://evil.example>",
    "http://evil.example HTTPS://EVIL.example",
    "www.evil.example WWW.EVIL.example",
    "evil@evil.example mailto:evil@evil.example xmpp:evil@evil.example",
    ":red[evil] :red-background[evil] :blue-badge[evil] :small[evil] :help[evil]",
    ":color[evil]{foreground=red} ::evil[evil] :::evil",
    ":material/home: :material_home: :streamlit: :smile: :evil:",
    "$evil$ $$evil$$ \\(evil\\)",
    "[^evil] [^evil]: evil",
    "**evil** __evil__ *evil* _evil_ ~~evil~~ ~evil~ `evil` ``evil``",
    "# evil",
    "> evil",
    "- evil",
    "+ evil",
    "1. evil",
    "1) evil",
    "evil -> evil <- evil <-> evil -- evil >= evil <= evil ~= evil --- evil",
    "| evil | evil |",
    "&lt;evil&gt; &#33; \\evil \\",
    "--- evil ===",
    "evil\n===\n\n# evil\n\n```\nevil\n```\n    evil",
)
