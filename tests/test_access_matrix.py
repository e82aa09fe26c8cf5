"""Tests of access: the response of every URL to every role. A URL that is missing in the table fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.core import signing
from django.db import transaction

from judgments.members.collections import create_collection
from judgments.notices import preferences
from tests.addresses import api_calls, routes
from tests.world import World, make_world

pytestmark = pytest.mark.django_db
WHO = ("outsider", "rater", "engineer", "lead", "anonymous")
# Method, route, and the status for each of WHO; the outsider leads a collection of their own. POST comes with nothing
# in it: 400 and 422 are told to those who may act.
TABLE = """
GET    /                                                              200 200 200 200 302
GET    c/<slug:slug>/                                                 404 403 200 200 302
GET    c/<slug:slug>/archive/                                         404 403 403 200 302
GET    c/<slug:slug>/archive/<str:kind>/<uuid:uuid>/                  404 403 403 200 302
POST   c/<slug:slug>/archive/<str:kind>/<uuid:uuid>/                  404 403 403 302 302
GET    c/<slug:slug>/activity/                                        404 403 200 200 302
GET    c/<slug:slug>/clicks/                                          404 403 200 200 302
GET    c/<slug:slug>/clicks/<uuid:uuid>/                              404 403 200 200 302
POST   c/<slug:slug>/clicks/<uuid:uuid>/                              404 403 403 422 302
GET    c/<slug:slug>/clicks/new/                                      404 403 403 200 302
POST   c/<slug:slug>/clicks/new/                                      404 403 403 422 302
GET    c/<slug:slug>/connectors/                                      404 403 200 200 302
GET    c/<slug:slug>/connectors/<uuid:uuid>/                          404 403 200 200 302
POST   c/<slug:slug>/connectors/<uuid:uuid>/                          404 403 422 422 302
GET    c/<slug:slug>/connectors/<uuid:uuid>/change/                   404 403 200 200 302
POST   c/<slug:slug>/connectors/<uuid:uuid>/change/                   404 403 422 422 302
POST   c/<slug:slug>/connectors/<uuid:uuid>/go-on/                    404 403 302 302 302
GET    c/<slug:slug>/connectors/<uuid:uuid>/remove/                   404 403 200 200 302
POST   c/<slug:slug>/connectors/<uuid:uuid>/remove/                   404 403 302 302 302
POST   c/<slug:slug>/connectors/<uuid:uuid>/try/                      404 403 422 422 302
GET    c/<slug:slug>/connectors/new/                                  404 403 200 200 302
POST   c/<slug:slug>/connectors/new/                                  404 403 422 422 302
GET    c/<slug:slug>/webhooks/                                        404 403 403 200 302
GET    c/<slug:slug>/webhooks/new/                                    404 403 403 200 302
POST   c/<slug:slug>/webhooks/new/                                    404 403 403 422 302
GET    c/<slug:slug>/webhooks/<uuid:uuid>/                            404 403 403 200 302
GET    c/<slug:slug>/webhooks/<uuid:uuid>/change/                     404 403 403 200 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/change/                     404 403 403 422 302
GET    c/<slug:slug>/webhooks/<uuid:uuid>/remove/                     404 403 403 200 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/remove/                     404 403 403 302 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/rotate/                     404 403 403 200 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/switch/                     404 403 403 302 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/test/                       404 403 403 302 302
POST   c/<slug:slug>/webhooks/<uuid:uuid>/deliveries/<uuid:delivery>/redeliver/ 404 403 403 302 302
GET    notices/                                                       200 200 200 200 302
POST   notices/read/                                                  302 302 302 302 302
GET    notices/<uuid:uuid>/                                           404 404 404 302 302
POST   notices/<uuid:uuid>/read/                                      404 404 404 302 302
GET    notices/preferences/                                           200 200 200 200 302
POST   notices/preferences/                                           302 302 302 302 302
POST   notices/preferences/address/                                   302 302 302 302 302
GET    notices/address/<str:token>/                                   404 404 404 200 302
POST   notices/address/<str:token>/                                   404 404 404 302 302
GET    notices/unsubscribe/<str:token>/                               200 200 200 200 200
POST   notices/unsubscribe/<str:token>/                               200 200 200 200 200
GET    compare/                                                       403 403 200 200 302
POST   compare/                                                       403 403 422 422 302
GET    c/<slug:slug>/decisions/                                       404 403 200 200 302
GET    c/<slug:slug>/decisions/<uuid:uuid>/                           404 403 200 200 302
POST   c/<slug:slug>/decisions/<uuid:uuid>/close/                     404 403 403 302 302
GET    c/<slug:slug>/decisions/<uuid:uuid>/lists/                     404 200 200 200 302
POST   c/<slug:slug>/decisions/<uuid:uuid>/lists/                     404 302 302 302 302
GET    c/<slug:slug>/decisions/<uuid:uuid>/report/                    404 403 200 200 302
GET    c/<slug:slug>/decisions/new/                                   404 403 403 200 302
POST   c/<slug:slug>/decisions/new/                                   404 403 403 422 302
GET    c/<slug:slug>/decisions/new/fetching/                          404 403 403 404 302
GET    c/<slug:slug>/decisions/new/plan/                              404 403 403 302 302
POST   c/<slug:slug>/decisions/new/plan/                              404 403 403 302 302
GET    c/<slug:slug>/documents/                                       404 403 200 200 302
GET    c/<slug:slug>/documents/<uuid:uuid>/                           404 403 200 200 302
GET    c/<slug:slug>/documents/new/                                   404 403 403 200 302
POST   c/<slug:slug>/documents/new/                                   404 403 403 422 302
GET    c/<slug:slug>/freshness/                                       404 403 200 200 302
POST   c/<slug:slug>/freshness/check/                                 404 403 302 302 302
GET    c/<slug:slug>/freshness/declare/                               404 403 403 200 302
POST   c/<slug:slug>/freshness/declare/                               404 403 403 422 302
POST   c/<slug:slug>/freshness/declare/<uuid:uuid>/withdraw/          404 403 403 302 302
GET    c/<slug:slug>/freshness/feed/                                  404 403 200 200 302
POST   c/<slug:slug>/freshness/feed/                                  404 403 422 422 302
GET    c/<slug:slug>/freshness/fields/                                404 403 403 200 302
POST   c/<slug:slug>/freshness/fields/                                404 403 403 422 302
GET    c/<slug:slug>/freshness/history/                               404 403 200 200 302
GET    c/<slug:slug>/freshness/stratum/                               404 403 403 302 302
POST   c/<slug:slug>/freshness/pool/                                  404 403 403 302 302
GET    c/<slug:slug>/gates/                                           404 403 200 200 302
GET    c/<slug:slug>/gates/<uuid:uuid>/                               404 403 200 200 302
GET    c/<slug:slug>/guidelines/                                      404 403 200 200 302
POST   c/<slug:slug>/guidelines/examples/<uuid:uuid>/remove/          404 403 403 302 302
GET    c/<slug:slug>/guidelines/new/                                  404 403 403 200 302
POST   c/<slug:slug>/guidelines/new/                                  404 403 403 422 302
GET    c/<slug:slug>/jobs/                                            404 403 200 200 302
GET    c/<slug:slug>/members/                                         404 403 200 200 302
GET    c/<slug:slug>/members/new/                                     404 403 200 200 302
POST   c/<slug:slug>/members/                                         404 403 403 422 302
POST   c/<slug:slug>/members/new/                                     404 403 403 422 302
POST   c/<slug:slug>/members/<uuid:uuid>/                             404 403 403 302 302
GET    c/<slug:slug>/members/links/                                   404 403 403 200 302
POST   c/<slug:slug>/members/links/                                   404 403 403 422 302
POST   c/<slug:slug>/members/links/<uuid:uuid>/revoke/                404 403 403 302 302
POST   c/<slug:slug>/members/invitations/<uuid:uuid>/withdraw/        404 403 403 302 302
GET    c/<slug:slug>/pools/                                           404 403 200 200 302
GET    c/<slug:slug>/pools/<uuid:uuid>/                               404 403 200 200 302
GET    c/<slug:slug>/pools/new/                                       404 403 403 200 302
POST   c/<slug:slug>/pools/new/                                       404 403 403 200 302
POST   c/<slug:slug>/pools/<uuid:uuid>/apart/                         404 403 403 302 302
GET    c/<slug:slug>/bundles/new/                                     404 403 403 200 302
POST   c/<slug:slug>/bundles/new/                                     404 403 403 422 302
GET    c/<slug:slug>/qrels/                                           404 403 200 200 302
GET    c/<slug:slug>/judgments/new/                                   404 403 403 200 302
POST   c/<slug:slug>/judgments/new/                                   404 403 403 422 302
GET    c/<slug:slug>/qrels/new/                                       404 403 403 200 302
POST   c/<slug:slug>/qrels/new/                                       404 403 403 422 302
GET    c/<slug:slug>/queries/                                         404 403 200 200 302
GET    c/<slug:slug>/queries/<uuid:uuid>/                             404 403 200 200 302
POST   c/<slug:slug>/queries/<uuid:uuid>/                             404 403 403 422 302
GET    c/<slug:slug>/queries/groups/                                  404 403 200 200 302
POST   c/<slug:slug>/queries/groups/                                  404 403 403 302 302
GET    c/<slug:slug>/queries/groups/<uuid:uuid>/                      404 403 200 200 302
POST   c/<slug:slug>/queries/groups/<uuid:uuid>/                      404 403 403 302 302
GET    c/<slug:slug>/queries/needs/                                   404 403 200 200 302
POST   c/<slug:slug>/queries/needs/                                   404 403 403 302 302
GET    c/<slug:slug>/queries/new/                                     404 403 403 200 302
POST   c/<slug:slug>/queries/new/                                     404 403 403 422 302
GET    c/<slug:slug>/query-logs/                                      404 403 200 200 302
GET    c/<slug:slug>/query-logs/<uuid:uuid>/                          404 403 200 200 302
POST   c/<slug:slug>/query-logs/<uuid:uuid>/                          404 403 403 422 302
GET    c/<slug:slug>/query-logs/new/                                  404 403 403 200 302
POST   c/<slug:slug>/query-logs/new/                                  404 403 403 422 302
GET    c/<slug:slug>/outputs/new/                                     404 403 200 200 302
POST   c/<slug:slug>/outputs/new/                                     404 403 422 422 302
GET    c/<slug:slug>/rag/                                             404 403 200 200 302
GET    c/<slug:slug>/rag/<uuid:uuid>/                                 404 403 200 200 302
GET    c/<slug:slug>/rag/<uuid:uuid>/compare/                         404 403 200 200 302
GET    c/<slug:slug>/rag/<uuid:uuid>/files/<str:name>/                404 403 200 200 302
GET    c/<slug:slug>/rag/<uuid:uuid>/grade/                           404 403 403 200 302
POST   c/<slug:slug>/rag/<uuid:uuid>/grade/                           404 403 403 422 302
GET    c/<slug:slug>/rag/<uuid:uuid>/critic/                          404 403 403 200 302
POST   c/<slug:slug>/rag/<uuid:uuid>/critic/                          404 403 403 422 302
POST   c/<slug:slug>/rag/<uuid:uuid>/critic/pause/                    404 403 403 404 302
POST   c/<slug:slug>/rag/<uuid:uuid>/critic/go-on/                    404 403 403 404 302
GET    c/<slug:slug>/rag/<uuid:uuid>/samples/                         404 403 200 200 302
GET    c/<slug:slug>/rag/<uuid:uuid>/samples/<uuid:sample>/           404 403 200 200 302
POST   c/<slug:slug>/rag/<uuid:uuid>/score/                           404 403 302 302 302
GET    c/<slug:slug>/rag/new/                                         404 403 200 200 302
POST   c/<slug:slug>/rag/new/                                         404 403 422 422 302
POST   c/<slug:slug>/rag/systems/<uuid:uuid>/baseline/                404 403 302 302 302
GET    c/<slug:slug>/rag/systems/<uuid:uuid>/outputs/                 404 403 200 200 302
GET    c/<slug:slug>/samples/new/                                     404 403 200 200 302
POST   c/<slug:slug>/samples/new/                                     404 403 422 422 302
GET    c/<slug:slug>/rounds/                                          404 403 200 200 302
GET    c/<slug:slug>/rounds/new/                                      404 403 403 200 302
POST   c/<slug:slug>/rounds/new/                                      404 403 403 200 302
GET    c/<slug:slug>/runs/                                            404 403 200 200 302
GET    c/<slug:slug>/runs/<uuid:uuid>/                                404 403 200 200 302
POST   c/<slug:slug>/runs/<uuid:uuid>/                                404 403 422 422 302
GET    c/<slug:slug>/runs/<uuid:uuid>/file/                           404 403 200 200 302
GET    c/<slug:slug>/runs/new/                                        404 403 200 200 302
POST   c/<slug:slug>/runs/new/                                        404 403 422 422 302
GET    c/<slug:slug>/scores/                                          404 403 200 200 302
GET    c/<slug:slug>/scores/new/                                      404 403 200 200 302
POST   c/<slug:slug>/scores/new/                                      404 403 422 422 302
GET    c/<slug:slug>/scores/history/                                  404 403 200 200 302
GET    c/<slug:slug>/scores/<uuid:uuid>/                              404 403 200 200 302
GET    c/<slug:slug>/scores/compare/                                  404 403 200 200 302
GET    c/<slug:slug>/scores/query/                                    404 403 302 302 302
GET    c/<slug:slug>/scores/reuse/                                    404 403 200 200 302
GET    c/<slug:slug>/scores/turning/                                  404 403 200 200 302
POST   c/<slug:slug>/scores/turning/                                  404 403 403 422 302
GET    c/<slug:slug>/settings/                                        404 403 403 200 302
POST   c/<slug:slug>/settings/                                        404 403 403 422 302
GET    c/<slug:slug>/snapshots/                                       404 403 200 200 302
GET    c/<slug:slug>/snapshots/compare/                               404 403 200 200 302
GET    c/<slug:slug>/snapshots/new/                                   404 403 403 200 302
POST   c/<slug:slug>/snapshots/new/                                   404 403 403 422 302
GET    c/<slug:slug>/snapshots/new/changes/                           404 403 403 200 302
GET    c/<slug:slug>/snapshots/new/stale/                             404 403 403 200 302
GET    c/<slug:slug>/start/                                           404 403 403 200 302
POST   c/<slug:slug>/start/                                           404 403 403 422 302
GET    c/<slug:slug>/strata/                                          404 403 200 200 302
POST   c/<slug:slug>/strata/                                          404 403 403 422 302
GET    c/new/                                                         403 403 200 200 302
POST   c/new/                                                         403 403 422 422 302
GET    find/                                                          200 200 200 200 302
GET    guidelines/<uuid:uuid>/                                        404 200 200 200 302
GET    guidelines/<uuid:uuid>/file/                                   404 200 200 200 302
GET    help/                                                          200 200 200 200 200
GET    help/<path:name>/                                              200 200 200 200 200
GET    help-files/<path:name>                                         200 200 200 200 200
POST   invitations/<uuid:uuid>/                                       302 404 404 404 302
GET    invite/                                                        200 200 200 200 200
POST   invite/                                                        422 422 422 422 422
GET    jobs/<uuid:uuid>/                                              404 403 200 200 302
POST   jobs/<uuid:uuid>/cancel/                                       404 403 302 302 302
GET    keys/                                                          200 200 200 200 302
POST   keys/                                                          302 302 302 302 302
GET    login/                                                         302 302 302 302 200
POST   login/                                                         302 302 302 302 422
POST   logout/                                                        302 302 302 302 302
GET    password/                                                      200 200 200 200 302
POST   password/                                                      422 422 422 422 302
GET    rounds/<uuid:uuid>/                                            404 302 302 302 302
GET    rounds/<uuid:uuid>/agreement/                                  404 403 200 200 302
GET    rounds/<uuid:uuid>/calibrate/                                  404 302 403 302 302
POST   rounds/<uuid:uuid>/calibrate/                                  404 302 403 302 302
GET    rounds/<uuid:uuid>/calibration/                                404 403 403 200 302
POST   rounds/<uuid:uuid>/calibration/                                404 403 403 422 302
POST   rounds/<uuid:uuid>/close/                                      404 403 403 302 302
POST   rounds/<uuid:uuid>/reopen/                                     404 403 403 302 302
GET    rounds/<uuid:uuid>/conflicts/                                  404 403 403 200 302
GET    rounds/<uuid:uuid>/conflicts/by-rule/                          404 403 403 200 302
POST   rounds/<uuid:uuid>/conflicts/by-rule/                          404 403 403 422 302
POST   rounds/<uuid:uuid>/conflicts/by-rule/<uuid:act>/undo/          404 403 403 302 302
GET    rounds/<uuid:uuid>/conflicts/keyboard/                         404 403 403 200 302
POST   rounds/<uuid:uuid>/conflicts/keyboard/                         404 403 403 302 302
POST   rounds/<uuid:uuid>/conflicts/keyboard/next/                    404 403 403 200 401
GET    rounds/<uuid:uuid>/conflicts/<uuid:pair>/                      404 403 403 200 302
POST   rounds/<uuid:uuid>/conflicts/<uuid:pair>/                      404 403 403 422 302
POST   rounds/<uuid:uuid>/conflicts/<uuid:pair>/example/              404 403 403 302 302
GET    rounds/<uuid:uuid>/discovery/                                  404 403 200 200 302
POST   rounds/<uuid:uuid>/gate/                                       404 403 403 302 302
POST   rounds/<uuid:uuid>/rejudge/                                    404 403 403 302 302
POST   rounds/<uuid:uuid>/invite/                                     404 403 403 302 302
POST   rounds/<uuid:uuid>/open/                                       404 403 403 302 302
POST   rounds/<uuid:uuid>/join/                                       404 302 403 302 302
POST   rounds/<uuid:uuid>/release/                                    404 302 403 302 302
GET    rounds/<uuid:uuid>/judge/                                      404 302 302 302 302
GET    rounds/<uuid:uuid>/progress/                                   404 403 200 200 302
GET    rounds/<uuid:uuid>/quality/                                    404 403 403 200 302
GET    rounds/<uuid:uuid>/quality/<str:rater>/                        404 403 403 200 302
POST   rounds/<uuid:uuid>/quality/<str:rater>/alarms/<str:check>/     404 403 403 302 302
GET    rounds/<uuid:uuid>/quality/<str:rater>/judgments/              404 403 403 200 302
POST   rounds/<uuid:uuid>/quality/<str:rater>/let-pass/               404 403 403 302 302
POST   rounds/<uuid:uuid>/quality/<str:rater>/pause/                  404 403 403 302 302
GET    rounds/<uuid:uuid>/quality/<str:rater>/requeue/                404 403 403 200 302
POST   rounds/<uuid:uuid>/quality/<str:rater>/requeue/                404 403 403 422 302
POST   rounds/<uuid:uuid>/quality/<str:rater>/resume/                 404 403 403 302 302
GET    rounds/<uuid:uuid>/rate/                                       404 200 403 403 302
GET    rounds/<uuid:uuid>/raters/                                     404 403 200 200 302
POST   rounds/<uuid:uuid>/rate/                                       404 422 403 403 302
POST   rounds/<uuid:uuid>/rate/next/                                  404 200 403 403 401
GET    rounds/<uuid:uuid>/rate/last/                                  404 200 403 403 302
GET    rounds/<uuid:uuid>/settled/                                    404 200 403 200 302
GET    rounds/<uuid:uuid>/settings/                                   404 403 403 200 302
POST   rounds/<uuid:uuid>/settings/                                   404 403 403 302 302
POST   rounds/<uuid:uuid>/refill/                                     404 403 403 302 302
GET    rounds/<uuid:uuid>/unrateable/                                 404 403 403 200 302
GET    snapshots/<uuid:uuid>/                                         404 403 200 200 302
GET    snapshots/<uuid:uuid>/export/<str:format>/                     404 403 200 200 302
GET    c/<slug:slug>/prompts/                                         404 403 200 200 302
GET    c/<slug:slug>/prompts/new/                                     404 403 403 200 302
POST   c/<slug:slug>/prompts/new/                                     404 403 403 422 302
GET    c/<slug:slug>/providers/                                       404 403 403 200 302
GET    c/<slug:slug>/providers/new/                                   404 403 403 200 302
POST   c/<slug:slug>/providers/new/                                   404 403 403 422 302
GET    c/<slug:slug>/providers/<uuid:uuid>/                           404 403 403 200 302
POST   c/<slug:slug>/providers/<uuid:uuid>/                           404 403 403 422 302
POST   c/<slug:slug>/providers/<uuid:uuid>/try/                       404 403 403 302 302
POST   c/<slug:slug>/providers/<uuid:uuid>/remove/                    404 403 403 302 302
GET    prompts/<uuid:uuid>/                                           404 403 200 200 302
GET    rounds/<uuid:uuid>/battles/                                    404 403 403 200 302
GET    rounds/<uuid:uuid>/battles/new/                                404 403 403 200 302
POST   rounds/<uuid:uuid>/battles/new/                                404 403 403 422 302
GET    rounds/<uuid:uuid>/battles/import/                             404 403 403 200 302
POST   rounds/<uuid:uuid>/battles/import/                             404 403 403 422 302
GET    rounds/<uuid:uuid>/battles/<uuid:run>/                         404 403 403 200 302
GET    rounds/<uuid:uuid>/battles/<uuid:run>/export/                  404 403 403 200 302
GET    rounds/<uuid:uuid>/battles/<uuid:run>/canaries/                404 403 403 200 302
GET    rounds/<uuid:uuid>/battles/<uuid:run>/queries/<uuid:query>/    404 403 403 200 302
POST   rounds/<uuid:uuid>/battles/<uuid:run>/pause/                   404 403 403 302 302
POST   rounds/<uuid:uuid>/battles/<uuid:run>/go-on/                   404 403 403 302 302
POST   rounds/<uuid:uuid>/battles/<uuid:run>/further/                 404 403 403 302 302
POST   rounds/<uuid:uuid>/battles/<uuid:run>/grades/                  404 403 403 302 302
GET    rounds/<uuid:uuid>/judges/                                     404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/new/                                 404 403 403 200 302
POST   rounds/<uuid:uuid>/judges/new/                                 404 403 403 422 302
GET    rounds/<uuid:uuid>/judges/routing/                             404 403 403 200 302
POST   rounds/<uuid:uuid>/judges/routing/                             404 403 403 302 302
GET    rounds/<uuid:uuid>/judges/<uuid:judge>/                        404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/<uuid:judge>/answers/                404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/              404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/<uuid:judge>/ledger/                 404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/<uuid:judge>/labels/                 404 403 403 200 302
GET    rounds/<uuid:uuid>/judges/pairs/                               404 403 403 200 302
POST   rounds/<uuid:uuid>/judges/<uuid:judge>/pause/                  404 403 403 302 302
POST   rounds/<uuid:uuid>/judges/<uuid:judge>/go-on/                  404 403 403 302 302
POST   rounds/<uuid:uuid>/judges/<uuid:judge>/accept/                 404 403 403 302 302
GET    tokens/                                                        200 200 200 200 302
POST   tokens/                                                        422 422 422 422 302
POST   tokens/<uuid:uuid>/revoke/                                     404 404 404 302 302
GET    c/<slug:slug>/files/<slug:kind>/                               404 403 200 200 302
POST   c/<slug:slug>/files/<slug:kind>/                               404 403 302 302 302
GET    uploads/<uuid:uuid>/                                           404 403 403 200 302
POST   uploads/<uuid:uuid>/                                           404 403 403 302 302
GET    uploads/<uuid:uuid>/read/                                      404 403 403 200 302
POST   uploads/<uuid:uuid>/read/                                      404 403 403 409 302
POST   uploads/<uuid:uuid>/throw-away/                                404 403 403 302 302
GET    api/docs/                                                      200 200 200 200 200
GET    api/schema/                                                    200 200 200 200 200
GET    api/v1/collections/                                            200 200 200 200 401
POST   api/v1/collections/                                            403 403 400 400 401
GET    api/v1/collections/<slug:slug>/                                404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/                                404 403 403 200 401
GET    api/v1/collections/<slug:slug>/clicks/                         404 403 200 200 401
POST   api/v1/collections/<slug:slug>/clicks/                         404 403 403 400 401
GET    api/v1/collections/<slug:slug>/clicks/<uuid:uuid>/             404 403 200 200 401
POST   api/v1/collections/<slug:slug>/clicks/<uuid:uuid>/grades/      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/providers/                      404 403 403 200 401
POST   api/v1/collections/<slug:slug>/providers/                      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/providers/<uuid:uuid>/          404 403 403 200 401
PATCH  api/v1/collections/<slug:slug>/providers/<uuid:uuid>/          404 403 403 400 401
DELETE api/v1/collections/<slug:slug>/providers/<uuid:uuid>/          404 403 403 204 401
POST   api/v1/collections/<slug:slug>/providers/<uuid:uuid>/try/      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/prompts/                        404 403 200 200 401
POST   api/v1/collections/<slug:slug>/prompts/                        404 403 403 400 401
POST   api/v1/collections/<slug:slug>/prompts/try/                    404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/battles/                             404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/battles/                             404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/battles/import/                      404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/                  404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/answers/          404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/canaries/         404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/scores/           404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/pause/            404 403 403 409 401
POST   api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/go-on/            404 403 403 409 401
POST   api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/further/          404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/battles/<uuid:run>/grades/           404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/judges/                              404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/judges/                              404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/judges/routing/                      404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/judges/routing/                      404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/                 404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/accept/          404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/accept/          404 403 403 400 401
DELETE api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/accept/          404 403 403 409 401
POST   api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/accept/draft/    404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/answers/         404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/labels/          404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/effect/          404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/       404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/ledger/          404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/people/          404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/pause/           404 403 403 404 401
POST   api/v1/rounds/<uuid:uuid>/judges/<uuid:judge>/go-on/           404 403 403 404 401
GET    api/v1/collections/<slug:slug>/webhooks/                       404 403 403 200 401
POST   api/v1/collections/<slug:slug>/webhooks/                       404 403 403 400 401
GET    api/v1/collections/<slug:slug>/webhooks/<uuid:uuid>/           404 403 403 200 401
PATCH  api/v1/collections/<slug:slug>/webhooks/<uuid:uuid>/           404 403 403 200 401
DELETE api/v1/collections/<slug:slug>/webhooks/<uuid:uuid>/           404 403 403 204 401
POST   api/v1/collections/<slug:slug>/webhooks/<uuid:uuid>/test/      404 403 403 200 401
GET    api/v1/collections/<slug:slug>/webhooks/<uuid:uuid>/deliveries/ 404 403 403 200 401
GET    api/v1/notices/                                                200 200 200 200 401
POST   api/v1/notices/read/                                           200 200 200 200 401
POST   api/v1/notices/<uuid:uuid>/read/                               404 404 404 200 401
GET    api/v1/collections/<slug:slug>/connectors/                     404 403 200 200 401
POST   api/v1/collections/<slug:slug>/connectors/                     404 403 400 400 401
GET    api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/         404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/         404 403 400 400 401
DELETE api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/         404 403 204 204 401
POST   api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/try/     404 403 400 400 401
GET    api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/fetches/ 404 403 200 200 401
POST   api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/fetches/ 404 403 400 400 401
POST   api/v1/collections/<slug:slug>/connectors/<uuid:uuid>/fetches/<uuid:fetch>/go-on/ 404 403 404 404 401
GET    api/v1/collections/<slug:slug>/declarations/                   404 403 200 200 401
POST   api/v1/collections/<slug:slug>/declarations/                   404 403 403 400 401
DELETE api/v1/collections/<slug:slug>/declarations/<uuid:uuid>/       404 403 403 204 401
GET    api/v1/collections/<slug:slug>/documents/                      404 403 200 200 401
POST   api/v1/collections/<slug:slug>/documents/                      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/freshness/                      404 403 200 200 401
POST   api/v1/collections/<slug:slug>/freshness/                      404 403 400 400 401
POST   api/v1/collections/<slug:slug>/freshness/check/                404 403 202 202 401
POST   api/v1/collections/<slug:slug>/freshness/pool/                 404 403 403 400 401
GET    api/v1/collections/<slug:slug>/decisions/                      404 403 200 200 401
POST   api/v1/collections/<slug:slug>/decisions/                      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/decisions/<uuid:uuid>/          404 403 200 200 401
POST   api/v1/collections/<slug:slug>/decisions/<uuid:uuid>/lists/next/ 404 409 200 200 401
POST   api/v1/collections/<slug:slug>/decisions/<uuid:uuid>/preferences/ 404 400 400 400 401
DELETE api/v1/collections/<slug:slug>/decisions/<uuid:uuid>/preferences/ 404 409 409 409 401
GET    api/v1/collections/<slug:slug>/decisions/<uuid:uuid>/trace/    404 403 200 200 401
GET    api/v1/collections/<slug:slug>/gates/                          404 403 200 200 401
POST   api/v1/collections/<slug:slug>/gates/                          404 403 400 400 401
GET    api/v1/collections/<slug:slug>/gates/<uuid:uuid>/              404 403 200 200 401
GET    api/v1/collections/<slug:slug>/guidelines/                     404 403 200 200 401
POST   api/v1/collections/<slug:slug>/guidelines/                     404 403 403 400 401
GET    api/v1/collections/<slug:slug>/guidelines/<int:number>/        404 403 200 200 401
GET    api/v1/collections/<slug:slug>/guidelines/examples/            404 403 403 200 401
POST   api/v1/collections/<slug:slug>/guidelines/examples/            404 403 403 400 401
DELETE api/v1/collections/<slug:slug>/guidelines/examples/<uuid:uuid>/ 404 403 403 204 401
GET    api/v1/collections/<slug:slug>/invite-links/                   404 403 403 200 401
POST   api/v1/collections/<slug:slug>/invite-links/                   404 403 403 201 401
DELETE api/v1/collections/<slug:slug>/invite-links/<uuid:uuid>/       404 403 403 204 401
GET    api/v1/collections/<slug:slug>/members/                        404 403 200 200 401
POST   api/v1/collections/<slug:slug>/members/                        404 403 403 400 401
GET    api/v1/collections/<slug:slug>/invitations/                    404 403 403 200 401
DELETE api/v1/collections/<slug:slug>/invitations/<uuid:uuid>/        404 403 403 204 401
GET    api/v1/collections/<slug:slug>/pools/                          404 403 200 200 401
POST   api/v1/collections/<slug:slug>/pools/                          404 403 403 400 401
GET    api/v1/collections/<slug:slug>/pools/<uuid:uuid>/duplicates/  404 403 200 200 401
POST   api/v1/collections/<slug:slug>/pools/<uuid:uuid>/duplicates/  404 403 403 400 401
GET    api/v1/collections/<slug:slug>/judgments/                      404 403 200 200 401
POST   api/v1/collections/<slug:slug>/judgments/                      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/bundles/                        404 403 200 200 401
POST   api/v1/collections/<slug:slug>/bundles/                        404 403 403 400 401
GET    api/v1/collections/<slug:slug>/qrels/                          404 403 200 200 401
POST   api/v1/collections/<slug:slug>/qrels/                          404 403 403 400 401
GET    api/v1/collections/<slug:slug>/members/<str:username>/         404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/members/<str:username>/         404 403 403 200 401
DELETE api/v1/collections/<slug:slug>/members/<str:username>/         404 403 403 204 401
GET    api/v1/collections/<slug:slug>/queries/                        404 403 200 200 401
POST   api/v1/collections/<slug:slug>/queries/                        404 403 403 400 401
GET    api/v1/collections/<slug:slug>/queries/<uuid:uuid>/            404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/queries/<uuid:uuid>/            404 403 403 400 401
POST   api/v1/collections/<slug:slug>/queries/drafts/                 404 403 403 200 401
GET    api/v1/collections/<slug:slug>/query-groups/                   404 403 200 200 401
POST   api/v1/collections/<slug:slug>/query-groups/                   404 403 403 400 401
GET    api/v1/collections/<slug:slug>/query-groups/<uuid:uuid>/       404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/query-groups/<uuid:uuid>/       404 403 403 200 401
DELETE api/v1/collections/<slug:slug>/query-groups/<uuid:uuid>/       404 403 403 204 401
GET    api/v1/collections/<slug:slug>/query-groups/proposals/         404 403 200 200 401
POST   api/v1/collections/<slug:slug>/query-groups/proposals/         404 403 403 400 401
GET    api/v1/collections/<slug:slug>/query-logs/                     404 403 200 200 401
POST   api/v1/collections/<slug:slug>/query-logs/                     404 403 403 400 401
POST   api/v1/collections/<slug:slug>/query-logs/<uuid:uuid>/draw/    404 403 403 201 401
POST   api/v1/collections/<slug:slug>/answer-rounds/                  404 403 403 400 401
GET    api/v1/collections/<slug:slug>/rag/samples/                    404 403 200 200 401
POST   api/v1/collections/<slug:slug>/rag/samples/                    404 403 400 400 401
POST   api/v1/collections/<slug:slug>/rag/samples/from-collection/    404 403 400 400 401
GET    api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/        404 403 200 200 401
GET    api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/file/   404 403 200 200 401
GET    api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/scorecards/ 404 403 200 200 401
POST   api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/scorecards/ 404 403 202 202 401
GET    api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/people/ 404 403 200 200 401
GET    api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/ 404 403 404 404 401
POST   api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/ 404 403 403 400 401
POST   api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/pause/ 404 403 403 404 401
POST   api/v1/collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/go-on/ 404 403 403 404 401
GET    api/v1/collections/<slug:slug>/rag/outputs/                    404 403 200 200 401
POST   api/v1/collections/<slug:slug>/rag/outputs/                    404 403 400 400 401
GET    api/v1/collections/<slug:slug>/rag/outputs/<uuid:uuid>/        404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/rag/outputs/<uuid:uuid>/        404 403 400 400 401
GET    api/v1/collections/<slug:slug>/rag/outputs/<uuid:uuid>/file/   404 403 200 200 401
GET    api/v1/collections/<slug:slug>/rounds/                         404 403 200 200 401
POST   api/v1/collections/<slug:slug>/rounds/                         404 403 403 400 401
GET    api/v1/collections/<slug:slug>/runs/                           404 403 200 200 401
POST   api/v1/collections/<slug:slug>/runs/                           404 403 400 400 401
GET    api/v1/collections/<slug:slug>/runs/<uuid:uuid>/               404 403 200 200 401
PATCH  api/v1/collections/<slug:slug>/runs/<uuid:uuid>/               404 403 400 400 401
GET    api/v1/collections/<slug:slug>/runs/<uuid:uuid>/export/<str:run_format>/ 404 403 200 200 401
GET    api/v1/collections/<slug:slug>/runs/<uuid:uuid>/health/        404 403 200 200 401
GET    api/v1/collections/<slug:slug>/scores/                         404 403 200 200 401
POST   api/v1/collections/<slug:slug>/scores/                         404 403 400 400 401
GET    api/v1/collections/<slug:slug>/scores/compare/                 404 403 200 200 401
GET    api/v1/collections/<slug:slug>/scores/history/                 404 403 200 200 401
GET    api/v1/collections/<slug:slug>/scores/reuse/                   404 403 200 200 401
GET    api/v1/collections/<slug:slug>/scores/turning/                 404 403 200 200 401
GET    api/v1/collections/<slug:slug>/snapshots/                      404 403 200 200 401
POST   api/v1/collections/<slug:slug>/snapshots/                      404 403 403 400 401
GET    api/v1/collections/<slug:slug>/snapshots/compare/              404 403 400 400 401
POST   api/v1/collections/<slug:slug>/snapshots/preview/              404 403 403 400 401
GET    api/v1/collections/<slug:slug>/strata/                         404 403 200 200 401
POST   api/v1/collections/<slug:slug>/strata/                         404 403 403 400 401
POST   api/v1/collections/<slug:slug>/uploads/                        404 403 400 400 401
GET    api/v1/collections/<slug:slug>/uploads/<uuid:uuid>/            404 403 404 200 401
PATCH  api/v1/collections/<slug:slug>/uploads/<uuid:uuid>/            404 403 404 400 401
DELETE api/v1/collections/<slug:slug>/uploads/<uuid:uuid>/            404 403 404 204 401
GET    api/v1/jobs/<uuid:uuid>/                                       404 403 200 200 401
POST   api/v1/jobs/<uuid:uuid>/cancel/                                404 403 200 200 401
GET    api/v1/rounds/<uuid:uuid>/                                     404 403 200 200 401
GET    api/v1/rounds/<uuid:uuid>/raters/                              404 403 200 200 401
PATCH  api/v1/rounds/<uuid:uuid>/                                     404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/agreement/                           404 403 200 200 401
POST   api/v1/rounds/<uuid:uuid>/batch/                               404 200 403 403 401
GET    api/v1/rounds/<uuid:uuid>/calibration/                         404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/close/                               404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/reopen/                              404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/resolutions/                         404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/resolutions/<uuid:client_id>/undo/   404 403 403 404 401
POST   api/v1/collections/<slug:slug>/archive/                        404 403 403 400 401
POST   api/v1/collections/<slug:slug>/restore/                        404 403 403 400 401
POST   api/v1/collections/<slug:slug>/delete/                         404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/conflicts/                           404 403 403 200 401
GET    api/v1/rounds/<uuid:uuid>/conflicts/by-rule/                   404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/conflicts/by-rule/                   404 403 403 409 401
POST   api/v1/rounds/<uuid:uuid>/conflicts/by-rule/<uuid:act>/undo/   404 403 403 404 401
POST   api/v1/rounds/<uuid:uuid>/conflicts/<uuid:pair>/resolve/       404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/conflicts/<uuid:pair>/settle/        404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/join/                                404 200 403 403 401
POST   api/v1/rounds/<uuid:uuid>/release/                             404 200 403 200 401
GET    api/v1/rounds/<uuid:uuid>/gold/                                404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/gold/                                404 403 403 400 401
DELETE api/v1/rounds/<uuid:uuid>/gold/<uuid:gold_pair>/               404 403 403 404 401
GET    api/v1/rounds/<uuid:uuid>/quality/                             404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/raters/<str:rater>/alarms/<str:check>/ 404 403 403 400 401
DELETE api/v1/rounds/<uuid:uuid>/raters/<str:rater>/alarms/<str:check>/ 404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/raters/<str:rater>/judgments/        404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/raters/<str:rater>/let-pass/         404 403 403 200 401
POST   api/v1/rounds/<uuid:uuid>/raters/<str:rater>/pause/            404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/raters/<str:rater>/requeue/          404 403 403 400 401
POST   api/v1/rounds/<uuid:uuid>/raters/<str:rater>/resume/           404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/judgments/                           404 200 403 403 401
POST   api/v1/rounds/<uuid:uuid>/judgments/                           404 400 403 400 401
GET    api/v1/rounds/<uuid:uuid>/settled/                             404 200 403 200 401
POST   api/v1/rounds/<uuid:uuid>/judgments/<uuid:client_id>/undo/     404 200 403 404 401
POST   api/v1/rounds/<uuid:uuid>/open/                                404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/progress/                            404 200 200 200 401
POST   api/v1/rounds/<uuid:uuid>/rejudge/                             404 403 403 409 401
GET    api/v1/rounds/<uuid:uuid>/refill/                              404 403 404 404 401
POST   api/v1/rounds/<uuid:uuid>/refill/                              404 403 403 400 401
GET    api/v1/rounds/<uuid:uuid>/unrateable/                          404 403 403 200 401
GET    api/v1/snapshots/<uuid:uuid>/                                  404 403 200 200 401
GET    api/v1/snapshots/<uuid:uuid>/export/<str:name>/                404 403 200 200 401
GET    api/v1/snapshots/<uuid:uuid>/manifest/                         404 403 200 200 401
GET    api/v1/tokens/                                                 200 200 200 200 401
GET    api/v1/invitations/                                            200 200 200 200 401
POST   api/v1/invitations/<uuid:uuid>/                                201 404 404 404 401
DELETE api/v1/invitations/<uuid:uuid>/                                204 404 404 404 401
POST   api/v1/tokens/                                                 400 400 400 400 401
DELETE api/v1/tokens/<uuid:uuid>/                                     404 404 404 204 401
"""


class Line(NamedTuple):
    """One line of the table."""

    method: str
    route: str
    expected: tuple[int, ...]


LINES = [
    Line(parts[0], "" if parts[1] == "/" else parts[1], tuple(map(int, parts[2:])))
    for parts in (line.split() for line in TABLE.strip().splitlines())
]


def address(route: str, world: World) -> str:
    """The route with the world's things in it: which one, the word before the place says."""
    things = {
        "rounds": world.closed if "<uuid:pair>" in route else world.round,
        "snapshots": world.snapshot,
        "jobs": world.job,
        "uploads": world.session if route.startswith("api/") else world.upload,
        "gates": world.verdict,
        "decisions": world.decision,
        "guidelines": world.version,
        "examples": world.example,
        "tokens": world.token,
        "members": world.engineer,
        "links": world.link,
        "invite-links": world.link,
        "invitations": world.invitation,
        "queries": world.conflict.query,
        "groups": world.group,
        "query-groups": world.group,
        "documents": world.conflict.document,
        "runs": world.runs[0],
        "query-logs": world.log,
        "clicks": world.clicks,
        "connectors": world.connector,
        "webhooks": world.webhook,
        "notices": world.notice,
        "providers": world.provider,
        "prompts": world.prompt,
        "pools": world.pool,
        "scores": world.scoring,
        "rag": world.samples,
        "samples": world.samples,
        "systems": world.system,
        "outputs": world.system,
        "declare": world.declaration,
        "declarations": world.declaration,
    }
    filled = route.replace("<slug:slug>", world.collection.slug).replace("<slug:kind>", "runs")
    filled = filled.replace("<str:kind>/<uuid:uuid>", f"run/{world.runs[0].uuid}")
    filled = re.sub(r"([\w-]+)/<uuid:uuid>", lambda match: f"{match[1]}/{things[match[1]].uuid}", filled)
    filled = filled.replace("<int:number>", str(world.version.number))
    filled = filled.replace("<uuid:fetch>", str(world.connector.uuid))  # is none: they are made by jobs
    lead = world.notice.user
    filled = filled.replace("unsubscribe/<str:token>", f"unsubscribe/{preferences.unsubscribe_token(lead)}")
    address = signing.dumps([str(lead.uuid), "lena@example.com"], salt=preferences.ADDRESS_SALT)
    filled = filled.replace("address/<str:token>", f"address/{address}")
    filled = filled.replace("<uuid:delivery>", str(world.webhook.deliveries.earliest("pk").uuid))
    filled = filled.replace("<uuid:pair>", str(world.conflict.uuid))
    filled = filled.replace("<uuid:sample>", str(world.samples.samples.get(sample_id="a").uuid))
    if "/rag/" in filled:
        filled = filled.replace("<str:name>", "samples.jsonl")
    filled = filled.replace("help/<path:name>", "help/rounds").replace("<path:name>", "pictures/station-list.png")
    filled = filled.replace("<uuid:judge>", str(world.judge.uuid))
    filled = filled.replace("<uuid:run>", str(world.battles.uuid))
    filled = filled.replace("<uuid:query>", str(world.conflict.query.uuid))
    filled = filled.replace("<uuid:gold_pair>", str(world.conflict.uuid))  # is none: the round has no known grade
    filled = filled.replace("<str:rater>", "r01").replace("<str:username>", "rudi").replace("<str:check>", "gold")
    filled = filled.replace("<uuid:act>", str(world.conflict.uuid))  # is none: no conflict was resolved by rule
    filled = filled.replace("<uuid:client_id>", str(world.answer.client_id))
    filled = filled.replace("<str:run_format>", "trec-run")
    return "/" + re.sub(r"<str:(format|name)>", "trec-qrels", filled)


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any, outsider: Any, settings: Any) -> World:
    settings.INVITE_LINKS = True
    create_collection(actor=outsider, slug="elsewhere", name="Elsewhere")
    outsider.date_joined -= timedelta(days=1)  # before they were asked to join
    outsider.save()
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


