"""Page components: their markup, and that data is escaped."""

import re
from types import SimpleNamespace

from django.template import Context, Template


def render(text, **context):
    return Template(text).render(Context(context))


def test_table_has_numeric_hidden_and_optional_headings():
    shown = render(
        '{% table "#runs" "Run" "#Pairs" "~Remove" "#" name tiers|yesno:"Tier," style="matrix" tall=True %}'
        "<caption>All</caption><tr></tr>{% endtable %}",
        name="#1 & 2",
        tiers=False,
    )
    assert shown == (
        '<div class="scroll scroll--tall" tabindex="0" role="group" aria-labelledby="runs"><table class="table matrix">'
        '<caption>All</caption><thead><tr><th scope="col">Run</th><th scope="col" class="num">Pairs</th>'
        '<th scope="col"><span class="sr">Remove</span></th><th scope="col" class="num">#1 &amp; 2</th></tr></thead>'
        "<tbody><tr></tr></tbody></table></div>"
    )
    assert render('{% table "" %}<tr></tr>{% endtable %}') == '<table class="table"><tr></tr></table>'
    assert 'aria-label="Runs"' in render('{% table "Runs" "Run" %}{% endtable %}')


def test_data_from_the_database_is_escaped():
    text = '{% card "x" "Effect on " name %}{{ name }}{% endcard %}{% stat name %}1{% then %}{{ name }}{% endstat %}'
    shown = render(text + '{% fact name style="wraps" %}{{ name }}{% endfact %}', name="<!--then-->")
    assert "<!--then-->" not in shown
    assert shown.count("&lt;!--then--&gt;") == 6


def test_card_has_links_beside_its_heading():
    assert render('{% card "x" "Runs" %}<p></p>{% endcard %}') == (
        '<section class="card stack" aria-labelledby="x"><h2 id="x">Runs</h2><p></p></section>'
    )
    assert render('{% card "x" "Runs" style="card" level=3 %}<a></a>{% then %}<p></p>{% endcard %}') == (
        '<section class="card" aria-labelledby="x"><div class="card__head"><h3 id="x">Runs</h3><a></a></div>'
        "<p></p></section>"
    )


def test_form_posts_with_the_token():
    text = '{% post "home" style="stack" aria_label="Go" file=True %}<p></p>{% endpost %}'
    assert render(text, csrf_token="abc") == (
        '<form class="stack" method="post" action="/" enctype="multipart/form-data" aria-label="Go">'
        '<input type="hidden" name="csrfmiddlewaretoken" value="abc"><p></p></form>'
    )
    assert render("{% post %}{% endpost %}", csrf_token="abc").startswith('<form method="post"><input')


def test_select_offers_pairs_rows_and_texts():
    assert render('{% select "m" each chosen %}', each=["a", "<b>"], chosen="<b>") == (
        '<select class="select" id="m" name="m"><option>a</option><option selected>&lt;b&gt;</option></select>'
    )
    assert render('{% select "m" each 2 key="k" label="Rule" hidden=True %}', each=[(1, "one"), (2, "two")]) == (
        '<label class="sr" for="k">Rule</label> <select class="select" id="k" name="m"><option value="1">one</option>'
        '<option value="2" selected>two</option></select>'
    )
    row = SimpleNamespace(uuid="u")
    shown = render('{% select "m" each row key="" label="Rule" %}', each=[row], row=row)
    assert shown.startswith('<select class="select" name="m" aria-label="Rule"><option value="u" selected>')


def test_submit_has_an_optional_way_back():
    assert render('{% submit "Save" style="btn" %}') == (
        '<div class="row"><button class="btn" type="submit">Save</button></div>'
    )
    assert '<a class="btn btn--quiet" href="/">Cancel</a>' in render('{% submit "Save" "home" %}')


def test_fold_has_a_title():
    assert render('{% fold "Show " 3 style="stack" summary="small" %}<p></p>{% endfold %}') == (
        '<details class="stack"><summary class="small">Show 3</summary><p></p></details>'
    )


def test_head_shows_the_title_of_the_page_unless_it_has_its_own():
    title = "{% block title %}Runs of {{ name }}{% endblock %}"
    page = Template("{% extends base %}" + title + "{% block content %}{% head %}<p></p>{% endhead %}{% endblock %}")
    base = Template("{% block title %}{% endblock %}|{% block content %}{% endblock %}")
    assert page.render(Context({"base": base, "name": "<b>"})) == (
        'Runs of &lt;b&gt;|<div class="head"><div><h1 dir="auto">Runs of &lt;b&gt;</h1><p></p></div></div>'
    )
    assert '<h1 dir="auto">Round 7</h1>' in render('{% head "Round " 7 %}{% endhead %}')
    assert render("{% head %}<h1>Own</h1>{% then %}<a></a>{% endhead %}") == (
        '<div class="head"><div><h1>Own</h1></div><div class="row row--tight"><a></a></div></div>'
    )
    named = page.source.replace("{% block content", "{% block heading %}Runs{% endblock %}{% block content")
    assert '<h1 dir="auto">Runs</h1>' in Template(named).render(Context({"base": base, "name": "<b>"}))


