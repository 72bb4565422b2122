#compdef wf wfrun
# Completion of wf for zsh, made by: wf completion zsh
# For this shell:   source <(wf completion zsh)
# For every shell:  wf completion zsh > a directory of $fpath, as a file named _wf

_wf() {
  local line files entry value
  local -a answer found begun
  line="${(j: :)words[1,CURRENT-1]} ${QIPREFIX}${PREFIX}"
  answer=("${(@f)$(command ${~words[1]} complete --line "$line" 2>/dev/null)}")
  files=$answer[1]
  for entry in "${(@)answer[2,-1]}"; do
    # Of a value and its description the first colon is the end of the value.
    value="${${entry%%$'\t'*}//:/\\:}"
    [[ $entry == *$'\t'* ]] && value+=":${entry#*$'\t'}"
    # What ends in = is not the end of the word.
    if [[ ${entry%%$'\t'*} == *= ]]; then begun+=("$value"); else found+=("$value"); fi
  done
  (( $#found )) && _describe -V 'wf' found
  (( $#begun )) && _describe -V 'wf' begun -S ''

  [[ $files == none || -z $files ]] && return
  # In --option=value the file's name begins behind the equals sign.
  [[ $PREFIX == --*=* ]] && compset -P '*='
  case $files in
    files) _files ;;
    yaml) _files -g '*.(yaml|yml)(-.)' ;;
    directories) _files -/ ;;
  esac
}

if [[ $funcstack[1] == _wf ]]; then
  _wf "$@"
else
  compdef _wf wf wfrun
fi
