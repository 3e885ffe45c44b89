# bash completion for ingot
_ingot()
{
    local current=${COMP_WORDS[COMP_CWORD]} options=""

    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "train eval predict graph data doctor --help --version" -- "$current"))
        return
    fi
    case ${COMP_WORDS[1]} in
    train) options="--set --resume --json --help" ;;
    eval) options="--batch --workers --threads --train-set --json --help" ;;
    predict) options="--top --show --json --help" ;;
    graph) options="--dot --json --help" ;;
    data) options="convert --test --limit --classes --json --help" ;;
    doctor) options="--json --help" ;;
    esac
    case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
    esac
}
complete -o filenames -F _ingot ingot
