"""Fixtures of all tests: users, a collection with its members, and temporary storage."""

from __future__ import annotations

import gc
import io
import os
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import hypothesis
import pytest
from _pytest.doctest import DoctestModule
from django.test import Client, override_settings

from tests import migrated

pytest_plugins = ["tests.live_engines"]

# The same examples each time, however slow the machine; --hypothesis-profile=default looks for others.
hypothesis.settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("steady")

Make = Callable[..., Any]
SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Packed bytes hold the time of packing: named by them, a test would have another name in each worker."""
    return argname if isinstance(val, bytes) and val.startswith((b"\x1f\x8b", b"PK")) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: to look through it for what might go takes a seventh of the time, and more later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Examples stand beside what they explain: to look for one in each test takes as long as to import the test."""
    collected = yield
    return [one for one in collected if not isinstance(one, DoctestModule)]


# A browser takes seconds for each test, and a benchmark runs a peer too.
SLOW_FOLDERS = {"browser", "benchmarks"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What one worker must do alone begins first; a second database is shown only the tests that ask a database."""
    for item in items:
        if SLOW_FOLDERS & set(item.path.parts) and item.get_closest_marker("quick") is None:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    if os.environ.get("ONLY_DATABASE_TESTS"):
        without = [item for item in items if not _asks_a_database(item)]
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if _asks_a_database(item)]


def _asks_a_database(item: pytest.Item) -> bool:
    """Whether another database may answer this test otherwise.

    Each address is asked of it by each role in test_access_matrix.py, and the verbs and models behind the pages have
    tests of their own: of the tests of pages only those come here that say that their answer hangs on the database. A
    process on a file of its own (``own_var``) is on SQLite both times.
    """
    fixtures = {"db", "transactional_db", "live_server"}
    names = set(getattr(item, "fixturenames", ()))
    if not (item.get_closest_marker("django_db") or fixtures & names) or "own_var" in names:
        return False
    return "views" not in item.path.parts or item.get_closest_marker("both_databases") is not None


@pytest.fixture
def shared() -> Path:
    """The folder with real data; a test that needs it skips by name where it is not."""
    if not (SHARED / "data").is_dir():
        pytest.skip("../shared/data is not here")
    return SHARED / "data"


@pytest.fixture
def own_var(tmp_path: Path) -> Path:
    """``ASSAY_VAR`` of a process of its own; if the migrations ran here before, its database has its tables already."""
    migrated.copied(tmp_path / "assay.sqlite3")
    return tmp_path


@pytest.fixture
def postgresql() -> Iterator[str]:
    """A PostgreSQL database of this test's own, dropped afterwards; with tables, if the migrations ran here before."""
    url = os.environ.get("TEST_DATABASE_URL", "")
    if not url:
        pytest.skip("no PostgreSQL: set TEST_DATABASE_URL, for example postgres://postgres@127.0.0.1:5432/postgres")
    import psycopg

    name = f"assay_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{migrated.template() or "template1"}"')
    yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def redis_url() -> str:
    """A real Redis, or a skip that says what to set."""
    url = os.environ.get("TEST_REDIS_URL", "")
    if not url:
        pytest.skip("no Redis: set TEST_REDIS_URL, for example redis://127.0.0.1:6379/9")
    return url


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """What one test computed is nobody else's; primary keys repeat between tests."""
    from django.core.cache import cache

    cache.clear()


@pytest.fixture(scope="session", autouse=True)
def storage_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Stored files go into a folder of this run; their names are unique, so that tests can share it."""
    from django.conf import settings

    folder = str(tmp_path_factory.mktemp("storage"))
    default = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    # The server's static root is made by collectstatic, which tests do without; WhiteNoise wants to see a folder.
    static = str(tmp_path_factory.mktemp("static"))
    storages = {**settings.STORAGES, "default": default}
    # Looked for when asked: each test's client would else list every static file there is, before its first request.
    with override_settings(STORAGES=storages, STATIC_ROOT=static, WHITENOISE_AUTOREFRESH=True):
        yield folder


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """No test pulls the plug: a commit need not wait for the disk."""
    from django.db import connection

    options = connection.settings_dict["OPTIONS"]
    if connection.vendor == "sqlite":
        options["init_command"] = options["init_command"].replace("synchronous=FULL", "synchronous=OFF")
        creation: Any = connection.creation
        make = creation._create_test_db

        def begin_with_tables(*args: Any, **more: Any) -> str:
            """What the migrations left is where this database begins: Django finds nothing more to migrate."""
            name: str = make(*args, **more)
            migrated.copied(Path(name))
            return name

        creation._create_test_db = begin_with_tables
    else:
        options["options"] = "-c synchronous_commit=off"
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated.template()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The test database, able to forget events between transactional tests.

    The triggers that refuse to delete an event would also refuse the flush after such a test. SQLite flushes by
    DELETE, so they are taken away for it and put back. PostgreSQL would truncate, which fires no row's trigger but
    makes a new file for each table; a superuser's DELETE passes the triggers by, and takes a hundredth of the time.
    """
    from django.db import connection

    # The class and not this connection's own: beside a browser's event loop Django opens another connection.
    operations: Any = type(connection.ops)
    if connection.vendor == "sqlite":
        if not migrated.template_path().exists():
            with django_db_blocker.unblock():
                migrated.keep()
        operations.execute_sql_flush = _flush_past_triggers(operations.execute_sql_flush)
        return
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        superuser = cursor.fetchone() == (True,)
    bypass = _delete_past_triggers if superuser else _truncate_past_triggers
    operations.sql_flush = bypass(operations.sql_flush)


def _flush_past_triggers(flush: Make) -> Make:
    def flush_events_too(self: Any, statements: list[str]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%never_deletes'")
            triggers = cursor.fetchall()
        drop = [f"DROP TRIGGER {name}" for name, _ in triggers]
        flush(self, [*drop, *statements, *(sql for _, sql in triggers)])

    return flush_events_too


def _delete_past_triggers(truncate: Make) -> Make:
    def delete(self: Any, style: Any, tables: list[str], *, reset_sequences: bool = False, **more: Any) -> list[str]:
        if reset_sequences:
            emptied = truncate(self, style, tables, reset_sequences=True, **more)
        else:
            emptied = [f"DELETE FROM {self.quote_name(table)}" for table in tables]
        return ["SET LOCAL session_replication_role = replica", *emptied] if tables else []

    return delete


def _truncate_past_triggers(truncate: Make) -> Make:
    """The same for a role that only owns the tables: it switches the triggers off for as long as it empties them."""

    def emptied(self: Any, style: Any, tables: list[str], **more: Any) -> list[str]:
        named = [self.quote_name(table) for table in tables]
        off, on = ([f"ALTER TABLE {name} {way} TRIGGER USER" for name in named] for way in ("DISABLE", "ENABLE"))
        return [*off, *truncate(self, style, tables, **more), *on] if tables else []

    return emptied


@pytest.fixture
def make_user(db: None) -> Make:
    """``make_user("name")``: a user with the password ``pass``."""
    from judgments.models import User

    return lambda name, **more: User.objects.create_user(name, password="pass", **more)


@pytest.fixture
def lead(make_user: Make) -> Any:
    return make_user("lena", can_create_collections=True)


@pytest.fixture
def engineer(make_user: Make) -> Any:
    return make_user("emil", can_create_collections=True)


@pytest.fixture
def rater(make_user: Make) -> Any:
    return make_user("rosa")


@pytest.fixture
def rater2(make_user: Make) -> Any:
    return make_user("rudi")


@pytest.fixture
def rater3(make_user: Make) -> Any:
    return make_user("rike")


@pytest.fixture
def outsider(make_user: Make) -> Any:
    """Has an account and is a member of nothing."""
    return make_user("otto")


@pytest.fixture
def operator(make_user: Make) -> Any:
    """Manages the server, and is a member of nothing."""
    return make_user("oskar", is_staff=True, is_superuser=True)


@pytest.fixture
def collection(lead: Any, engineer: Any, rater: Any, rater2: Any, rater3: Any) -> Any:
    """A collection with a lead, an engineer and three raters, and nothing in it; it may use what the settings allow."""
    from judgments.models import Collection, Grant, Membership, Role

    made = Collection.objects.create(slug="shop", name="Shop search", created_by=lead)
    roles = {lead: Role.LEAD, engineer: Role.ENGINEER, rater: Role.RATER, rater2: Role.RATER, rater3: Role.RATER}
    Membership.objects.bulk_create(Membership(collection=made, user=user, role=role) for user, role in roles.items())
    Grant.objects.bulk_create(Grant(collection=made, kind=kind, value="*") for kind in Grant.Kind)
    return made


@pytest.fixture
def elsewhere(lead: Any) -> Any:
    """Another collection of the lead."""
    from judgments.members.collections import create_collection

    return create_collection(actor=lead, slug="elsewhere", name="Elsewhere")


@pytest.fixture
def client_of() -> Callable[[Any], Client]:
    """``client_of(user)``: a browser in which the user is logged in; ``client_of(None)``: nobody is."""

    def browser(user: Any) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return browser


@pytest.fixture
def api_of() -> Callable[..., Any]:
    """``api_of(user)``: an API client with a token of the user's that covers everything."""
    from rest_framework.test import APIClient

    from judgments.members import tokens

    def with_token(user: Any, scopes: tuple[str, ...] = ("write",)) -> APIClient:
        _, text = tokens.make_token(user, name="test", scopes=list(scopes))
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    return with_token


@pytest.fixture
def store_file(collection: Any, lead: Any) -> Callable[..., dict[str, Any]]:
    """``store_file(kind, content)``: read and store a file in the collection, as an upload would."""
    from judgments.imports import ingestion

    def store(kind: str, content: str | bytes, filename: str = "", **options: Any) -> dict[str, Any]:
        file = io.BytesIO(content.encode() if isinstance(content, str) else content)
        upload = ingestion.receive(collection, kind=kind, file=file, filename=filename or f"{kind}.txt", actor=lead)
        return ingestion.store(upload, actor=lead, options=options)

    return store


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any) -> Any:
    """A collection with data for every feature."""
    from tests.world import make_world

    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


@pytest.fixture
def api(world: Any, lead: Any, api_of: Any) -> Any:
    return api_of(lead)


@pytest.fixture
def stage(collection: Any, lead: Any, rater: Any, rater2: Any, rater3: Any) -> Any:
    """A collection that can be brought along step by step, from queries to scores."""
    from django.core.cache import cache

    from tests.evaluation.stage import Stage

    cache.clear()
    return Stage(collection, lead, [rater, rater2, rater3])