def test_press_posts_its_button():
    assert render('{% press "logout" style="quiet" name="act" value="end" %}End{% endpress %}') == (
        '<form method="post" action="/logout/"><button class="btn btn--quiet" type="submit" name="act" value="end">End'
        "</button></form>"
    )


def test_choice_is_checked_if_it_is_among_the_chosen():
    shown = render(
        '{% for one in runs %}{% choice "run" one chosen=some %}{{ one }}{% endchoice %}{% endfor %}',
        runs=["a", "<b>"],
        some=["<b>"],
    )
    assert shown == (
        '<label class="choice"><input type="checkbox" name="run" value="a"> <span dir="auto">a</span></label>'
        '<label class="choice"><input type="checkbox" name="run" checked value="&lt;b&gt;"> '
        '<span dir="auto">&lt;b&gt;</span></label>'
    )
    assert " checked" in render('{% choice "reason" "" chosen="" type="radio" %}None{% endchoice %}')


def test_steps_before_the_current_one_are_done():
    shown = render('{% steps 2 "Choose" "Review" "Store" %}')
    assert re.findall('data-state="([a-z]+)"', shown) == ["done", "doing", "todo"]
    assert shown.count("aria-current") == 1


def test_copyable_text_has_a_button_that_says_what_it_copies():
    shown = render('{% copyable command key=2 what="the command" %}', command="a < b")
    assert '<code id="secret-2">a &lt; b</code>' in shown
    assert 'data-copy="#secret-2" hidden>Copy<span class="sr"> the command</span>' in shown


def test_a_blank_heading_is_an_empty_corner():
    assert "<thead><tr><td></td><th" in render('{% table "" " " "A" %}{% endtable %}')


def test_cells_have_marks_and_classes_and_are_escaped():
    shown = render('{% cells "!.name" name "#" 3 ".clip.muted" each %}', name="#<b>", each=["a", "b"])
    assert shown == (
        '<th scope="row" class="name"><span dir="auto">#&lt;b&gt;</span></th><td class="num">3</td>'
        '<td class="clip muted">a</td><td class="clip muted">b</td>'
    )
    assert '<th scope="col" class="num">x</th><th scope="col" class="num">y</th>' in render(
        '{% table "" "Run" "#" each %}{% endtable %}', each=["x", "y"]
    )


def test_a_table_scrolls_from_a_number_of_rows_on():
    text = '{% table "Runs" tall=2 %}{% for one in each %}<tr></tr>{% endfor %}{% endtable %}'
    assert "scroll--tall" not in render(text, each=[1, 2])
    assert "scroll--tall" in render(text, each=[1, 2, 3])


def test_buttons_links_and_hidden_fields():
    assert render(
        '{% button style="quiet" name="act" value=0 disabled=no hidden=True %}Go{% endbutton %}', no=False
    ) == ('<button class="btn btn--quiet" type="submit" name="act" value="0" hidden>Go</button>')
    assert render("{% button hx_vals='{\"a\": 1}' %}{% endbutton %}").count("&quot;") == 2
    assert render('{% act "Home" "home" query="a=1" %}') == '<a class="btn btn--main" href="/?a=1">Home</a>'
    assert render("{% hidden a=one b=each %}", one="<", each=[1, 2]) == (
        '<input type="hidden" name="a" value="&lt;"><input type="hidden" name="b" value="1">'
        '<input type="hidden" name="b" value="2">'
    )


def test_entry_links_hint_and_error_with_the_control():
    shown = render(
        '{% entry "why" "Why, " name hint="Short." error=error rows=2 value=words %}', name="<", error="No", words="<"
    )
    assert shown == (
        '<div class="field"><label for="why">Why, &lt;</label><span class="hint" id="why-hint">Short.</span>'
        '<textarea class="input" id="why" name="why" aria-describedby="why-hint why-error" rows="2" '
        'aria-invalid="true">\n'
        '&lt;</textarea><span class="error" id="why-error" role="alert">No</span></div>'
    )
    assert '<input class="input" id="n-7" name="n" value="3">' in render('{% entry "n" "N" key=7 value=3 %}')


def test_dialog_closes_beside_its_heading_or_below():
    shown = render('{% dialog "note-box" "Note" %}<p></p>{% enddialog %}')
    assert shown.startswith(
        '<dialog id="note-box" popover aria-labelledby="note-h"><div class="stack"><div class="row '
    )
    assert shown.endswith("Close</button></div><p></p></div></dialog>")
    assert render('{% dialog "a" "A" back="Back" %}<p></p>{% enddialog %}').endswith("Back</button></div></dialog>")


def test_listed_shows_its_contents_only_without_rows():
    nothing, some = SimpleNamespace(nothing=True), SimpleNamespace(nothing=False)
    text = '{% listed "Runs" empty="No runs" %}<p></p>{% endlisted %}'
    assert render(text, listing=nothing) == (
        '<section class="card empty" aria-labelledby="start"><h2 id="start">No runs</h2><p></p></section>'
    )
    assert '<section class="card stack" aria-label="Runs">' in render(text, listing=some)
    assert render("{% listed %}<p></p>{% endlisted %}", listing=nothing) == "<p></p>"
