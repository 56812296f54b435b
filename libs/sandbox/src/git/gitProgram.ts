/**
 * The git that agents' programs find on their `PATH`: they start it outside of the sandbox by themselves, while agents can
 * write the working tree (docs/security.md#programs-outside-of-the-sandbox). Pure.
 */
import {
  hardenedSettings,
  hardenedVariables,
  optionsWithValue,
  reachingSettings,
  reachingVariables
} from "@reprise/process"
import type { ClonedDirectory } from "../clone/clonePlaces.ts"
import { type Bubblewrap, bubblewrapArguments, startOf } from "../command/bubblewrap.ts"
import { closingDescriptors } from "../command/closeDescriptors.ts"
import { exported, hiding, shellHead, withholding } from "../command/shellScript.ts"
import { quoted } from "../command/shellWords.ts"
import { isWithin, type Mount } from "../policy/mounts.ts"
import type { Policy } from "../policy/policy.ts"

/** Subcommands that read only what git itself keeps: neither a file of the tree, nor a repository inside of it. */
const queries = [
  "check-ref-format",
  "config",
  "for-each-ref",
  "merge-base",
  "remote",
  "rev-list",
  "rev-parse",
  "show-ref",
  "symbolic-ref",
  "version"
]

const withoutLanguage = ({ LC_ALL: _, ...variables }: Readonly<Record<string, string>>) => variables

const variables = withoutLanguage(hardenedVariables)

/** For a git that runs in the sandbox. */
export const withHardenedVariables = (own: Readonly<Record<string, string>>): string =>
  exported({ ...own, ...variables })

const enter = (git: string, settings = hardenedSettings): string =>
  `exec ${[git, ...settings].map(quoted).join(" ")} "$@"\n`

/** Sets `subcommand` to it and the word after it, from the program's own words. */
const findSubcommand = `subcommand= skipped=
for word in "$@"; do
  if [ -n "$skipped" ]; then skipped=; continue; fi
  if [ -n "$subcommand" ]; then subcommand="$subcommand $word"; break; fi
  case $word in
    ${optionsWithValue.join("|")}) skipped=1 ;;
    -*) ;;
    *) subcommand=$word ;;
  esac
done
`

const isQuery = ["''", "'worktree list'", ...queries.flatMap((name) => [name, `"${name} "*`])].join("|")

/** Every subcommand, for agents that the sandbox does not cover. */
export const openGit = (git: string): string =>
  `${shellHead}${exported(withoutLanguage(reachingVariables))}${enter(git, reachingSettings)}`

/** But for what is its own, such as `/tmp`. `clone`: whether that of the git directory is, too. */
const readOnly =
  ({ git }: Policy, clone: "writes" | "reads") =>
  (mount: Mount): Mount => {
    const isOwn = mount.from !== undefined && (clone === "writes" || git === undefined || !isWithin(mount.path, git))
    return mount.as === "writable" && !isOwn ? { ...mount, as: "readable" } : mount
  }

/** Every subcommand in the sandbox of a workspace, where it reaches nothing and writes nothing, unless into its clone. */
export const sandboxedGit = (
  git: string,
  bubblewrap: Bubblewrap,
  policy: Policy,
  clone: "writes" | "reads" = "reads"
): string => {
  const hidden = hiding(bubblewrapArguments({ ...policy, mounts: policy.mounts.map(readOnly(policy, clone)) }))
  return [
    shellHead,
    closingDescriptors,
    withholding,
    withHardenedVariables(policy.environment),
    hidden.before,
    `exec ${[...startOf(bubblewrap).map(quoted), ...hidden.words].join(" ")} --chdir "$PWD" -- `,
    `${[git, ...hardenedSettings].map(quoted).join(" ")} "$@"\n`
  ].join("")
}

/** Queries run at once; everything else runs by the program that the shell expression `inside` names. */
const program = (git: string, find: string): string =>
  [
    shellHead,
    findSubcommand,
    `case $subcommand in\n  ${isQuery}) ${exported(variables).trimEnd().replaceAll("\n", "; ")}; ${enter(git).trimEnd()} ;;\nesac\n`,
    find
  ].join("")

/** For an agent's program that works in one workspace. `inside`: the path of `sandboxedGit`. */
export const gitFor = (git: string, inside: string): string => program(git, `exec /bin/sh ${quoted(inside)} "$@"\n`)

/** What looks for no repository, but makes one. */
const making = "clone | init"

/**
 * For commands that no mount shows their clone: git as they call it, but in the clone of the repository that git itself finds there.
 * Whoever says which repository is meant, gets that one.
 */
export const redirectingGit = (
  git: string,
  directories: ReadonlyArray<Pick<ClonedDirectory, "directory" | "to">>
): string => `${shellHead}at= skipped= said=\${GIT_DIR+said}
for word in "$@"; do
  case $skipped in
    -C) case $word in /*) at=$word ;; ?*) at=\${at:+$at/}$word ;; esac; skipped=; continue ;;
    ?*) skipped=; continue ;;
  esac
  case $word in
    --git-dir | --git-dir=* | --bare) said=said; break ;;
    ${optionsWithValue.filter((word) => word !== "--git-dir").join(" | ")}) skipped=$word ;;
    -*) ;;
    ${making}) said=said; break ;;
    *) break ;;
  esac
done
if [ -z "$said" ] && found=$(${quoted(git)} -C "\${at:-.}" rev-parse --absolute-git-dir --show-toplevel 2>/dev/null); then
  to=
  case \${found%%'
'*} in
${directories
  .map(
    ({ directory, to }) => `    ${quoted(directory)}) to=${quoted(to)} ;;
`
  )
  .join("")}  esac
  if [ -n "$to" ]; then
    export GIT_DIR="$to" GIT_WORK_TREE="\${found#*'
'}"
  fi
fi
exec ${quoted(git)} "$@"
`

/** The file of a folder in which agents work, below `places`, which repeats the folders of this machine. */
export const placedGit = ".reprise-git"

/** For a server of many sessions: what it runs follows who works now in the folder in which it starts git. */
export const dispatchingGit = (git: string, places: string): string =>
  program(
    git,
    `places=${quoted(places)}
at=$(pwd -P)
while [ -n "$at" ] && [ ! -f "$places$at/${placedGit}" ]; do at=\${at%/*}; done
if [ -f "$places$at/${placedGit}" ]; then exec /bin/sh "$places$at/${placedGit}" "$@"; fi
echo "reprise: no agent works in $PWD, so 'git $subcommand' does not run there outside of the sandbox." >&2
exit 128
`
  )
