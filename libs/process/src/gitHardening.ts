/**
 * How git runs outside of the sandbox while agents can write its working tree: whatever the tree says, it starts no program
 * that a repository, or one inside of it, names. The same for Reprise's own git and for the one that agents' programs find
 * (docs/security.md#programs-outside-of-the-sandbox). Pure.
 */

/** Settings that name or start programs, each with the value that starts none. What a caller sets later counts instead. */
const settings = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  // A folder that only looks like a repository is none: a command may have made it so, and broken the real one.
  "safe.bareRepository=explicit",
  "protocol.ext.allow=never",
  // A command can write one that tells another history.
  "core.commitGraph=false",
  // It keeps in the index which folders have no untracked files: a command can write that, too.
  "core.untrackedCache=false",
  // It would collect garbage by itself, and then empties the folder that a link among the records of worktrees leads to.
  "gc.auto=0",
  "maintenance.auto=false",
  "diff.ignoreSubmodules=dirty",
  "diff.submodule=short",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=no",
  "push.recurseSubmodules=no",
  "log.showSignature=false",
  "merge.verifySignatures=false",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "push.gpgSign=false"
]

/**
 * Git LFS would ask the server that `.lfsconfig` of the tree names for files that are not here. This counts more, and is not a server:
 * files that are here are checked out, of the others the pointers.
 */
const withoutLargeFiles = ["lfs.url=file:///dev/null"]

const before = (some: ReadonlyArray<string>): ReadonlyArray<string> => [
  "--no-pager",
  ...some.flatMap((one) => ["-c", one])
]

/** Before every subcommand. */
export const hardenedSettings = before([...settings, ...withoutLargeFiles])

/** The same for a git that fetches, pushes or clones because it is told to, not because something is missing. */
export const reachingSettings = before(settings)

/** The ways to other repositories, as a list that counts more than any configuration. No way is called `none`. */
const protocols = "GIT_ALLOW_PROTOCOL"

/** Instead of what the user's environment says. An empty program is none. */
export const hardenedVariables: Readonly<Record<string, string>> = {
  GIT_ASKPASS: "",
  GIT_EDITOR: ":",
  GIT_SEQUENCE_EDITOR: ":",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // Where an object is missing, git would fetch it from a remote that the repository names, by a program that it names. The first
  // is known since 2.39.4, the second ends every way to another repository, whatever the configuration allows.
  GIT_NO_LAZY_FETCH: "1",
  [protocols]: "none",
  // What Git LFS does not find is not a failure.
  GIT_LFS_SKIP_DOWNLOAD_ERRORS: "1",
  // A filter that runs `python -m` would find a module of its name in the tree.
  PYTHONSAFEPATH: "1",
  LC_ALL: "C"
}

/** See `reachingSettings`. */
export const { [protocols]: _, GIT_LFS_SKIP_DOWNLOAD_ERRORS: __, ...reachingVariables } = hardenedVariables

/**
 * A setting of `.gitmodules`, which agents write, would count more than ours: only an option counts more than that. Looking
 * into a submodule means a git that obeys the submodule's own configuration.
 */
const notInside = "--ignore-submodules=dirty"
const plainDiff = ["--no-ext-diff", "--no-textconv", "--submodule=short", notInside]

/** Directly after the subcommand, so that a caller's own options count more. */
export const hardenedOptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  diff: plainDiff,
  log: plainDiff,
  show: plainDiff,
  status: [notInside]
}

/** Options of git itself that take the next word. */
export const optionsWithValue: ReadonlyArray<string> = [
  ...["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"]
]

/** Where the subcommand stands; the length of the words if there is none. */
export const subcommandAt = (words: ReadonlyArray<string>): number => {
  let at = 0
  while (words[at]?.startsWith("-") === true) at += optionsWithValue.includes(words[at] ?? "") ? 2 : 1
  return Math.min(at, words.length)
}

/** The words for git, hardened. `words`: options of git itself, the subcommand, and what belongs to it. */
export const hardened = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = subcommandAt(words)
  const options = hardenedOptions[words[at] ?? ""] ?? []
  return [...hardenedSettings, ...words.slice(0, at + 1), ...options, ...words.slice(at + 1)]
}
