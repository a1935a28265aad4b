# mgrep-tui in fish. In ~/.config/fish/config.fish: mgrep-tui --init fish | source
# Ctrl+X Ctrl+G inserts the chosen path:line:column, Ctrl+X Ctrl+F the chosen paths. Files below the current folder.
function __mgrep_tui_insert
    set -l words
    for place in (command mgrep-tui --print .)
        test "$argv[1]" = path; and set place (string replace -r ':\d+:\d+$' '' -- $place)
        string match -q -- '-*' $place; and set place ./$place
        set -a words (string escape -- $place)
    end
    set -q words[1]; and commandline -i -- (string join ' ' -- $words)' '
    commandline -f repaint
end
if status is-interactive
    bind \cx\cg '__mgrep_tui_insert place'
    bind \cx\cf '__mgrep_tui_insert path'
end
