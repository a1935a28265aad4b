"""What may be configured, with the defaults: frozen values, one section each.

Every field that has a `help` entry is a key of the configuration file; the README's table is made from these entries, and a test compares
the two. Sizes are in bytes or megabytes (10^6 bytes) as the name says, times in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints

# Numbers without a range of their own. No timer, counter or thread takes more, and a file that comes with a repository could ask for it.
HIGHEST = 1e9
DAY_S = 86_400.0


def _key(
    default: Any,
    help_text: str,
    *,
    choices: tuple[str, ...] = (),
    is_private: bool = False,
    lowest: float = 0,
    highest: float = HIGHEST,
) -> Any:
    """A field that the configuration file may set; `is_private` keys are refused in a project's file, numbers outside the range in both."""
    return field(
        default=default,
        metadata={"help": help_text, "choices": choices, "private": is_private, "range": (lowest, highest)},
    )


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Which files are searched."""

    max_file_bytes: int = _key(64_000_000, "Larger files are not searched, and listed as skipped.", highest=1e12)
    hidden: bool = _key(False, "Search files and folders whose name starts with a dot.")
    use_gitignore: bool = _key(True, "Leave out what git ignores (files that git tracks are searched all the same).")
    ignore_files: tuple[str, ...] = _key(
        (".ignore", ".mgrepignore"), "Names of further ignore files, later ones winning."
    )
    follow_links: bool = _key(False, "Follow symbolic links that stay inside the root.")


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """How files are cut into chunks.

    The sizes were tried on 14 of the 27 repositories of the retrieval benchmark, one changed at a time (mean NDCG@10, ranking weights as
    they were; less than .005 is no difference):

        target_tokens         100 .898   150 .896   200 .897   250 .898   300 .896   400 .896   600 .896
        max_unit_lines         40 .900    60 .897    80 .901   100 .905   150 .897   200 .898   400 .896
        small_class_methods     5 .900    10 .898    20 .899

    On all 27, `max_unit_lines` of 80, 100, 120 and 200 gave .894, .896, .894 and .892, and with ranking weights learned anew without the
    repository asked 100 and 200 gave .893 and .890, documented functions .593 both: no difference either, so a function of up to 200 lines
    stays whole.
    """

    strategy: str = _key("syntax", "Cut along the syntax tree, or by lines only.", choices=("syntax", "lines"))
    max_file_bytes: int = _key(10_000_000, "Larger files are searched by regular expression only.")
    parse_timeout_s: float = _key(5.0, "A file whose parse takes longer is cut by lines.", highest=600)
    target_tokens: int = _key(250, "Small neighbours are merged up to this size (model tokens, estimated).")
    max_unit_lines: int = _key(200, "Longer functions and classes are split.")
    overlap_lines: int = _key(4, "Lines that the parts of a split unit share.")
    small_class_methods: int = _key(10, "A class with fewer methods that fits is one chunk.")
    preserve_imports: bool = _key(True, "Keep the imports of a file as a chunk of their own.")
    include_comments: bool = _key(True, "Keep the comments before a unit with it.")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How the index is kept."""

    watch: bool = _key(True, "Watch the tree for changes; without, the disk is checked when a search runs.")
    memory_mb: int = _key(192, "Memory for building the n-gram index.", lowest=16, highest=1_000_000)
    workers: int = _key(1, "Child processes that parse and embed.", lowest=1, highest=64)
    ask_above_files: int = _key(200_000, "Ask before a tree outside git with more files than this is indexed.")
    embedding_cache_mb: int = _key(
        2_000, "Size limit of the cache of embeddings that all roots share.", highest=10_000_000
    )


@dataclass(frozen=True, slots=True)
class RegexSettings:
    """How regular expressions are run."""

    case: str = _key(
        "smart", "smart: case counts when the pattern holds a capital letter.", choices=("smart", "yes", "no")
    )
    max_hits: int = _key(20_000, "The screen stops at this many matching lines, and says so.", lowest=1)
    time_limit_s: float = _key(10.0, "A search of the screen ends after this time, and says so.", highest=DAY_S)
    backtracking_limit_s: float = _key(2.0, "Time limit for patterns with look-around or back-references.", highest=600)


