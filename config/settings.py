"""Django settings. Environment variables set them; docs/settings.md lists all of them.

With nothing set, the server runs on a laptop: SQLite, files and the secret key in ``var/``, jobs in the same database.
With ``DATABASE_URL``, ``REDIS_URL`` and ``STORAGE_URL`` it runs as a team server with any number of worker machines.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from django.utils.functional import SimpleLazyObject

BASE_DIR = Path(__file__).resolve().parent.parent
# Templates and static files are inside this package in a wheel, and next to it in a checkout.
WEB_DIR = next(folder for folder in (BASE_DIR / "config", BASE_DIR) if (folder / "templates").is_dir())
env = environ.Env()
# The server's data directory: ASSAY_VAR or the working directory. Importing the settings writes nothing.
VAR = Path(env.str("ASSAY_VAR", default="") or "var").absolute()
TESTING = "pytest" in sys.modules


def laptop_key() -> str:
    """Return the server's generated key. The first use creates it, readable only by its owner."""
    path = VAR / "secret_key"
    VAR.mkdir(parents=True, exist_ok=True)
    made = VAR / f"secret_key.{os.getpid()}.{threading.get_ident()}"
    if not path.exists():
        made.touch(mode=0o600)
        made.write_text(get_random_secret_key(), encoding="utf-8")
        with suppress(FileExistsError):  # another process or thread of this server created the file first
            os.link(made, path)
        made.unlink()
    return path.read_text(encoding="utf-8").strip()


DEBUG = env.bool("DEBUG", default=False)
DATABASE_URL = env.str("DATABASE_URL", default="")
SECRET_KEY = env.str("SECRET_KEY", default="") or SimpleLazyObject(laptop_key)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_tasks",
    "django_tasks_db",
    "judgments",
    "pooling",
    "evaluation",
    "demo",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # must wrap every middleware that may answer with private data, redirects included
    "judgments.web.middleware.Border",
    "judgments.web.middleware.ApiETags",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "judgments.web.middleware.Bodies",  # must run before any middleware that reads the request body
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [WEB_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [
                "django.template.loaders.filesystem.Loader",
                "django.template.loaders.app_directories.Loader",
            ]
            if DEBUG
            else [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            # Every template has these tags without loading them; Django itself searches only `templatetags`.
            "builtins": [
                "django.templatetags.l10n",
                "django.templatetags.static",
                "django_htmx.templatetags.django_htmx",
                "evaluation.freshness.tags",
                "evaluation.overview.tags",
                "evaluation.scoring.tags",
                "judgments.documents.tags",
                "judgments.navigation.tags",
                "judgments.rounds.answer_tags",
                "judgments.web.components",
                "judgments.web.figures",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- Database: a saved judgment survives a power failure, and writers never see "database is locked".
SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=134217728; "
        "PRAGMA journal_size_limit=27103364; PRAGMA cache_size=2000;"
    ),
}
if DATABASE_URL:
    DATABASES = {"default": env.db_url("DATABASE_URL")}
else:
    DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": VAR / "assay.sqlite3"}}
# A thread keeps its connection for a minute, because opening one costs more than most queries.
DATABASES["default"].setdefault("CONN_MAX_AGE", 60)
if DATABASES["default"]["ENGINE"].endswith("postgresql") and env.bool("PREPARE_STATEMENTS", default=True):
    # PostgreSQL plans a repeated statement only once per connection; planning is half the cost of a submission.
    DATABASES["default"].setdefault("OPTIONS", {}).update(server_side_binding=True, prepare_threshold=1)
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    DATABASES["default"]["ENGINE"] = "config.sqlite3"  # Django's backend, with fair turns for writers
    # A file, so that the threads of a test share it; one per process, so that two test runs never do.
    DATABASES["default"]["TEST"] = {"NAME": VAR / f"test-{os.getpid()}.sqlite3"}

# --- Files: runs and snapshots. A directory by default; s3://bucket/prefix if workers run on several machines.
STORAGE_URL = env.str("STORAGE_URL", default="") or str(VAR / "storage")
if STORAGE_URL.startswith("s3://"):
    bucket, _, prefix = STORAGE_URL.removeprefix("s3://").partition("/")
    FILE_STORAGE = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": bucket, "location": prefix, "file_overwrite": False, "default_acl": "private"},
    }
