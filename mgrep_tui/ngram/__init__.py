"""The sparse n-gram index: which blocks of which files can hold a match of a pattern.

Files → `build` (in a child process: `runs`, `merge`, `documents`, `kernels`) → a segment on disk (`layout`) → `segment`, `snapshot`.
Pattern → `syntax` → `plan` → `evaluate` → blocks. `tables` and `grams` are what both sides share: what equal case is, what a gram is.

Why no match is missed
======================

Claim: if a pattern matches inside a line of a file's searchable text, and the text is the one that was indexed, then the block that
holds the line is among `Segment.candidates(plan(pattern))`. What changed since is not the index's to answer: `Snapshot.extra` lists
it.

1. **Text.** The index and the engines see the same bytes: `corpus.decode.searchable` of the file (UTF-16 transcoded, the mark taken
   off, all else untouched). Invalid UTF-8 and NUL are bytes like others. Where an engine works on decoded text instead, U+FFFD
   could match invalid bytes: a literal with U+FFFD claims nothing.

2. **Plan.** For each part of the pattern `plan` keeps sets of literals such that every text that the part matches is one of them,
   or begins and ends with one; each step (concatenation, alternation, repetition) keeps that true, so every literal of the final
   AND/OR tree is somewhere in each match, read as the tree says. Look-around and anchors count as the empty text, which is what
   they add to a match; that a look-around's content is not used only makes the claim weaker. Optional parts add the empty text to
   the set. `x{n,}` claims n copies at its beginning and at its end, never both apart. A part that is not understood matches
   anything; a pattern whose structure is not understood is scanned. `\\w`, `\\d`, `\\s`, `\\p{…}` and `\\b` claim nothing, so an
   engine may read them by ASCII or by Unicode.

3. **Folding.** Let f be the folding: f replaces each well-formed character by the least of its case variants, and leaves every
   other byte. For a literal L (whole characters) at place p of a text T, f(T) holds f(L): UTF-8 is self-synchronising, so a
   character of T that overlaps an end of L would need L to start with a continuation byte or to end inside a character, and it does
   neither; hence f works on L inside T as it works on L alone. If the engine ignores case, the text that it matched is L' with L'
   and L equal but for case, thus f(L') = f(L): the classes of `tables.bin` join whatever Python, RE2 or the backtracking engine
   join (also k with U+212A and s with U+017F). If it does not, L' = L. So one plan serves both, and inline flags do not matter.

4. **Grams.** Whether bytes are a gram depends on these bytes alone (`grams.py`: the weights inside a gram are those of its own
   bigrams, and no gram has more than `CAP` bytes). So each gram of f(L) is a gram of f(T). That GitHub's borders depend on the
   neighbours only matters for *which* grams cover a text; here all grams of the text are indexed, so the query may choose any of
   its own: the maximal ones.

5. **Newlines.** No gram holds a newline, and f never makes or removes one. A literal with a newline is divided there, and its lines
   are asked for separately.

6. **Blocks.** A block is a run of whole lines; a line is never divided between blocks, so a match inside a line has all its
   literals in one block, and blocks may be ANDed. While building, a line longer than a piece is cut into pieces that overlap by 64
   bytes and begin and end at characters; a gram of 6 folded bytes comes from at most 24 raw ones, so it lies whole in one piece.

7. **Matches over several lines** may have literals in different blocks of the file. With `multiline` each list is widened to whole
   files before it is ANDed, and the file is read whole.

8. **Keys.** A gram's posting list is found by a 24-bit hash of it. Grams that share a key share a list: a superset. A key that is
   absent from the table proves that no block has the gram. Lists that are left unread (`LIST_BYTES_PER_BLOCK`) leave a superset,
   too.

9. **Damage.** Offsets are checked before use; what fails raises `IndexDamagedError`, and the index is built anew. Changed bits
   inside a list can be seen only by `Segment.verify`.

`tests/property/test_ngram_*` and `tests/property/fuzz_ngram_long.py` hold this against a scan, `fuzz_engine_long.py` whole searches.
"""
