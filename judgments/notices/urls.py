"""Page and API routes of notices."""

from django.urls import path

from judgments.notices import api, views

urlpatterns = [
    path("notices/", views.notice_list, name="notices"),
    path("notices/read/", views.read_all, name="notices_read"),
    path("notices/<uuid:uuid>/", views.open_notice, name="notice"),
    path("notices/<uuid:uuid>/read/", views.read, name="notice_read"),
    path("notices/preferences/", views.preferences_page, name="notice_preferences"),
    path("notices/preferences/address/", views.change_address, name="notice_address"),
    path("notices/address/<str:token>/", views.confirm_address, name="notice_address_confirm"),
    path("notices/unsubscribe/<str:token>/", views.unsubscribe, name="notice_unsubscribe"),
]

api_urlpatterns = [
    path("notices/", api.Notices.as_view()),
    path("notices/read/", api.ReadNotices.as_view()),
    path("notices/<uuid:uuid>/read/", api.ReadNotice.as_view()),
]
