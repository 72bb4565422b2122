# Completion of wf for fish, made by: wf completion fish
# For this shell:   wf completion fish | source
# For every shell:  wf completion fish > ~/.config/fish/completions/wf.fish

function __wf_complete
    set -l line (commandline -cp)
    set -l program (commandline -opc)[1]
    set -l answer (command $program complete --line "$line" 2>/dev/null)
    set -q answer[2]; and printf '%s\n' $answer[2..-1]

    # In --option=value the file's name begins behind the equals sign.
    set -l token (commandline -ct)
    set -l before (string match -r -- '^--[^=]+=' $token)
    set -l path (string replace -- "$before" '' $token)
    switch "$answer[1]"
        case files
            string replace -r -- '^' "$before" (__fish_complete_path $path)
        case directories
            string replace -r -- '^' "$before" (__fish_complete_directories $path '')
        case yaml
            string replace -r -- '^' "$before" (__fish_complete_path $path | string match -r -- '.*(?:/|\.ya?ml)(?:\t.*)?$')
    end
end

complete -c wf -f -k -a '(__wf_complete)'
complete -c wfrun -f -k -a '(__wf_complete)'
