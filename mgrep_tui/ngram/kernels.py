# The compiler infers the types of kernels from their arguments.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, disable-error-code=assignment
"""The compiled inner loops of building a segment. Only child processes import this module: it loads numba.

Every kernel releases the interpreter's lock, works on arrays that the caller owns and allocates next to nothing. `grams.py` is the
definition that they follow; tests compare the two.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from mgrep_tui.ngram.grams import CAP, KEY_BITS, MULTIPLIER

BUCKETS = 256
"""Keys are divided by their top byte; 16 bits are left, which one counting pass sorts."""

SINGLE = 1 << 31
"""Marks a value of the lookup table that is the one block of its gram instead of an offset."""

SEEN_SLOTS = 1 << 14
"""Slots of the set that drops a block's repeated grams. A block of 6 KB of C has about 3,000 different ones."""

_PROBES = 8
_DEPTH = 8  # a power of two, at least CAP
_NEWLINE = 10
_KEY_SHIFT = np.uint64(64 - KEY_BITS)
_FACTOR = np.uint64(MULTIPLIER)
_LENGTH_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(CAP + 1)], np.uint64)


def kernel(function: Any) -> Any:
    """Compile at the first call, without the interpreter's lock; keep the result on disk if any of numba's folders can be written."""
    try:
        return numba.njit(nogil=True, cache=True, boundscheck=False)(function)
    except RuntimeError:
        return numba.njit(nogil=True, boundscheck=False)(function)


