"""Makes the static model's weights anew, from registry packages; never imported by the running program.

    python -m mgrep_tui.embedding.training fetch WORK     # packages, licence-checked, unpacked
    python -m mgrep_tui.embedding.training pairs WORK     # (documentation, code) pairs
    python -m mgrep_tui.embedding.training train WORK     # vocabulary, teacher's vectors, weights
    python -m mgrep_tui.embedding.training measure WORK   # held-out questions
    python -m mgrep_tui.embedding.training card WORK      # MODEL_CARD.md

Needs torch, tokenizers and sentence-transformers; npm and apt-get for their packages (a missing client only leaves its packages out).
"""
