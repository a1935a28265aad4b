# mgrep-tui in bash. In ~/.bashrc: eval "$(mgrep-tui --init bash)"
# Ctrl+X Ctrl+G inserts the chosen path:line:column, Ctrl+X Ctrl+F the chosen paths. Files below the current folder.
__mgrep_tui_insert() {
  local places place quoted words=''
  places=$(command mgrep-tui --print .)
  [[ -n $places ]] || return 0
  while IFS= read -r place; do
    [[ $1 == path ]] && place=${place%:*:*}
    [[ $place == -* ]] && place=./$place
    printf -v quoted '%q ' "$place"
    words+=$quoted
  done <<<"$places"
  READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$words${READLINE_LINE:READLINE_POINT}
  READLINE_POINT=$((READLINE_POINT + ${#words}))
}
if [[ $- == *i* ]]; then
  for __mgrep_tui_keymap in emacs vi-insert; do
    bind -m "$__mgrep_tui_keymap" -x '"\C-x\C-g": __mgrep_tui_insert place'
    bind -m "$__mgrep_tui_keymap" -x '"\C-x\C-f": __mgrep_tui_insert path'
  done
  unset __mgrep_tui_keymap
fi
