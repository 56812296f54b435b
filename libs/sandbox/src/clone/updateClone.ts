/** Has a clone follow what somebody else committed in the repository, such as its user while the run waited. By git in the sandbox. */
import { runProgram } from "@reprise/process"
import { Effect } from "effect"
import type { Environment } from "../git/askGit.ts"
import { CloneRefused, reasonIn } from "./cloneGit.ts"
import type { Fetching } from "./fetchClone.ts"
import { branchIn, type Head } from "./heads.ts"

const definedOf = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  )

/** `last`: what the clone is at; `to`: what the repository is at. */
export const updateClone = Effect.fn("Sandbox.updateClone")(function* (
  { directory, environment, inSandbox, seen, workspace }: Omit<Fetching, "objects">,
  last: Head,
  to: Head
) {
  const git = (...args: ReadonlyArray<string>) =>
    Effect.map(
      runProgram({
        program: "/bin/sh",
        args: [inSandbox, `--git-dir=${seen}`, ...args],
        directory: workspace,
        environment: definedOf(environment)
      }),
      ({ exitCode, stderr }) => (exitCode === 0 ? undefined : reasonIn(stderr))
    )
  const branch = branchIn(to.head)
  // With what its author staged besides, if that fits.
  const merges = last.commit === "" ? [] : [["read-tree", "-i", "-m", last.commit, to.commit]]
  const indexes = [...merges, ["read-tree", "-i", "-m", to.commit]]
  let failed: string | undefined
  for (const words of indexes) {
    failed = yield* git(...words)
    if (failed === undefined) break
  }
  failed ??= yield* branch === undefined
    ? git("update-ref", "--no-deref", "HEAD", to.commit)
    : git("update-ref", branch, to.commit)
  if (branch !== undefined && to.head !== last.head) failed ??= yield* git("symbolic-ref", "HEAD", branch)
  if (failed !== undefined) return yield* new CloneRefused({ directory, reason: failed })
})