@dataclass(frozen=True, slots=True)
class SemanticSettings:
    """How meaning is searched."""

    ratio: float = _key(0.5, "Share of meaning against words, from 0 (words only) to 1.", highest=1)
    top_k: int = _key(100, "Chunks that a search returns.", lowest=1, highest=100_000)
    deep: str = _key(
        "on demand",
        "The transformer: rescore the best hits of a query (on demand), also fill in the rest (background), or off.",
        choices=("off", "on demand", "background"),
    )
    deep_idle_s: float = _key(300.0, "The transformer leaves memory after this time without a query.", highest=DAY_S)
    model: str = _key("", "Another sentence-transformers model, a name or a folder.", is_private=True)
    endpoint: str = _key("", "An OpenAI-compatible endpoint for embeddings. Code is sent there.", is_private=True)
    endpoint_model: str = _key("", "The model to ask that endpoint for.", is_private=True)
    endpoint_batch: int = _key(20, "Texts in one request to the endpoint.", is_private=True, lowest=1, highest=10_000)


@dataclass(frozen=True, slots=True)
class UiSettings:
    """How the screen looks and behaves."""

    theme: str = _key("mgrep-dark", "Colour theme.")
    mode: str = _key("semantic", "Mode at the first start.", choices=("semantic", "regex"))
    debounce_ms: int = _key(100, "Pause in typing before a search starts.", highest=10_000)
    restore: bool = _key(True, "Come back to the last query of this root.")
    mouse: bool = _key(True, "Take the mouse.")
    keys: dict[str, str] = field(
        default_factory=dict,
        metadata={"help": 'Keys by action: `open = "enter"`. See `?` for the ids.', "choices": (), "private": False},
    )


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """How repositories are brought that are opened by their address."""

    max_mb: int = _key(2_000, "A repository that takes more of the disk is not brought.", is_private=True, lowest=1)
    max_files: int = _key(500_000, "Neither is an archive with more files.", is_private=True, lowest=1)
    max_memory_mb: int = _key(
        0, "Memory that bringing one may take; 0 is six tenths of what is free then.", is_private=True, highest=1e7
    )
    refresh_s: float = _key(
        60.0, "On opening, what was refreshed within this time is not refreshed again.", is_private=True
    )


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """Which editor opens a hit."""

    command: str = _key(
        "", "Command or template (`myed --at {line}:{column} {path}`); else $VISUAL, $EDITOR.", is_private=True
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that may be configured."""

    corpus: CorpusSettings = CorpusSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    index: IndexSettings = IndexSettings()
    regex: RegexSettings = RegexSettings()
    semantic: SemanticSettings = SemanticSettings()
    ui: UiSettings = field(default_factory=UiSettings)
    editor: EditorSettings = EditorSettings()
    repositories: RepositorySettings = RepositorySettings()
    # Names chosen by the person, each for some folders and addresses: no fixed keys, and from the person's own file only.
    workspaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration file."""

    section: str
    name: str
    kind: type
    default: Any
    help: str
    choices: tuple[str, ...]
    is_private: bool
    lowest: float
    highest: float


def all_keys() -> tuple[Key, ...]:
    """Every key in the order of the sections, with its type, default and help sentence."""
    found = []
    defaults = Settings()
    for section in fields(Settings):
        values = getattr(defaults, section.name)
        if not is_dataclass(values):
            continue
        hints = get_type_hints(type(values))
        for item in fields(values):
            kind = hints[item.name]
            kind = getattr(kind, "__origin__", kind)
            meta = item.metadata
            default = getattr(values, item.name)
            lowest, highest = meta.get("range", (0, HIGHEST))
            found.append(
                Key(
                    section.name, item.name, kind, default, meta["help"], meta["choices"], meta["private"],
                    lowest, highest,
                )
            )  # fmt: skip
    return tuple(found)
