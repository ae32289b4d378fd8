"""How much this chapter computes and holds."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.newsgroups.experiment import Experiment
from costofprivacy.running.costs import NUMBER, Load

NEWSGROUP_POSTS = 18846


def load(asked: Experiment) -> Load:
    """Time and memory in its parameters; see `costofprivacy.running.costs`."""
    posts = asked.posts or NEWSGROUP_POSTS
    read = 8.0 * posts / NEWSGROUP_POSTS * (1 + len(asked.removals))
    readings = sum(map(len, (asked.prompts, asked.lengths, asked.features, asked.clips, asked.removals)))
    trials = 0.8 * asked.trials * readings * (asked.N / 822) * (asked.D / 30) ** 2 * (2 + asked.noises) / 10
    held = NUMBER * ((asked.N + asked.test_prompts) * (asked.L + 1) * asked.D + 3 * asked.D**4)
    return Load(read + trials, held + 5000.0 * posts, NUMBER * asked.trials * readings * len(asked.T) * asked.noises)
