# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# fish completion for triadctl.  The words come from triadctl itself, and the names of
# nodes from the plugin that runs.

function __triadctl_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            # Behind "--conf=" a file is only what follows.
            set -l option (string match -r -- '^--[^=]*=' $words[-1])
            for path in (__fish_complete_path (string replace -- "$option" '' $words[-1]))
                echo "$option$path"
            end
        else
            echo $line
        end
    end
end

complete -c triadctl -f -a '(__triadctl_complete)'
