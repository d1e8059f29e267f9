"""Tables as HTML."""

from __future__ import annotations

from bpeviz.ui.html_table import table


def test_table_keeps_names_with_hyphens_on_one_line() -> None:
    html = table(["GPT-2 (50,256)", "pre-tokens"], [["<GPT-4o>", "1"]], right={"pre-tokens"})
    assert '<span class="unbroken">GPT-2</span> (50,256)' in html
    assert '&lt;<span class="unbroken">GPT-4o</span>&gt;' in html
    assert "<bdi>pre-tokens</bdi>" in html


def test_table_marks_long_texts_but_not_figures() -> None:
    text = "the number of tokens in the text"
    html = table(["metric", "figures"], [[text, text]], right={"figures"})
    assert (
        f'<td class="long"><bdi>{text}</bdi></td><td class="right"><bdi>{text}</bdi></td>' in html
    )
