"""The word pieces: a WordPiece vocabulary of the words of code and documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import WordPieceTrainer

from mgrep_tui.embedding.words import IDENTIFIER, normalise, split_identifier

_ALPHABET = 160  # ASCII and the commonest accents; the rest goes to buckets
_LINE_WORDS = 1_000
_MAX_TIMES = 20_000  # a word's count is cut here, which changes no merge that matters and keeps training short


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each lower-case word of split identifiers stands in the texts."""
    identifiers: Counter[str] = Counter()
    for text in texts:
        identifiers.update(IDENTIFIER.findall(normalise(text)))
    words: Counter[str] = Counter()
    for identifier, times in identifiers.items():
        for word in split_identifier(identifier):
            words[word] += times
    return words


def learn_vocabulary(words: Counter[str], size: int) -> list[str]:
    """`size` pieces, in a fixed order; those that continue a word start with `##`."""

    def lines() -> Iterator[str]:
        line: list[str] = []
        for word, times in sorted(words.items()):
            if times < 3:
                continue
            for _ in range(min(times, _MAX_TIMES)):
                line.append(word)
                if len(line) == _LINE_WORDS:
                    yield " ".join(line)
                    line = []
        yield " ".join(line)

    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.train_from_iterator(
        lines(),
        WordPieceTrainer(vocab_size=size + 1, special_tokens=["[UNK]"], limit_alphabet=_ALPHABET, show_progress=False),
    )
    by_number = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return [piece for piece, _ in by_number if piece != "[UNK]"]
