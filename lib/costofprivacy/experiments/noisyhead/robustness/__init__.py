"""Theorem 5.1, Remark 5.1, its proof and Figure 4 of arXiv:2504.16000v2."""