else:
    FILE_STORAGE = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": STORAGE_URL.removeprefix("file://"),
            "file_permissions_mode": 0o640,
            "directory_permissions_mode": 0o750,
        },
    }
STORAGES = {
    "default": FILE_STORAGE,
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- Background work: the database's own queue by default, RQ on Redis for teams.
REDIS_URL = env.str("REDIS_URL", default="")
if REDIS_URL:
    INSTALLED_APPS += ["django_rq", "django_tasks_rq"]
    # JSON and never pickle: with pickle, anyone who can write to Redis could run code in every process that reads it.
    RQ_QUEUES = {"default": {"URL": REDIS_URL, "DEFAULT_TIMEOUT": 3600, "SERIALIZER": "rq.serializers.JSONSerializer"}}
    TASKS = {"default": {"BACKEND": "django_tasks_rq.RQBackend", "QUEUES": ["default"]}}
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            "KEY_PREFIX": "json",
            "OPTIONS": {"serializer": "judgments.jobs.cache_serializer.NoCode"},
        }
    }
else:
    TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- People.
AUTH_USER_MODEL = "judgments.User"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_HASHERS = [
    "judgments.members.login_limits.Argon2InTurn",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
# Passwords that a web process hashes at the same time; each hash takes 100 MB of memory.
PASSWORD_HASHES = env.int("PASSWORD_HASHES", default=1)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
# Whether leads may invite people without an account through single-use links. If not, operators create accounts.
INVITE_LINKS = env.bool("INVITE_LINKS", default=True)
# The mail server, such as smtp+tls://name:password@mail.example:587. Without one, leads copy invitation links.
EMAIL_URL = env.str("EMAIL_URL", default="")
if EMAIL_URL:
    vars().update(environ.Env.email_url_config(EMAIL_URL))
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="Assay <assay@localhost>")
EMAIL_TIMEOUT = 10
# On behind TLS; over plain HTTP, as on a laptop, login would fail with them.
SECURE = env.bool("SECURE", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = SECURE
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", default=False) else None
# Trusted proxies whose X-Forwarded-For is used: their number, or their addresses and networks.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=["1"] if SECURE_PROXY_SSL_HEADER else [])
if TRUSTED_PROXIES[1:] or not "".join(TRUSTED_PROXIES).isdigit():
    [ipaddress.ip_network(proxy, strict=False) for proxy in TRUSTED_PROXIES]  # raise an error for a typing mistake now
# Failed logins from one address before it has to wait, and the rate at which they are forgotten.
LOGIN_RATE = env.str("LOGIN_RATE", default="30/hour")
if not re.fullmatch(r"[1-9]\d*/ *[smhd]\w*", LOGIN_RATE):
    raise ImproperlyConfigured("LOGIN_RATE must be a number and a period, for example 30/hour")
SESSION_COOKIE_HTTPONLY = True
# Whether pages load document images from other servers. Those servers then see who views which image, and when.
REMOTE_IMAGES = env.bool("REMOTE_IMAGES", default=False)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- Input limits.
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_MB", default=512) * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
# A form without files, or any request without a login: too small to use the temporary directory.
FORM_BYTES = 2 * 1024 * 1024
STRANGERS_BODY_BYTES = 64 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
# A job reads and stores uploads that are larger than this when unpacked; the client gets status 202.
JOB_FROM_BYTES = env.int("JOB_FROM_MB", default=2) * 1024 * 1024
# Limits for reading one upload in its own process: processor time (five times that in elapsed time), memory, unpacked
# bytes, lines. A run of 5 million rows takes about 10 s and 1.5 GB.
READ_SECONDS = env.int("READ_SECONDS", default=300)
READ_MEMORY_MB = env.int("READ_MEMORY_MB", default=6144)
READ_EXPANDED_MB = env.int("READ_EXPANDED_MB", default=2048)
READ_LINES = env.int("READ_LINES", default=20_000_000)
# Limits per account: bytes in storage that belong to no collection yet, and files that wait for a job to read or store
# them.
UPLOAD_QUOTA_MB = env.int("UPLOAD_QUOTA_MB", default=4096)
UPLOADS_WAITING = env.int("UPLOADS_WAITING", default=8)

# --- Engines. A connector reaches only the servers that the operator lists here.
CONNECTOR_HOSTS = env.list("CONNECTOR_HOSTS", default=[])
CONNECTOR_NETWORKS = env.list("CONNECTOR_NETWORKS", default=[])
CONNECTOR_FOLDERS = env.list("CONNECTOR_FOLDERS", default=[])
# The first key encrypts secrets; every key can decrypt them. Without keys, encryption uses SECRET_KEY.
CONNECTOR_KEYS = env.list("CONNECTOR_KEYS", default=[])

# --- Models. Machine judges call only the providers listed here; this includes the public servers of model vendors.
PROVIDER_HOSTS = env.list("PROVIDER_HOSTS", default=[])
PROVIDER_NETWORKS = env.list("PROVIDER_NETWORKS", default=[])
# A local judge loads only these models: names, directories, or package:NAME.
DEFAULT_LOCAL_MODEL = "all-MiniLM-L6-v2"
LOCAL_MODELS = env.list("LOCAL_MODELS", default=[DEFAULT_LOCAL_MODEL])

# --- Webhooks send events only to the hosts listed here.
WEBHOOK_HOSTS = env.list("WEBHOOK_HOSTS", default=[])
WEBHOOK_NETWORKS = env.list("WEBHOOK_NETWORKS", default=[])
# The address of this server in e-mails and webhooks, such as https://assay.example.com.
SITE_URL = (env.str("SITE_URL", default="") or next(iter(CSRF_TRUSTED_ORIGINS), "")).rstrip("/")

# --- Freshness: days until the server checks a collection's newest snapshot by itself; 0 turns this off.
FRESHNESS_DAYS = env.int("FRESHNESS_DAYS", default=30)

# --- The API.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "judgments.members.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["judgments.members.tokens.InScope"],
    "DEFAULT_PAGINATION_CLASS": "judgments.web.api_lists.Pages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "judgments.web.error_responses.answer",
}
# Calls that a token, or a user with a session, may make; "off" for no limit.
API_RATE = env.str("API_RATE", default="600/minute")
if API_RATE != "off" and not re.fullmatch(r"[1-9]\d*/ *[smhd]\w*", API_RATE):
    raise ImproperlyConfigured("API_RATE must be off, or a number and a period, for example 600/minute")
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Collect relevance judgments and use them to evaluate search and RAG systems.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "judgments.web.endpoints.allow_null_once",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "APPEND_COMPONENTS": {
        "headers": {
            name: {"description": text, "schema": {"type": kind}}
            for name, kind, text in (
                ("ETag", "string", "The version of the content, for `If-None-Match` and `If-Match`."),
                (
                    "Idempotent-Replayed",
                    "string",
                    "`true` for the response of an earlier request.",
                ),
                ("RateLimit-Limit", "integer", "Requests per period; missing if the server has no limit."),
                ("RateLimit-Remaining", "integer", "Requests left in this period."),
                ("RateLimit-Reset", "integer", "Seconds until the next period."),
                ("Retry-After", "integer", "Seconds to wait before the next request."),
            )
        }
    },
    # Names for choices that several serializers share; otherwise the schema would number them.
    "ENUM_NAME_OVERRIDES": {
        "DocumentKindEnum": "judgments.models.document.DocumentKind",
        "DrawMethodEnum": ["stratified", "pps"],
        "AnswerStateEnum": ["graded", "unrateable", "later"],
    },
}

# --- Language, time, static files.
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [WEB_DIR / "static"]
WHITENOISE_USE_FINDERS = DEBUG or TESTING
WHITENOISE_AUTOREFRESH = DEBUG
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
    # They log whole addresses, whose paths may contain a secret.
    "loggers": {name: {"level": "WARNING"} for name in ("httpx", "httpcore")},
}

if TESTING:
    API_RATE = "off"
    CACHES = {"default": {"BACKEND": "judgments.jobs.cache_serializer.InMemory"}}
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    TASKS = {"default": {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"}}
    STORAGES["default"] = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR / "test-storage"},
    }
if not DEBUG and not TESTING and env.str("SECRET_KEY", default="") == "change-me":
    raise ImproperlyConfigured("SECRET_KEY still has the example value. Set it to a long random string, or unset it")
