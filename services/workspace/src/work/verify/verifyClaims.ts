import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { isOfTree } from "../faults.ts"
import { quoted, rewrittenBase } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import { unshared } from "./hiddenInDiff.ts"
import { newCommit, ownBranch, rejection, shownSince, uncommitted, unreadable } from "./verifyCommit.ts"

type VerifyClaims = InputOf<"VerifyClaims">
type Claim = VerifyClaims["tasks"][number]
type Rejected = Extract<WorkspaceFact, { readonly _tag: "ClaimsRejected" }>
type Rejection = Pick<Rejected, "commit" | "task" | "reason" | "detail">

/** So many files of a commit are recorded. */
const mostFiles = 500

const named = (task: string, { detail, ...rest }: Rejection): Rejection => ({
  ...rest,
  task,
  detail: `Task ${quoted(task)}: ${detail}`
})

/** The claimed tasks with whole hashes, or the first claim that does not hold. */
const verifyTasks = Effect.fnUntraced(function* ({ base, earlier, tasks }: VerifyClaims, directory: string) {
  const again = new Set(tasks.map(({ id }) => id))
  const owners = new Map(earlier.filter(({ id }) => !again.has(id)).map(({ commit, id }) => [commit, id]))
  const ownerOf = (hash: string) => [...owners].find(([commit]) => hash.startsWith(commit.toLowerCase()))?.[1]
  const verified: Array<Claim> = []
  for (const task of tasks) {
    const commit = yield* newCommit(directory, task.commit, base)
    if (typeof commit !== "string") return named(task.id, { commit: task.commit, ...commit })
    const owner = ownerOf(commit)
    if (owner !== undefined) {
      const detail = `${commit} is the commit of task ${quoted(owner)}. Each task has a commit of its own; leave out a task that has none.`
      return named(task.id, { commit, reason: "shared", detail })
    }
    owners.set(commit, task.id)
    verified.push({ ...task, commit })
  }
  return verified
})

const withFiles = (directory: string, tasks: ReadonlyArray<Claim>) =>
  Effect.flatMap(Git, (git) =>
    Effect.forEach(tasks, (task) =>
      Effect.map(git.changed(directory, `${task.commit}^`, task.commit), (files) => ({
        ...task,
        files: files.slice(0, mostFiles)
      }))
    )
  )

/** The rules of a completion for every task, and a clean tree; if they hold, what was changed (docs/design/continuation.md#checkpoint-types). */
const applyRules = Effect.fnUntraced(function* (command: VerifyClaims, place: Place) {
  const { base, commit, reviewPath } = command
  const { directory } = place
  const git = yield* Git
  if (commit !== undefined) {
    const newest = yield* newCommit(directory, commit, base)
    if (typeof newest !== "string") return { commit, ...newest }
  }
  const tasks = yield* verifyTasks(command, directory)
  if (!Array.isArray(tasks)) return tasks
  const head = yield* git.head(directory)
  const since = yield* shownSince(directory, command)
  const dirty = yield* uncommitted(place, reviewPath, { base: since, commit: head ?? since })
  if (dirty !== undefined && typeof dirty !== "string") return { commit: commit ?? head ?? base, ...dirty }
  const branch = head === undefined ? undefined : yield* ownBranch(place, head)
  if (branch !== undefined && typeof branch !== "string") return { commit: commit ?? head ?? base, ...branch }
  const links = head === undefined ? [] : yield* git.movedSubmodules(directory, base, head)
  const missing = yield* unshared(directory, links)
  if (missing !== undefined) return { commit: commit ?? head ?? base, ...rejection("dirty-tree", missing) }
  return {
    tasks: yield* withFiles(directory, tasks),
    diffStat: head === undefined ? "" : yield* git.diffStat(directory, since, head)
  }
})

/** Checks what an author says it has done, before a human is asked. The files of a task are those of its commit. */
export const verifyClaims = Effect.fn("verifyClaims")(function* (command: VerifyClaims, place: Place) {
  const { base, phase, runId } = command
  const { directory } = place
  const outcome = yield* applyRules(command, place).pipe(
    Effect.catchIf(isOfTree, (fault) => Effect.succeed({ commit: command.commit ?? base, ...unreadable(fault) }))
  )
  if ("reason" in outcome) {
    const shared = outcome.reason === "not-new" ? yield* rewrittenBase(directory, base) : undefined
    const rewritten = shared === undefined ? {} : { base: shared }
    return { _tag: "ClaimsRejected", runId, phase, ...outcome, ...rewritten } satisfies WorkspaceFact
  }
  const { diffStat, tasks } = outcome
  return {
    _tag: "ClaimsVerified",
    runId,
    phase,
    tasks,
    ...(diffStat === "" ? {} : { diffStat })
  } satisfies WorkspaceFact
})
