"""How does the server ask others: only where its operator allowed, within a time, and with faults that have names?"""
