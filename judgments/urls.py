"""Which pages does this room answer?"""

from __future__ import annotations

from django.urls import path

from judgments.import_kinds import KINDS
from judgments.views import (
    activity,
    agreement,
    calibrate,
    calibration,
    collections,
    conflict,
    conflicts,
    documents,
    guidelines,
    guidelines_new,
    home,
    imports,
    jobs,
    joining,
    label_sources,
    members,
    pausing,
    quality,
    queries,
    round_progress,
    rounds,
    snapshot_new,
    snapshot_pairs,
    snapshots,
    station,
    station_keys,
    station_script,
    tokens,
)

urlpatterns = [
    # Mine.
    path("", home.home, name="home"),
    path("keys/", station_keys.keys, name="station_keys"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<uuid:uuid>/revoke/", tokens.revoke, name="token_revoke"),
    # The collection and its people.
    path("c/new/", collections.new, name="collection_new"),
    path("c/<slug:slug>/settings/", collections.settings, name="collection_settings"),
    path("c/<slug:slug>/members/", members.member_list, name="members"),
    # The page of a list that one adds to on the spot answers at the address of its form, too.
    path("c/<slug:slug>/members/new/", members.member_list, name="members_new"),
    path("c/<slug:slug>/members/<uuid:uuid>/", members.change, name="member_change"),
    path("c/<slug:slug>/activity/", activity.activity, name="activity"),
    # Queries and documents.
    path("c/<slug:slug>/queries/", queries.query_list, name="queries"),
    path("c/<slug:slug>/queries/<uuid:uuid>/", queries.query, name="query"),
    path("c/<slug:slug>/documents/", documents.document_list, name="documents"),
    path("c/<slug:slug>/documents/<uuid:uuid>/", documents.document, name="document"),
    # Files: every kind in the same way, those of the rooms above too.
    *(
        path(f"c/<slug:slug>/{kind}/new/", imports.new, {"kind": kind}, name=f"{kind.replace('-', '_')}_new")
        for kind in KINDS
    ),
    path("uploads/<uuid:uuid>/", imports.upload, name="upload"),
    path("uploads/<uuid:uuid>/throw-away/", imports.throw_away, name="upload_throw_away"),
    path("c/<slug:slug>/qrels/", label_sources.source_list, name="qrels"),
    # Rounds: progress, agreement, conflicts, and the rater's own page.
    path("c/<slug:slug>/rounds/", rounds.round_list, name="rounds"),
    path("rounds/<uuid:uuid>/", rounds.round_page, name="round"),
    path("rounds/<uuid:uuid>/progress/", round_progress.progress, name="round_progress"),
    path("rounds/<uuid:uuid>/open/", rounds.open_round, name="round_open"),
    path("rounds/<uuid:uuid>/close/", rounds.close_round, name="round_close"),
    path("rounds/<uuid:uuid>/invite/", rounds.invite, name="round_invite"),
    path("rounds/<uuid:uuid>/agreement/", agreement.agreement, name="round_agreement"),
    path("rounds/<uuid:uuid>/gate/", agreement.set_gate, name="round_gate"),
    path("rounds/<uuid:uuid>/rejudge/", agreement.rejudge, name="round_rejudge"),
    path("rounds/<uuid:uuid>/conflicts/", conflicts.conflict_list, name="conflicts"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/", conflict.conflict, name="conflict"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/example/", conflict.example, name="conflict_example"),
    path("rounds/<uuid:uuid>/unrateable/", conflicts.unrateable_list, name="unrateable"),
    path("rounds/<uuid:uuid>/quality/", quality.quality, name="round_quality"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/", quality.rater, name="round_rater"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/pause/", pausing.pause, name="rater_pause"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/resume/", pausing.resume, name="rater_resume"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/let-pass/", pausing.let_pass, name="rater_let_pass"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/requeue/", pausing.requeue, name="rater_requeue"),
    path("rounds/<uuid:uuid>/calibration/", calibration.page, name="calibration"),
    path("rounds/<uuid:uuid>/calibrate/", calibrate.calibrate, name="calibrate"),
    path("rounds/<uuid:uuid>/join/", joining.join, name="round_join"),
    path("rounds/<uuid:uuid>/release/", joining.release, name="round_release"),
    path("rounds/<uuid:uuid>/rate/", station.rate, name="rate"),
    path("rounds/<uuid:uuid>/rate/next/", station_script.next_cards, name="rate_next"),
    path("rounds/<uuid:uuid>/judge/", station.judge, name="judge"),
    # Snapshots.
    path("c/<slug:slug>/snapshots/", snapshots.snapshot_list, name="snapshots"),
    path("c/<slug:slug>/snapshots/new/", snapshot_new.new, name="snapshot_new"),
    path("c/<slug:slug>/snapshots/new/changes/", snapshot_pairs.changes, name="snapshot_changes"),
    path("c/<slug:slug>/snapshots/new/stale/", snapshot_pairs.stale, name="snapshot_stale"),
    path("snapshots/<uuid:uuid>/", snapshots.snapshot, name="snapshot"),
    path("snapshots/<uuid:uuid>/export/<str:format>/", snapshots.export, name="snapshot_export"),
    # Guidelines.
    path("c/<slug:slug>/guidelines/", guidelines.version_list, name="guidelines"),
    path("c/<slug:slug>/guidelines/new/", guidelines_new.new, name="guidelines_new"),
    path("c/<slug:slug>/guidelines/examples/<uuid:uuid>/remove/", guidelines_new.remove_example, name="example_remove"),
    path("guidelines/<uuid:uuid>/", guidelines.version, name="guidelines_version"),
    path("guidelines/<uuid:uuid>/file/", guidelines.file, name="guidelines_file"),
    # Jobs.
    path("c/<slug:slug>/jobs/", jobs.job_list, name="jobs"),
    path("jobs/<uuid:uuid>/", jobs.job, name="job"),
    path("jobs/<uuid:uuid>/cancel/", jobs.cancel, name="job_cancel"),
]
