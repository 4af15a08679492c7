# Completions of lockstep for fish. For good: lockstep completions fish > ~/.config/fish/completions/lockstep.fish
function __lockstep_complete
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l stem (string match -r '^.*[=:]' -- $word)
  for line in ($words[1] complete -- $words[2..] "$word" 2>/dev/null)
    switch $line
      case ':file'
        printf '%s\n' "$stem"(__fish_complete_path (string replace -r '^.*[=:]' '' -- "$word"))
      case ':folder'
        printf '%s\n' "$stem"(__fish_complete_directories (string replace -r '^.*[=:]' '' -- "$word"))
      case '*'
        printf '%s\n' $line
    end
  end
end
complete -c lockstep -f -a '(__lockstep_complete)'
