"""What can be said about judgments that nobody made: what was missed, and whom that would hurt?"""
