import type { CompletedTask, WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { isCommitName } from "./domain/commitHash.ts"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { Git } from "./Git.ts"
import { rewrittenBase } from "./rewrittenBase.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"

type VerifyContinuation = Extract<WorkspaceCommand, { readonly _tag: "VerifyContinuation" }>

/** The whole hash of each commit that is one and that HEAD leads to, by the name a task gave it. One look for all. */
const reachableCommits = Effect.fnUntraced(function* (
  directory: string,
  head: string | undefined,
  names: ReadonlyArray<string>
) {
  const git = yield* Git
  if (head === undefined) return new Map<string, string>()
  const asked = [...new Set(names)].filter(isCommitName)
  const objects = yield* git.describe(directory, asked)
  const found = new Map<string, string>()
  for (const [index, name] of asked.entries()) {
    const object = objects[index]
    if (object?._tag === "Found" && object.type === "commit" && object.hash.startsWith(name.toLowerCase())) {
      found.set(name, object.hash)
    }
  }
  const unreachable = yield* git.unreachable(directory, [...new Set(found.values())])
  return new Map([...found].filter(([, hash]) => !unreachable.has(hash)))
})

/** No system has files of longer paths; an agent may name one all the same. */
const longestPath = 4096

/** Whether what git has at a path is a plain file, so that nothing else may be in its place. */
const isPlainFile = Effect.fnUntraced(function* (directory: string, commit: string | undefined, path: string) {
  const git = yield* Git
  return commit !== undefined && (yield* git.entry(directory, commit, path)) === "file"
})

/**
 * A file of a task counts when it is there as what was committed, or when it is not to be there: HEAD is without it, and
 * the task's commit had it or a commit since then deleted it.
 */
const fileIsAccountedFor = Effect.fnUntraced(function* (
  place: { readonly directory: string; readonly head: string | undefined },
  path: string,
  commit: string | undefined
) {
  const { directory, head } = place
  if (path.length > longestPath) return false
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const found = yield* files
    .kind(directory, path)
    .pipe(Effect.catchTag("OutsideWorkspace", () => Effect.succeed("outside" as const)))
  if (found === "file") return true
  if (found === "outside") return false
  if (found !== undefined) return !(yield* isPlainFile(directory, head, path))
  if (head === undefined || commit === undefined) return false
  if ((yield* git.entry(directory, head, path)) !== undefined) return false
  return (yield* git.entry(directory, commit, path)) !== undefined || (yield* git.deletedSince(directory, commit, path))
})

/** Checks the work that a fresh author is to build on (continuation: Verification before going on). */
export const verifyContinuation = Effect.fn("verifyContinuation")(function* (
  command: VerifyContinuation,
  place: Place
) {
  const { base: begun, completedTasks, phase, runId, verified } = command
  const { directory } = place
  const git = yield* Git
  // Undefined on a branch without a commit.
  const head = yield* git.head(directory)
  const names = [...completedTasks.map((task) => task.commit), ...(verified === undefined ? [] : [verified])]
  const commits = yield* reachableCommits(directory, head, names)
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
