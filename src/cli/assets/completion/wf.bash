# Completion of wf for bash, made by: wf completion bash
# For this shell:   source <(wf completion bash)
# For every shell:  wf completion bash > ~/.local/share/bash-completion/completions/wf

_wf() {
  local word=${COMP_WORDS[COMP_CWORD]} files='' value
  COMPREPLY=()
  while IFS=$'\t' read -r value _; do
    if [[ -z $files ]]; then files=$value; else _wf_add "$value"; fi
  done < <(command "${1/#\~/$HOME}" complete --line "${COMP_LINE:0:COMP_POINT}" --word "$word" 2>/dev/null)

  # Behind = and : bash begins a new word.
  [[ $word == [=:] ]] && word=''
  word=${word#[\"\']}
  word=${word//\\/}
  case $files in
    files) _wf_files "$word" -f ;;
    yaml)
      _wf_files "$word" -f -X '!*.yaml'
      _wf_files "$word" -f -X '!*.yml'
      ;;
  esac
  if [[ -n $files && $files != none ]]; then
    while IFS= read -r value; do _wf_add "$value/"; done < <(compgen -d -- "$word")
  fi
  # A directory is not the end of the word, nor is the name of a parameter.
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}

# Adds files that are no directories; what follows the word are arguments of compgen.
_wf_files() {
  local word=$1 value
  shift
  while IFS= read -r value; do
    [[ -d ${value/#\~/$HOME} ]] || _wf_add "$value"
  done < <(compgen "$@" -- "$word")
}

# Adds a value, quoted if there is no quote already.
_wf_add() {
  case ${COMP_WORDS[COMP_CWORD]} in
    [\"\']*) COMPREPLY+=("$1") ;;
    '~'*) COMPREPLY+=("~$(printf %q "${1:1}")") ;;
    *) COMPREPLY+=("$(printf %q "$1")") ;;
  esac
}

complete -F _wf wf wfrun
