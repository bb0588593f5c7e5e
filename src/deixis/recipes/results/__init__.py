"""What a recipe yields: derived rows, the printed table, figures, a model card."""
