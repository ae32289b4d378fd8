"""What a number was computed from: the paper's text, its published numbers, or what we find right."""

from enum import StrEnum


class Setting(StrEnum):
    """``printed``: what the paper says; ``published``: what its numbers come from; ``corrected``: what is right."""

    PRINTED = "printed"
    PUBLISHED = "published"
    CORRECTED = "corrected"
