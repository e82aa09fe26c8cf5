"""Files of umbrela, a machine judge, and of nuggetizer, which checks answers for nuggets of information."""
