"""Page components: their markup, and that data is escaped."""

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
