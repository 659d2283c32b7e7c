"""The page on speed."""

from benchmarks import page


def test_the_page_on_speed_is_made_of_the_results():
    assert page.PAGE.read_text(encoding="utf8") == page.page()
