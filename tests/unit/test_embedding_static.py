"""The static model: its own weights load, are checked, and say what is near."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mgrep_tui.embedding.static import WEIGHTS, StaticModel, load_static
from mgrep_tui.errors import ModelError


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return load_static()


def test_vectors_have_shape_norm_and_type(model: StaticModel) -> None:
    vectors = model.embed_documents(["def open_file(path):\n    return open(path)", "class Socket: pass"])
    assert vectors.shape == (2, model.dimension) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    query = model.embed_query("open a file")
    assert query.shape == (model.dimension,) and query.dtype == np.float32


def test_no_texts_give_no_rows(model: StaticModel) -> None:
    assert model.embed_documents([]).shape == (0, model.dimension)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "}", "\x00\x00", "\ud800", "검색", "ß", "x" * 100_000, "_" * 50, "a_" * 20_000]
)
def test_odd_texts_get_finite_unit_vectors(model: StaticModel, text: str) -> None:
    for vector in (model.embed_query(text), model.embed_documents([text])[0]):
        assert np.isfinite(vector).all() and abs(float(np.linalg.norm(vector)) - 1) < 1e-4


def test_meaning_is_nearer_than_something_else(model: StaticModel) -> None:
    documents = model.embed_documents(
        [
            "def close_connection(self):\n    self.socket.shutdown()\n    self.socket.close()",
            "fn parse_json(input: &str) -> Result<Value, Error> {\n    let mut parser = Parser::new(input);\n    parser.value()\n}",
            "func (p *Pixel) Blend(color Color, alpha float64) Color {\n\treturn color.mix(p.color, alpha)\n}",
        ]
    )
    for place, question in enumerate(
        ["shut down the network connection", "decode a JSON string", "mix two colours with transparency"]
    ):
        assert int(np.argmax(documents @ model.embed_query(question))) == place


def test_words_of_an_unknown_script_find_each_other(model: StaticModel) -> None:
    documents = model.embed_documents(["def 검색_엔진(): return 결과", "def 파일_열기(): return 경로"])
    assert int(np.argmax(documents @ model.embed_query("검색 엔진"))) == 0


def test_an_order_of_documents_changes_nothing(model: StaticModel) -> None:
    texts = ["alpha beta", "gamma", "delta"]
    assert np.array_equal(model.embed_documents(texts)[::-1], model.embed_documents(texts[::-1]))


def test_the_weights_fit_in_the_wheel() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= 12_000_000


def test_damaged_weights_are_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(WEIGHTS, folder)
    content = bytearray((folder / "static.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "static.npz").write_bytes(content)
    with pytest.raises(ModelError, match="damaged") as caught:
        load_static(folder)
    assert caught.value.hint


def test_missing_weights_are_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        load_static(tmp_path)


def test_the_instant_tier_imports_nothing_heavy() -> None:
    heavy = ("torch", "scipy", "tokenizers", "transformers", "sentence_transformers", "mgrep_tui.embedding.training")
    code = (
        "import sys; from mgrep_tui.embedding.static import load_static; load_static().embed_query('a');"
        f"import mgrep_tui.embedding.deep; print([name for name in {heavy} if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
