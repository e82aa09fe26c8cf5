"""Tests of guideline files: round trip, preview of changes, comparison, refused files."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from assay.core.errors import NotValid
from judgments.guidelines import files, guidelines

pytestmark = pytest.mark.django_db


def posted(client, content, act="read"):
    upload = SimpleUploadedFile("g.md", content if isinstance(content, bytes) else content.encode())
    return client.post(reverse("guidelines_new", args=["shop"]), {"file": upload, "act": act})


@pytest.fixture
def versions(collection, lead):
    return [guidelines.add_version(collection, actor=lead, markdown=text) for text in ("# One\n\n---\n\nend", "# Two")]


def test_a_file_comes_back_as_it_left(versions):
    for version in versions:
        read = files.read(files.as_text(version).encode())
        assert read.markdown == version.markdown
        assert (read.collection, read.version, read.sha256) == ("shop", version.number, version.sha256)


@pytest.mark.parametrize(
    "text", ["# Plain", "---\ntitle: mine\n---\n\nText", "---\nno end", "--- \n---\n", "\ufeff# Marked", "a\r\nb"]
)
def test_a_text_without_our_front_matter_is_text_alone(collection, text):
    read = files.read(text.encode())
    assert read.markdown == text.removeprefix("\ufeff").replace("\r\n", "\n").strip() + "\n"
    assert read.version is None
    assert read.remarks(collection) == []


def test_remarks_name_versions_that_the_file_lacks(collection, versions):
    one, two = (files.as_text(version) for version in versions)
    remarks = files.parse(one + "more").remarks(collection)
    assert len(remarks) == 1
    assert "Version 2 is newer" in remarks[0]
    assert files.parse(two + "more").remarks(collection) == []
    assert "identical to version 1" in files.parse(versions[0].markdown).remarks(collection)[0]
    assert "another collection, other" in files.parse(two.replace("shop", "other")).remarks(collection)[0]
    assert "ersion 9" in files.parse(two.replace("version: 2", "version: 9")).remarks(collection)[0]


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"x" * 500_000, b"x" * 100_001, b"---\nversion: two\n---\nx"],
    ids=["no UTF-8", "bytes", "characters", "version"],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(client_of, versions, lead, content):
    with pytest.raises(NotValid) as error:
        files.read(content)
    answer = posted(client_of(lead), content)
    assert answer.status_code == 422
    assert error.value.fields["file"].removeprefix("The file") in answer.content.decode()


def test_reading_a_file_shows_what_it_changes_and_stores_nothing(client_of, collection, versions, lead):
    shown = posted(client_of(lead), files.as_text(versions[0]) + "\nMore.")
    html = shown.content.decode()
    assert shown.status_code == 200
    assert "g.md" in html
    assert "changes would be lost" in html
    assert "Changes since version 2" in html
    assert shown.context["form"]["markdown"].value() == versions[0].markdown + "\nMore.\n"
    same = posted(client_of(lead), files.as_text(versions[1]))
    assert same.status_code == 422
    assert "identical to version 2" in same.content.decode()
    assert posted(client_of(lead), b"").status_code == 422
    assert collection.guidelines.count() == 2


def test_a_version_downloads_and_shows_what_changed(client_of, versions, lead, rater):
    one, two = versions
    # Nobody asked the rater to rate under them yet.
    assert client_of(rater).get(reverse("guidelines_file", args=[one.uuid])).status_code == 403
    answer = client_of(lead).get(reverse("guidelines_file", args=[one.uuid]))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="guidelines-v1.md"'
    assert answer.content.decode() == files.as_text(one)
    page = reverse("guidelines_version", args=[two.uuid])
    html = client_of(lead).get(f"{page}?against=1").content.decode()
    assert "From version 1 to version 2" in html
    assert 'class="difference"' in html
    for odd in ("2", "9", "x", "9" * 30):
        assert 'class="difference"' not in client_of(lead).get(f"{page}?against={odd}").content.decode()


def test_looking_at_a_text_first_stores_nothing(client_of, collection, versions, lead):
    # As a browser sends it: what is not changed is not told as changed.
    form_data = {"markdown": "# Two\r\n\r\n# Three <script>x</script>\r\n", "act": "preview"}
    html = client_of(lead).post(reverse("guidelines_new", args=["shop"]), form_data).content.decode()
    main = html.split("<main")[1]
    assert "Preview" in main
    assert "Changes since version 2" in main
    assert "<script>" not in main
    assert main.count("data-change") == main.count('data-change="kept"') + 2
    assert collection.guidelines.count() == 2


def test_programs_read_write_and_compare(api_of, versions, lead, engineer):
    address, api = "/api/v1/collections/shop/guidelines/", api_of(lead)
    assert [row["number"] for row in api_of(engineer).get(address).json()["results"]] == [2, 1]
    body = api.get(f"{address}2/?against=1").json()
    assert body["markdown"] == "# Two\n"
    assert body["file"] == files.as_text(versions[1])
    assert {line["kind"] for line in body["difference"]} >= {"removed"}
    assert api.get(f"{address}1/").json()["difference"] is None
    for odd in ("9/", "1/?against=9", "1/?against=x"):
        assert api.get(f"{address}{odd}").status_code == 404
    dry = api.post(address, {"markdown": "# Three", "dry_run": True}, format="json")
    assert (dry.status_code, dry.json()["stored"], len(dry.json()["difference"])) == (200, None, 2)
    created = api.post(address, {"markdown": body["file"] + "\nMore."}, format="json")
    assert (created.status_code, created.json()["stored"]["markdown"]) == (201, "# Two\n\nMore.\n")
    again = api.post(address, {"markdown": "# Two\n\nMore."}, format="json")
    assert (again.status_code, set(again.json()["error"]["fields"])) == (400, {"markdown"})
    assert api.post(address, {"markdown": "x", "text": "y"}, format="json").status_code == 400


def test_a_field_of_blanks_is_read_in_one_pass():
    """What would be tried again from every blank never ends."""
    parsed = files.parse(f"---\ncollection: shop{' ' * 300_000}x\nversion:\t2  \n---\n\nText\n")
    assert (parsed.version, parsed.collection[:4], parsed.collection[-1]) == (2, "shop", "x")
