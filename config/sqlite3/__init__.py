"""SQLite backend for Django in which concurrent writers get fair turns."""
