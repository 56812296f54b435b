import type { CompletedTask } from "@reprise/protocol"
import { Effect } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { isCommitName, reachableCommits, rewrittenBase } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"

/** No system allows longer paths, but an agent may name one. */
const longestPath = 4096

/** Whether the commit has a plain file at the path: then only a file is accepted there. */
const isPlainFile = Effect.fnUntraced(function* (directory: string, commit: string | undefined, path: string) {
  const git = yield* Git
  return commit !== undefined && (yield* git.entry(directory, commit, path)) === "file"
})

/**
 * A task's file is accounted for when it is there as it was committed, or when it was deleted by a commit: HEAD does
 * not have it, but the task's commit had it, or deleted it, or a later commit did.
 */
const fileIsAccountedFor = Effect.fnUntraced(function* (
  tree: { readonly directory: string; readonly head: string | undefined },
  path: string,
  commit: string | undefined
) {
  const { directory, head } = tree
  if (path.length > longestPath) return false
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const found = yield* files
    .kind(directory, path)
    .pipe(Effect.catchTag("OutsideWorkspace", () => Effect.succeed("outside" as const)))
  if (found === "file" || found === "huge") return true
  if (found === "outside") return false
  if (found !== undefined) return !(yield* isPlainFile(directory, head, path))
  if (head === undefined || commit === undefined) return false
  if ((yield* git.entry(directory, head, path)) !== undefined) return false
  return (yield* git.entry(directory, commit, path)) !== undefined || (yield* git.deletedSince(directory, commit, path))
})

/** Without those that the phase began with: they hold none of its work. */
const newCommits = Effect.fnUntraced(function* (
  directory: string,
  commits: ReadonlyMap<string, string>,
  base: string | undefined
) {
  if (base === undefined || !isCommitName(base)) return commits
  const git = yield* Git
  const [object] = yield* git.describe(directory, [base])
  if (object?._tag !== "Found" || object.type !== "commit") return commits
  const since = yield* git.newSince(directory, [...new Set(commits.values())], object.hash)
  return new Map([...commits].filter(([, commit]) => since.has(commit)))
})

/** Checks the work that a fresh author builds on (docs/design/continuation.md#verification-before-going-on). */
export const verifyContinuation = Effect.fn("verifyContinuation")(function* (
  command: InputOf<"VerifyContinuation">,
  place: Place
) {
  const { base: begun, completedTasks, phase, runId, verified } = command
  const { directory } = place
  const git = yield* Git
  // Undefined on a branch without a commit.
  const head = yield* git.head(directory)
  const names = [...completedTasks.map((task) => task.commit), ...(verified === undefined ? [] : [verified])]
  const commits = yield* newCommits(directory, yield* reachableCommits(directory, head, names), begun)
  const missingCommits = [...new Set(names)].filter((name) => !commits.has(name))

  const missingOf = (task: CompletedTask) =>
    Effect.filter(task.files, (path) =>
      Effect.map(fileIsAccountedFor({ directory, head }, path, commits.get(task.commit)), (accounted) => !accounted)
    )
  const missingFiles = [...new Set((yield* Effect.forEach(completedTasks, missingOf)).flat())]

  const base = begun === undefined ? undefined : yield* rewrittenBase(directory, begun)
  const rewritten = base === undefined ? {} : { base }
  if (missingCommits.length === 0 && missingFiles.length === 0) {
    return { _tag: "ContinuationVerified", runId, phase, ...rewritten } satisfies WorkspaceFact
  }
  const shallow = yield* git.isShallow(directory)
  return {
    _tag: "ContinuationRejected",
    runId,
    phase,
    missingCommits,
    missingFiles,
    ...(shallow ? { shallow } : {}),
    ...rewritten
  } satisfies WorkspaceFact
})
