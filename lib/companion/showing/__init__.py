"""What is seen: figures and their words, explorers.

A home folder that cannot be written to is no matter for a page. Matplotlib then keeps its cache in a temporary folder,
and says so on the error stream, where it would be an output of a chapter's first cell: it is asked here not to.
"""

import logging

WIDE_ONLY = "COSTOFPRIVACY_WIDE_ONLY"  # in the environment: 1 leaves the forms for narrow screens out
WORDS = "plate"  # the key of a picture's words in the metadata of a cell's output
ABOUT_ITS_CACHE = ("mkdir -p failed for path", "Matplotlib created a temporary cache directory")

logging.getLogger("matplotlib").addFilter(lambda record: not str(record.msg).startswith(ABOUT_ITS_CACHE))
