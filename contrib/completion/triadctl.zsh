#compdef triadctl
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# zsh completion for triadctl.  The words come from triadctl itself, and the names of
# nodes from the plugin that runs.

_triadctl() {
	local line
	local -a lines candidates shown

	lines=("${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	for line in "${lines[@]}"; do
		[[ -z $line ]] && continue
		if [[ $line == :files ]]; then
			# Behind "--conf=" a file is only what follows.
			[[ $PREFIX == --*=* ]] && compset -P 1 '*='
			_files
			return
		fi
		candidates+=("${line%%$'\t'*}")
		if [[ $line == *$'\t'* ]]; then
			shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
		else
			shown+=("$line")
		fi
	done
	compadd -l -d shown -a candidates
}

# Loaded by a file of completions, this runs at once; sourced, it is made known.
if [[ ${funcstack[1]-} == _triadctl ]]; then
	_triadctl "$@"
else
	compdef _triadctl triadctl
fi