@pytest.fixture
def ask(
    world: World, client_of: Callable[[Any], Any], outsider: Any, rater: Any, engineer: Any, lead: Any
) -> Callable[[str, str], tuple[int, ...]]:
    """What each of WHO is answered; nothing that they do stays."""
    clients = [client_of(person) for person in (outsider, rater, engineer, lead, None)]

    def answers(method: str, route: str) -> tuple[int, ...]:
        path = address(route, world)
        return tuple(_status(client, method, path) for client in clients)

    return answers


def _status(client: Any, method: str, path: str) -> int:
    cookies = dict(client.cookies)
    # A page's form takes a POST without any field for one that was not sent.
    api = path.startswith("/api/")
    body, kind = ("", "application/json") if api else ("sent=1", "application/x-www-form-urlencoded")
    with transaction.atomic():
        response = client.generic(method, path, body, content_type=kind)
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.update(cookies)
    if response.streaming:
        b"".join(response.streaming_content)  # closes the file
    return response.status_code


def test_every_route_is_in_the_table() -> None:
    known = {line.route for line in LINES}
    missing = sorted({route for route, _ in routes() if not route.startswith("admin/")} - known)
    assert missing == []


def test_the_table_names_no_route_that_is_gone() -> None:
    assert sorted({line.route for line in LINES} - {route for route, _ in routes()}) == []


def test_every_method_of_the_api_is_in_the_table() -> None:
    assert api_calls() == {(line.method, line.route) for line in LINES if line.route.startswith("api/v1/")}


@pytest.mark.slow
@pytest.mark.parametrize("area", sorted({line.route.split("/")[0] for line in LINES}))
def test_every_role_gets_the_status_of_the_table(area: str, ask: Callable[[str, str], tuple[int, ...]]) -> None:
    lines = [line for line in LINES if line.route.split("/")[0] == area]
    statuses = [line._replace(expected=ask(line.method, line.route)) for line in lines]
    assert statuses == lines


def test_the_admin_refuses_every_role(client_of: Callable[[Any], Any], lead: Any, outsider: Any) -> None:
    paths = {
        "/" + re.sub(r"<[^>]+>", "1", route)
        for route, _ in routes()
        if route.startswith("admin/") and "(" not in route and route not in ("admin/login/", "admin/logout/")
    }
    assert len(paths) > 10
    for person in (lead, outsider, None):
        client = client_of(person)
        let_in = [path for path in sorted(paths) if client.get(path).status_code not in (302, 404)]
        assert let_in == []
