"""Notices: events shown to the people whom they concern, and sent to them by e-mail."""