@kernel
def split_blocks(text, start, end, target, starts, lengths, lines):
    """Cut text[start:end] after newlines into blocks of about `target` bytes; a longer line stays whole. Returns how many."""
    count = 0
    at = start
    line = 0
    while at < end:
        left = end - at
        parts = (left + target // 2) // target
        stop = end
        if parts > 1:
            stop = at + left // parts - 1
            while stop < end and text[stop] != _NEWLINE:
                stop += 1
            stop = min(stop + 1, end)
        starts[count] = at - start
        lengths[count] = stop - at
        lines[count] = line
        count += 1
        for byte in range(at, stop):
            line += text[byte] == _NEWLINE
        at = stop
    return count


@kernel
def fold(text, start, end, folds, out):
    """Write the folded form of text[start:end] to `out`; returns its length, which is never greater.

    `folds[char]` is what a character becomes; characters past its end stay.
    """
    size = 0
    at = start
    known = folds.shape[0]
    while at < end:
        lead = np.uint32(text[at])
        if lead < 0x80:
            out[size] = folds[lead]
            size += 1
            at += 1
            continue
        length = 0
        char = np.uint32(0)
        if 0xC2 <= lead <= 0xDF and at + 2 <= end:
            length = 2
            char = lead & np.uint32(0x1F)
        elif 0xE0 <= lead <= 0xEF and at + 3 <= end:
            length = 3
            char = lead & np.uint32(0x0F)
        elif 0xF0 <= lead <= 0xF4 and at + 4 <= end:
            length = 4
            char = lead & np.uint32(0x07)
        for more in range(1, length):
            byte = np.uint32(text[at + more])
            if byte & np.uint32(0xC0) != 0x80:
                length = 0
                break
            char = char << np.uint32(6) | byte & np.uint32(0x3F)
        if (length == 3 and char < 0x800) or (length == 4 and char < 0x10000):
            length = 0
        if length == 0 or char >= known or folds[char] == char:
            out[size] = lead
            size += 1
            at += 1
            continue
        char = folds[char]
        if char < 0x80:
            out[size] = char
            size += 1
        elif char < 0x800:
            out[size] = 0xC0 | char >> np.uint32(6)
            out[size + 1] = 0x80 | char & np.uint32(0x3F)
            size += 2
        elif char < 0x10000:
            out[size] = 0xE0 | char >> np.uint32(12)
            out[size + 1] = 0x80 | char >> np.uint32(6) & np.uint32(0x3F)
            out[size + 2] = 0x80 | char & np.uint32(0x3F)
            size += 3
        else:
            out[size] = 0xF0 | char >> np.uint32(18)
            out[size + 1] = 0x80 | char >> np.uint32(12) & np.uint32(0x3F)
            out[size + 2] = 0x80 | char >> np.uint32(6) & np.uint32(0x3F)
            out[size + 3] = 0x80 | char & np.uint32(0x3F)
            size += 4
        at += length
    return size


@kernel
def _keys_of_piece(folded, size, weights, seen, stamp, keys, count):
    """Append the keys of the grams of folded[:size] to `keys`, most repeats dropped; returns the new count.

    `seen` remembers keys with the piece's `stamp` above them. A key that finds no place near its own is written again and again: the
    merge drops what is left of repeats.
    """
    # A stack of falling weights in a ring: what is deeper than `CAP` is too far back for a gram.
    positions = np.empty(_DEPTH, np.int64)
    heights = np.empty(_DEPTH, np.uint32)
    top = 0
    floor = 0
    window = np.uint64(0)
    before = np.uint32(_NEWLINE)
    slots = np.uint32(SEEN_SLOTS - 1)
    for at in range(size):
        byte = np.uint32(folded[at])
        if byte == _NEWLINE:
            top = floor
            before = byte
            continue
        window = window << np.uint64(8) | np.uint64(byte)
        if before != _NEWLINE:
            weight = np.uint32(weights[before << np.uint32(8) | byte])
            while top > floor:
                place = (top - 1) & (_DEPTH - 1)
                length = at + 1 - positions[place]
                if length > CAP:
                    top = floor
                    break
                key = np.uint32((window & _LENGTH_MASKS[length]) * _FACTOR >> _KEY_SHIFT)
                mark = stamp | key
                slot = key & slots
                is_new = True
                for _ in range(_PROBES):
                    found = seen[slot]
                    if found == mark:
                        is_new = False
                        break
                    if found & np.uint32(0xFF000000) != stamp:
                        seen[slot] = mark
                        break
                    slot = (slot + np.uint32(1)) & slots
                if is_new:
                    keys[count] = key
                    count += 1
                height = heights[place]
                if height > weight:
                    break
                top -= 1
                if height == weight:
                    break
            positions[top & (_DEPTH - 1)] = at - 1
            heights[top & (_DEPTH - 1)] = weight
            top += 1
            if top - floor > _DEPTH:
                floor += 1
        before = byte
    return count


@kernel
def extract(text, starts, ends, weights, folds, scratch, seen, keys, counts):
    """The keys of each piece text[starts[i]:ends[i]], one after another in `keys`; counts[i] says how many. Returns the sum.

    `keys` must have room for 2 keys a byte: each bigram is pushed once, popped once, and stopped at once.
    """
    total = 0
    seen[:] = 0
    stamp = 0
    for piece in range(starts.shape[0]):
        stamp += 1
        if stamp == 256:
            seen[:] = 0
            stamp = 1
        size = fold(text, starts[piece], ends[piece], folds, scratch)
        now = _keys_of_piece(
            folded=scratch, size=size, weights=weights, seen=seen, stamp=np.uint32(stamp << 24), keys=keys, count=total
        )
        counts[piece] = now - total
        total = now
    return total


@kernel
def divide(keys, counts, offsets, sizes, out):
    """Divide the keys of a run into buckets. Returns the length of what was written to `out`.

    Bucket b takes out[offsets[b]:offsets[b + 1]]: sizes[b] times the low 16 bits of a key, little-endian, in the order of the pieces,
    then for each piece how many of them are its own: 255 for each full 255, then the rest below 255.
    """
    pieces = counts.shape[0]
    in_piece = np.zeros((pieces, BUCKETS), np.int32)
    at = 0
    sizes[:] = 0
    for piece in range(pieces):
        for _ in range(counts[piece]):
            bucket = keys[at] >> np.uint32(16)
            in_piece[piece, bucket] += 1
            sizes[bucket] += 1
            at += 1
    write = np.empty(BUCKETS, np.int64)
    total = 0
    for bucket in range(BUCKETS):
        offsets[bucket] = total
        write[bucket] = total
        total += 2 * sizes[bucket]
        for piece in range(pieces):
            many = in_piece[piece, bucket]
            while many >= 255:
                out[total] = 255
                total += 1
                many -= 255
            out[total] = many
            total += 1
    offsets[BUCKETS] = total
    for index in range(at):
        key = keys[index]
        bucket = key >> np.uint32(16)
        place = write[bucket]
        out[place] = key & np.uint32(0xFF)
        out[place + 1] = key >> np.uint32(8) & np.uint32(0xFF)
        write[bucket] = place + 2
    return total


@kernel
def merge_bucket(
    raw, starts, sizes, first_pieces, blocks_of_piece, pieces, bitmap_bytes, ordered, names, values, lists
):
    """Make the posting lists of one bucket from all runs' parts of it. Returns (number of keys, bytes of lists).

    Run r has its part at raw[starts[r]:], laid out as `divide` says, with sizes[r] keys; the block of its i-th piece is
    blocks_of_piece[first_pieces[r] + i], ascending over all runs. For each key, ascending: its low 16 bits to `names`; to `values`
    its block with `SINGLE`, or the offset of its list in `lists`: LEB128 of the first block and of the distances, or a bitmap where
    that is not longer.
    """
    ends = np.zeros(65537, np.int64)
    for run in range(starts.shape[0]):
        at = starts[run]
        for _ in range(sizes[run]):
            ends[np.int64(raw[at]) | np.int64(raw[at + 1]) << 8] += 1
            at += 2
    total = 0
    for name in range(65536):
        many = ends[name]
        ends[name] = total
        total += many
    for run in range(starts.shape[0]):
        at = starts[run]
        counter = at + 2 * sizes[run]
        for piece in range(pieces[run]):
            block = blocks_of_piece[first_pieces[run] + piece]
            while True:
                many = raw[counter]
                counter += 1
                for _ in range(many):
                    name = np.int64(raw[at]) | np.int64(raw[at + 1]) << 8
                    ordered[ends[name]] = block
                    ends[name] += 1
                    at += 2
                if many < 255:
                    break
    keys = 0
    size = 0
    begin = 0
    for name in range(65536):
        end = ends[name]
        if end == begin:
            continue
        names[keys] = name
        start = size
        before = np.uint32(0)
        has_more = False
        for index in range(begin, end):
            block = ordered[index]
            if index > begin:
                if block == before:
                    continue
                has_more = True
            distance = block - before
            before = block
            while distance >= 0x80:
                lists[size] = distance & np.uint32(0x7F) | np.uint32(0x80)
                size += 1
                distance >>= np.uint32(7)
            lists[size] = distance
            size += 1
        if not has_more:
            size = start
            values[keys] = before | np.uint32(SINGLE)
        else:
            values[keys] = start
            if size - start >= bitmap_bytes:
                size = start + bitmap_bytes
                lists[start:size] = 0
                for index in range(begin, end):
                    block = ordered[index]
                    lists[start + (block >> np.uint32(3))] |= np.uint8(1 << (block & np.uint32(7)))
        keys += 1
        begin = end
    return keys, size
