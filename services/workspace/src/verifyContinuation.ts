import type { CompletedTask, WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { isCommitName } from "./domain/commitHash.ts"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { Git } from "./Git.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"

type VerifyContinuation = Extract<WorkspaceCommand, { readonly _tag: "VerifyContinuation" }>

/** The whole hash of each commit that is one and that HEAD leads to, by the name a task gave it. One look for all. */
const reachableCommits = Effect.fnUntraced(function* (directory: string, names: ReadonlyArray<string>) {
  const git = yield* Git
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

/** A file of a task counts when it is there, or when the task's commit or a later one deleted it. */
const fileIsAccountedFor = Effect.fnUntraced(function* (directory: string, path: string, commit: string | undefined) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const inside = yield* files.exists(directory, path).pipe(
    Effect.map((there): "there" | "gone" | "outside" => (there ? "there" : "gone")),
    Effect.catchTag("OutsideWorkspace", () => Effect.succeed("outside" as const))
  )
  if (inside !== "gone" || commit === undefined) return inside === "there"
  return yield* git.deletedSince(directory, commit, path)
})

/** Checks the work that a fresh author is to build on (continuation: Verification before going on). */
export const verifyContinuation = Effect.fn("verifyContinuation")(function* (
  command: VerifyContinuation,
  place: Place
) {
  const { completedTasks, phase, runId } = command
  const { directory } = place
  const commits = yield* reachableCommits(
    directory,
    completedTasks.map((task) => task.commit)
  )
  const missingCommits = [...new Set(completedTasks.map((task) => task.commit))].filter((name) => !commits.has(name))

  const missingOf = (task: CompletedTask) =>
    Effect.filter(task.files, (path) =>
      Effect.map(fileIsAccountedFor(directory, path, commits.get(task.commit)), (accounted) => !accounted)
    )
  const missingFiles = [...new Set((yield* Effect.forEach(completedTasks, missingOf)).flat())]

  if (missingCommits.length === 0 && missingFiles.length === 0) {
    return { _tag: "ContinuationVerified", runId, phase } satisfies WorkspaceFact
  }
  const git = yield* Git
  const shallow = yield* git.isShallow(directory)
  return {
    _tag: "ContinuationRejected",
    runId,
    phase,
    missingCommits,
    missingFiles,
    ...(shallow ? { shallow } : {})
  } satisfies WorkspaceFact
})
