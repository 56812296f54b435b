/** Finds the repository of a workspace, and checks that the plan is a file in it. */
import { dirname, isAbsolute, join } from "node:path"
import { Effect } from "effect"
import type { InputOf } from "../../actor/inputs.ts"
import type { GitFault } from "../faults.ts"
import { excludePatterns } from "../files/ownFiles.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { Git } from "../git/Git.ts"
import { GitDirectory } from "../git/GitDirectory.ts"
import { refuse } from "./refusal.ts"

const notARepository = (workspace: string, fault: GitFault): string =>
  fault.withoutWorkTree
    ? `${workspace} has no working tree: it is a bare repository, or git's own directory. Use a clone of it.`
    : `${workspace} is not in a git repository: git ${fault.operation} failed (${fault.exitCode}): ${fault.said}`

/** The real path of the repository's top directory. */
const requireRepository = Effect.fnUntraced(function* (workspace: string) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  if (!isAbsolute(workspace)) return yield* refuse("other", `The workspace '${workspace}' is not an absolute path.`)
  if (!(yield* files.isDirectory(workspace))) {
    return yield* refuse("not-a-repository", `There is no directory ${workspace} on this host.`)
  }
  const top = yield* git
    .topLevel(workspace)
    .pipe(Effect.catchTag("GitFault", (fault) => refuse("not-a-repository", notARepository(workspace, fault))))
  const root = yield* files.realPath(top)
  if ((yield* git.head(root)) === undefined) {
    return yield* refuse("other", `${root} has no commit yet. Commit the plan first.`)
  }
  return root
})

/** The text of the plan, which must belong to this repository and not to one nested in it. */
export const requirePlan = Effect.fnUntraced(function* (root: string, planPath: string) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const plan = yield* files.read(root, planPath).pipe(
    Effect.catchTags({
      OutsideWorkspace: ({ message }) => refuse("outside", message),
      NotAFile: ({ what }) => refuse("other", `The plan ${planPath || "''"} in ${root} ${what}.`)
    })
  )
  if (plan === undefined) return yield* refuse("other", `There is no plan ${planPath} in ${root}.`)
  const owner = yield* git.topLevel(dirname(join(root, planPath)))
  if ((yield* files.realPath(owner)) !== root) {
    return yield* refuse(
      "outside",
      `The plan ${planPath} is a file of another repository, ${owner}. Start the run there.`
    )
  }
  return plan
})

/** Also hides Reprise's own files from git. */
export const locateRepository = Effect.fnUntraced(function* (command: InputOf<"PrepareWorkspace">) {
  const git = yield* Git
  const root = yield* requireRepository(command.workspace)
  const plan = yield* requirePlan(root, command.planPath)
  const own = yield* GitDirectory
  yield* own.exclude(yield* git.gitPath(root, "info/exclude"), excludePatterns)
  return { root, plan }
})
