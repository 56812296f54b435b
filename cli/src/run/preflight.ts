/** What must hold before a run starts, looked at before anything is touched. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { Effect } from "effect"
import { missing } from "../CliFailure.ts"
import type { Project } from "../project/Project.ts"

const run = promisify(execFile)
const shown = 10

/** Fails with exit code 3, naming what is not committed, untracked files included (workspace: Prepare). */
export const requireCleanTree = Effect.fn("requireCleanTree")(function* (project: Project) {
  const { stdout } = yield* Effect.tryPromise({
    try: () =>
      run("git", ["status", "--porcelain", "--untracked-files=normal", "--", ".", ":(exclude).reprise"], {
        cwd: project.root,
        maxBuffer: 64 * 1024 * 1024
      }),
    catch: (cause) => missing("git", `git cannot tell the state of ${project.root}.`, "Try 'git status' there.", cause)
  })
  const dirty = stdout.split("\n").filter((line) => line !== "")
  if (dirty.length === 0) return
  const more = dirty.length > shown ? `\n  … and ${dirty.length - shown} more` : ""
  return yield* missing(
    "dirty-tree",
    `The working tree is not clean:\n${dirty
      .slice(0, shown)
      .map((line) => `  ${line}`)
      .join("\n")}${more}`,
    "Commit or stash it, or start with --allow-dirty."
  )
})
