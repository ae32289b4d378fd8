"""What good means before privacy enters."""
