"""Tests of redaction: personal data is removed, product terms stay."""

from __future__ import annotations

import pytest

from assay.core.redaction import is_doubtful, redact
from assay.sampling.query_normalization import doubtful, redacted

DISGUISED = [
    "name AT host.example",
    "name [at] host dot de",
    "name(at)host.de",
    "name (at) host (dot) de",
    "name {at} host {dot} co {dot} uk",
    "name<at>host<dot>com",
    "mail for jo.doe [ät] mail.example.org please",
    "jo @ host.de",
    "jo@ host.de",
    "jo @host.de",
    "jo@host dot de",
    "jo＠host.de",
    "jo%40host.de",
    "jo&#64;host.de",
    "jo_at_host_dot_com",
    "jo-at-host-dot-com",
    "jo at host dot com",
    "jo at sub dot host dot com",
    "juan arroba ejemplo punto es",
    "jean arobase exemple point fr",
    "jo.doe at example.org",
    "joATexample.org",
    "joATexampleDOTcom",
    "jo@gmail com",
    "jo@gmail,com",
    "jo@host . de",
    "jo @ host . de",
    "jo (a) host.de",
    "jo [at] host [.] de",
    "Jo Doe AT Host.example",
    "jo_doe at example.org",
    "name[at]host.de",
    "x at y punkt de",
    "contact jo (at) mail dot host dot co dot uk now",
    "jo AT host DOT com",
    "JO AT HOST DOT COM",
    "JO [AT] HOST.COM",
]
DOUBTFUL = [
    "jobs at apple.com",
    "jo at host.example",
    "login at gmail",
    "jo at gmail com",
    "JO AT HOST.EXAMPLE",
    "jo@gmail",
    "sale at ikea.de",
]
# What people search for, with the same words and signs.
NO_ADDRESSES = [
    "polka dot dress",
    "look at me",
    "dot to dot at home",
    "tent at home",
    "@home sofa",
    "fun at dot to dot",
    "stay-at-home mum gift",
    "work_at_home desk",
    "at-at lego",
    "star wars at-at walker",
    "at&t phone",
    "vitamin (a) creme",
    "meet @ 5",
    "a4 @ 80g",
    "looking at polka dot tie",
    "CATS and HATS",
    "GREATest hits",
    "shot at dawn dvd",
    "90's @ the park",
    "usb-c 3.2",
    "point at infinity",
    "at point blank dvd",
    "what is at stake",
    "cream (a) dot",
    "at home dot cushion",
]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("invoice for jo.do+x@mail.example.org", "e-mail"),
        # Numbers that card companies publish for tests.
        ("4111 1111 1111 1111", "card"),
        ("visa 4111111111111111 declined", "card"),
        ("3782-822463-10005", "card"),
        # The examples of ISO 13616's registry.
        ("DE89 3704 0044 0532 0130 00", "bank account"),
        ("gb29nwbk60161331926819", "bank account"),
        ("ssn 078-05-1120", "id number"),
        ("router 192.168.1.24", "ip address"),
        ("+49 30 901820", "phone"),
        ("(030) 901820", "phone"),
        ("0171/1234567", "phone"),
        ("555 123 4567", "phone"),
        ("order 8812345670", "number"),
    ],
)
def test_personal_data_is_taken_out(text: str, kind: str) -> None:
    shown, kinds = redact(text)
    assert kinds == (kind,)
    assert f"[{kind}]" in shown
    assert not any(letter.isdigit() for letter in shown)


@pytest.mark.parametrize(
    "text",
    [
        "rain jacket",
        "iphone 15 pro 256gb",
        "1920x1080 monitor 2023",
        "@home sofa",
        "4006381333931",  # EAN-13 of the GS1 manual's kind: the check digit is right
        "036000291452",  # UPC-A, the standard's own example
        "usb 3.2 2x2",
        "sony wh-1000xm4",
        "5.1.2 surround",
        "2020-2024",
        "meeting 09.02.2021",
        "2021-02-09",
        "district 04300415",
        "m8x1.25 din 933",
    ],
)
def test_product_terms_are_not_redacted(text: str) -> None:
    assert redact(text) == (text, ())


def test_a_wrong_check_number_is_no_card_and_no_account() -> None:
    assert redact("4111 1111 1111 1112")[1] != ("card",)
    assert redact("DE88 3704 0044 0532 0130 00")[1] != ("bank account",)


def test_two_finds_in_one_query() -> None:
    assert redact("a@example.org or 0171 1234567") == ("[e-mail] or [phone]", ("e-mail", "phone"))
    assert redact("a@example.org b@example.org") == ("[e-mail] [e-mail]", ("e-mail",))


def test_redacting_twice_changes_nothing() -> None:
    once, _ = redact("a@example.org, +49 30 901820, 4111 1111 1111 1111")
    assert redact(once) == (once, ())


def test_a_text_without_end_is_gone_through_once() -> None:
    # Each of these took minutes when a search was begun anew at every letter.
    size = 200_000
    assert redact("a" * size + "1234") == ("a" * size + "1234", ())
    assert redact("1." * size) == ("[number].", ("number",))
    assert redact("a" * size + "@" + "b" * size)[1] == ()
    assert redact("a@" + "b." * size + "1")[1] == ()
    assert redact(".a" * size + "@b.example") == ("[e-mail]", ("e-mail",))


def test_addresses_that_run_into_each_other_are_all_taken_out() -> None:
    assert redact("jo@example.de1x@example.org") == ("[e-mail][e-mail]", ("e-mail",))
    assert redact("to:jo@example.org,mo@example.org.") == ("to:[e-mail],[e-mail].", ("e-mail",))


@pytest.mark.parametrize("text", DISGUISED)
def test_addresses_in_disguise_are_taken_out(text: str) -> None:
    shown, kinds = redact(text)
    assert kinds == ("e-mail",)
    assert "host" not in shown.casefold()
    assert not is_doubtful(shown)
    assert redact(shown) == (shown, ())


@pytest.mark.parametrize("text", DOUBTFUL)
def test_possible_addresses_are_reported_for_review(text: str) -> None:
    assert redact(text) == (text, ())
    assert is_doubtful(text)


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_other_texts_stay_without_a_report(text: str) -> None:
    assert redact(text) == (text, ())
    assert not is_doubtful(text)


def test_many_texts_at_once_say_the_same() -> None:
    texts = [*DISGUISED, *DOUBTFUL, *NO_ADDRESSES, "\u0130 jo AT host.example", "jo AT\nhost.example"]
    shown, kinds = redacted(texts)
    assert list(zip(shown, (kinds.get(place, ()) for place in range(len(texts))), strict=True)) == [*map(redact, texts)]
    assert doubtful(shown) == [place for place, text in enumerate(shown) if is_doubtful(text)]


@pytest.mark.parametrize(
    "part", ["a at ", "aATb", "a-", "x_at_", "a@", "a at b.", " at a dot", "a [at] b dot ", "a.b+"]
)
def test_disguises_without_end_are_gone_through_once(part: str) -> None:
    # Quadratic work would take minutes.
    text = part * 40_000
    assert len(redact(text)[0]) <= len(text)
    assert is_doubtful(text) in (True, False)
