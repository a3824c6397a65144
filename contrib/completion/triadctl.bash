# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bash completion for triadctl.  The words come from triadctl itself, and the names of
# nodes from the plugin that runs.

_triadctl() {
	local word line words=() candidates=() current
	local i equals=false

	# readline parts "--by=Port" into three words; here it is one.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]//\\/}
		if [[ ($word == = || $equals == true) && ${#words[@]} -gt 0 ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		[[ $word == = ]] && equals=true || equals=false
	done
	COMPREPLY=()
	current=${words[-1]}
	while IFS=$'\t' read -r line _; do
		if [[ $line == :files ]]; then
			compopt -o filenames 2>/dev/null
			# Behind "--conf=" the last word is the equals sign.
			word=${COMP_WORDS[COMP_CWORD]}
			[[ $current == --*= && $word == = ]] && word=
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
		fi
		# Behind an equals sign readline wants the value alone.
		[[ $current == --*=* ]] && line=${line#*=}
		# Names of nodes may have blanks.
		[[ $line == *[[:space:]]* ]] && printf -v line '%q' "$line"
		candidates+=("$line")
	done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
	COMPREPLY=("${candidates[@]}")
}

complete -F _triadctl triadctl
