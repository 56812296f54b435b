/** Has a clone follow what somebody else committed in the repository, such as its user while the run waited. By git in the sandbox. */
import { runProgram } from "@reprise/process"
import { Effect } from "effect"
import { branchIn, headOfClone } from "./headOfClone.ts"
import type { CloneRecord } from "./makeClone.ts"

interface Updating {
  readonly workspace: string
  /** A program that runs git in the sandbox, which sees the clone (`gitUnder`). */
  readonly inSandbox: string
  readonly environment: Readonly<Record<string, string>>
}

/** `to`: what the repository is at. Gives what the clone is at by then: that, unless its agent left it elsewhere. */
export const updateClone = Effect.fn("Sandbox.updateClone")(function* (
  { environment, inSandbox, workspace }: Updating,
  folder: string,
  record: CloneRecord,
  to: CloneRecord
) {
  const said = yield* Effect.promise(() => headOfClone(folder))
  if (said.head !== record.head || said.commit !== record.commit) return record
  const git = (...args: ReadonlyArray<string>) =>
    Effect.map(
      runProgram({ program: "/bin/sh", args: [inSandbox, ...args], directory: workspace, environment }),
      ({ exitCode }) => exitCode === 0
    )
  const branch = branchIn(to.head)
  if (to.commit !== "") {
    if (branch === undefined) yield* git("update-ref", "--no-deref", "HEAD", to.commit)
    else yield* git("update-ref", branch, to.commit)
  }
  if (branch !== undefined && to.head !== record.head) yield* git("symbolic-ref", "HEAD", branch)
  const isMerged = record.commit !== "" && (yield* git("read-tree", "-i", "-m", record.commit, to.commit))
  if (!isMerged && to.commit !== "") yield* git("read-tree", "-i", "-m", to.commit)
  return to
})
