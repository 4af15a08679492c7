#compdef lockstep
# Completions of lockstep for zsh. For good: lockstep completions zsh > a folder of $fpath, as _lockstep
_lockstep() {
  local -a plain open plain_texts open_texts
  local line word text
  local program=${~${(Q)words[1]}}
  for line in "${(@f)$($program complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :file) compset -P '*[=:]'; _files ;;
      :folder) compset -P '*[=:]'; _files -/ ;;
      *)
        word=${line%%$'\t'*}
        text=${line#*$'\t'}
        [[ $text == $word ]] || text="$word  $text"
        if [[ $word == *[=:] ]]; then
          open+=("$word") open_texts+=("$text")
        else
          plain+=("$word") plain_texts+=("$text")
        fi
        ;;
    esac
  done
  (( ! $#plain )) || compadd -l -d plain_texts -- "${plain[@]}"
  (( ! $#open )) || compadd -l -S '' -d open_texts -- "${open[@]}"
}
if [[ ${funcstack[1]} == _lockstep ]]; then _lockstep "$@"; else compdef _lockstep lockstep; fi
