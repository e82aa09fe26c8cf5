"""Is what could name a person taken out, and what people shop for left alone?"""

from __future__ import annotations

import pytest

from pooling.sampling.redaction import redact


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
def test_what_people_shop_for_stays(text: str) -> None:
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
