"""What would runs score if some labels were others? A run is matched once and scored under many sets of labels."""
