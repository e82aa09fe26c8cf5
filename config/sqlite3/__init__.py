"""SQLite as Django speaks to it, with turns that many writers get fairly."""
