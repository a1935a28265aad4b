"""Whether a question says what one function does ("check if a path is absolute") or names a subject ("path resolution").

The first is answered by one definition, the second by the file that is about the subject; weights and the turn of files differ.
"""

from __future__ import annotations

import re

# What a function does and what is no noun of programming. Also with an s at the end.
_VERBS = (
    "accept acquire activate add adjust allow append apply assert assign attach attempt avoid begin bind bring build "
    "calculate call cancel capture cast catch change check choose clean clear close collapse collect combine compare compile "
    "compress compute concatenate configure construct consume contain continue convert create crop cut deactivate decide "
    "declare decode decorate decrement decrypt deduplicate define delete deserialize destroy detach detect determine disable "
    "discard display divide do download draw drop emit enable encode encrypt ensure enter enumerate establish evaluate "
    "execute exit expand extend extract fetch fill find finish fix flatten flush follow force forward free generate get give "
    "go group guess handle hide highlight identify ignore implement import include increase increment indicate inherit "
    "initialise initialize inject insert install instantiate intercept interpolate intersect invalidate invoke iterate join "
    "keep launch let limit listen load locate look lower make manipulate mark match measure merge modify move multiply "
    "normalise normalize notify obtain open optionally output override overwrite parse pass perform pick plot poll pop "
    "populate prepare prepend preserve prevent print produce propagate prune publish pull push put raise randomly reach read "
    "rebuild receive reconfigure recursively refresh register reload remove rename render replace reset resize resolve "
    "restart restore resume retrieve return reverse revert rewind rewrite round run save scan schedule search see select send "
    "separate serialize set show shuffle shut skip slice solve sort spawn specify split start stop store strip subscribe "
    "substitute subtract sum suppress swap switch take tell terminate throw toggle transform translate traverse trim truncate "
    "try turn uncompress uninstall unpack unregister unset unwind unwrap unzip update upload use validate verify visit wait "
    "walk wrap write yield"
)
# Nouns as often as verbs: verbs where something is named next ("list the files").
_EITHER = (
    "copy count debug delay dump edit exclude export file filter format hash index list lock log map mask mock order patch "
    "query record reduce release repeat report request retry sample scale score scroll sleep stack step sync tag test time trace "
    "track type view watch zip"
)
_OBJECT = "a all an any each every given if it its multiple one several the this two whether which"
_BEFORE = "please automatically efficiently easily quickly simply properly correctly manually"
_LANGUAGES = (
    "golang haskell java javascript kotlin matlab perl php py python python2 python3 ruby scala swift typescript"
)
VERBS, EITHER, OBJECT, BEFORE, LANGUAGES = (
    frozenset(some.split()) for some in (_VERBS, _EITHER, _OBJECT, _BEFORE, _LANGUAGES)
)
_HOW_TO = re.compile(
    r"^(?:how (?:to|do i|do you|can i|can you|could i|would i|should i)"
    r"|(?:(?:a|the|this) )?(?:function|method|code|way|helper|shortcut|utility|hook|decorator|callback)(?: function| method)?"
    r" (?:to|that|which|for))\s+"
)
_CONDITION = re.compile(r"^(?:true|false|none|whether|if|given|this (?:function|method)) ")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def is_deed(text: str) -> bool:
    """Whether the text says what one function does."""
    plain = text.strip().lower()
    words = _WORD.findall(plain)
    if len(words) < 2:
        return False
    if LANGUAGES.intersection(words):  # somebody wants a piece of code, as of a search engine
        return True
    if _HOW_TO.match(plain) or _CONDITION.match(plain):
        return True
    while len(words) > 1 and words[0] in BEFORE:
        words = words[1:]
    first = words[0]
    if words[1:2] in (["and"], ["or"]):  # a list of names
        return False
    if first in VERBS or (
        first.endswith("s") and (first[:-1] in VERBS or first[:-2] in VERBS or f"{first[:-3]}y" in VERBS)
    ):
        return True
    return first in EITHER and len(words) > 1 and words[1] in OBJECT
