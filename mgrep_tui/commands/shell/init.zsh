# mgrep-tui in zsh. In ~/.zshrc: eval "$(mgrep-tui --init zsh)"
# Ctrl+X Ctrl+G inserts the chosen path:line:column, Ctrl+X Ctrl+F the chosen paths. Files below the current folder.
__mgrep_tui_insert() {
  emulate -L zsh
  local place words=''
  # A widget's standard input is not the terminal.
  for place in ${(f)"$(command mgrep-tui --print . </dev/tty)"}; do
    [[ $WIDGET == *-path ]] && place=${place%:*:*}
    [[ $place == -* ]] && place=./$place
    words+="${(q+)place} "
  done
  LBUFFER+=$words
  zle reset-prompt
}
if [[ -o interactive ]]; then
  zle -N mgrep-tui-place __mgrep_tui_insert
  zle -N mgrep-tui-path __mgrep_tui_insert
  () {
    local keymap
    for keymap in emacs viins; do
      bindkey -M $keymap '^X^G' mgrep-tui-place
      bindkey -M $keymap '^X^F' mgrep-tui-path
    done
  }
fi
