/**
 * What completion scripts ask `reprise complete` for: the ids of runs, sessions and questions. Shells that show descriptions
 * get them. `eval` finds `reprise` where it is an alias, too. Pure.
 */
import type { Completions } from "effect/cli"
import type { IdKind } from "../terminal/idKinds.ts"

/** What the first argument of a command is, by the words of the command. */
export const argumentKinds: ReadonlyMap<string, IdKind | "plan"> = new Map([
  ["run", "plan"],
  ["validate", "plan"],
  ["trust", "plan"],
  ["config explain", "plan"],
  ["status", "runs"],
  ["summary", "runs"],
  ["watch", "runs"],
  ["logs", "runs"],
  ["repair", "runs"],
  ["pause", "open-runs"],
  ["resume", "open-runs"],
  ["abort", "open-runs"],
  ["gate show", "questions"],
  ["gate answer", "questions"],
  ["sessions show", "sessions"],
  ["sessions export", "sessions"],
  ["sessions fork", "sessions"],
  ["sessions abort", "open-sessions"],
  ["sessions hand-back", "open-sessions"],
  ["attach", "open-sessions"]
])

/** In place of an id's values, until the script is made. */
const placeholder = "ids-of-"

type Argument = Completions.ArgumentDescriptor

/** Says to zsh's generator where an id is. The other shells look at the words that were typed. */
export const withPlaceholder = (words: ReadonlyArray<string>, argument: Argument, index: number): Argument => {
  const kind = index === 0 ? argumentKinds.get(words.join(" ")) : undefined
  if (kind === undefined || kind === "plan") return argument
  return { ...argument, type: { _tag: "Choice", values: [`${placeholder}${kind}`] } }
}

/** The first argument is completed once nothing but the command and its flags was typed. */
const bashScript = (valueFlags: ReadonlyArray<string>): string => {
  const cases = [...argumentKinds].map(([words, kind]) => `    ' ${words}') _kind=${kind} ;;`)
  return `_reprise--first()
{
  _reprise "$@"
  local _cur="\${COMP_WORDS[COMP_CWORD]}" _typed="" _kind="" _value="" _i _id
  [[ "$_cur" == -* ]] && return
  for ((_i = 1; _i < COMP_CWORD; _i++)); do
    if [[ -n "$_value" ]]; then
      _value=""
      continue
    fi
    case "\${COMP_WORDS[_i]}" in
      ${valueFlags.join("|")}) _value=1 ;;
      -*) ;;
      *) _typed+=" \${COMP_WORDS[_i]}" ;;
    esac
  done
  [[ -n "$_value" ]] && return
  case "$_typed" in
${cases.join("\n")}
  esac
  case "$_kind" in
    '') ;;
    plan) _reprise--plans ;;
    *)
      COMPREPLY=()
      while IFS=$'\\t' read -r _id _; do
        [[ -n "$_id" && "$_id" == "$_cur"* ]] && COMPREPLY+=("$_id")
      done < <(eval "reprise complete $_kind" 2>/dev/null </dev/null)
      ;;
  esac
}

# Plans are markdown files. A folder is gone into.
_reprise--plans()
{
  local _path _name _kept=()
  for _path in "\${COMPREPLY[@]}"; do
    _name="\${_path//\\\\/}"
    _name="\${_name/#\\~/$HOME}"
    if [[ "$_path" == *.md ]]; then
      _kept+=("$_path")
    elif [[ -d "$_name" ]]; then
      _kept+=("$_path/")
      type compopt &>/dev/null && compopt -o nospace
    fi
  done
  COMPREPLY=("\${_kept[@]}")
}

complete -F _reprise--first reprise`
}

const zshHelper = `_reprise--ids() {
  local -a ids
  local id about
  while IFS=$'\\t' read -r id about; do
    [[ -n $id ]] && ids+=("$id:$about")
  done < <(eval "reprise complete $1" 2>/dev/null </dev/null)
  _describe -V -t ids id ids
}

`

const zshEnd = "# Handle both direct invocation and autoload"

const fishScript = (valueFlags: ReadonlyArray<string>): string => {
  const completions = [...argumentKinds].map(([words, kind]) => {
    const values = kind === "plan" ? "(__reprise_plans)" : `(__reprise_ids ${kind})`
    return `complete -c reprise -n '__reprise_first ${words}' -f -k -a '${values}'`
  })
  return `
# Whether nothing but these words, and flags, was typed before this one.
function __reprise_first
  set -l words
  set -l isValue 0
  for word in (commandline -poc)[2..-1]
    if test $isValue = 1
      set isValue 0
      continue
    end
    switch $word
      case ${valueFlags.join(" ")}
        set isValue 1
      case '-*'
      case '*'
        set -a words $word
    end
  end
  test $isValue = 0; and test "$words" = "$argv"
end

function __reprise_ids
  eval "reprise complete $argv" 2>/dev/null </dev/null
end

# Plans are markdown files. A folder is gone into.
function __reprise_plans
  __fish_complete_path (commandline -ct) | string match -r -- '^[^\\t]*(?:\\.md|/)(?:\\t.*)?$'
end

${completions.join("\n")}
`
}

/** The flags that take the next word, of all commands. */
const valueFlagsOf = ({ flags, subcommands }: Completions.CommandDescriptor): ReadonlyArray<string> => [
  ...flags
    .filter(({ type }) => type._tag !== "Boolean")
    .flatMap(({ aliases, name }) => [name, ...aliases].map((word) => (word.length === 1 ? `-${word}` : `--${word}`))),
  ...subcommands.flatMap(valueFlagsOf)
]

/** The script that effect/cli has generated, with what only Reprise knows. */
export const withIds = (shell: Completions.Shell, script: string, commands: Completions.CommandDescriptor): string => {
  const valueFlags = [...new Set(valueFlagsOf(commands))]
  switch (shell) {
    case "bash":
      return `${script}\n\n${bashScript(valueFlags)}`
    case "zsh":
      return script
        .replaceAll(new RegExp(`\\(${placeholder}([a-z-]+)\\)`, "g"), " _reprise--ids $1")
        .replaceAll(":_files'", `:_files -g "*.md"'`)
        .replace(zshEnd, () => `${zshHelper}${zshEnd}`)
    case "fish":
      return `${script}\n${fishScript(valueFlags)}`
    case "powershell":
      return script
  }
}
