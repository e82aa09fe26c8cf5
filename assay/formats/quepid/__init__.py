"""Files of Quepid: books, cases and their exports."""
