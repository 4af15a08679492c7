# Completions of lockstep for bash. For good: lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep
_lockstep() {
  local IFS=$'\n' rest=${COMP_LINE:0:COMP_POINT} words=() piece word stem= line i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if [[ $i -eq 0 || $rest == [[:space:]]* ]]; then
      rest=${rest#"${rest%%[![:space:]]*}"}
      words+=('')
    fi
    ((i < COMP_CWORD)) || piece=$rest
    words[${#words[@]}-1]+=$piece
    rest=${rest#"$piece"}
  done
  for i in "${!words[@]}"; do
    case ${words[i]} in
      \'* | \"*) words[i]=${words[i]:1} words[i]=${words[i]%[\'\"]} piece= ;;
    esac
  done
  word=${words[${#words[@]}-1]}
  # What Bash has before the last piece; within quotes it has the whole word.
  [[ ${COMP_WORDS[COMP_CWORD]} == [\'\"]* || $word != *[=:]* ]] || stem=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while read -r line; do
    case $line in
      :file) COMPREPLY+=($(compgen -f -- "${word##*[=:]}")); compopt -o filenames ;;
      :folder) COMPREPLY+=($(compgen -d -- "${word##*[=:]}")); compopt -o filenames ;;
      *)
        line=${line%%$'\t'*}
        [[ $line != *[=:] ]] || compopt -o nospace
        COMPREPLY+=("${line#"$stem"}")
        ;;
    esac
  done < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _lockstep lockstep
