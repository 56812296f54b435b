/** What is tidied in git's folders before and after commands, so that a git outside of the sandbox can work there. */
import { realpath } from "node:fs/promises"
import { hasCode } from "@reprise/process"
import { Effect } from "effect"
import { type GitRepository, gitRepositoryOf, headOf } from "./askGit.ts"
import { isClear } from "./clearPaths.ts"
import { takeIn } from "./clone/takeIn.ts"
import { putAsideLeft } from "./leftovers.ts"
import { type Host, onDisk, putAsideNested, type SandboxFault, sharedFolder } from "./SandboxHost.ts"
import { putAsideCommon, putAsideHead, putAsideStray } from "./strayEntries.ts"
import { removeStrayReplacements } from "./strayReplacements.ts"
import { tellReplaced } from "./tellReplaced.ts"

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** A line of the log is Reprise's. */
const shown = (path: string) => (isClear(path) ? path : JSON.stringify(path))

const movedAside = (paths: ReadonlyArray<string>) =>
  `Moved to .reprise/sandbox/refused, because git would obey it, write through it or wait for it without end: ${paths.slice(0, 20).map(shown).join(", ")}.`

/** Some who call this end, and ask for no answer. */
const sayWhy = (fault: SandboxFault) => Effect.logWarning(fault.message)

const sayMoved = (aside: ReadonlyArray<string>) =>
  aside.length === 0 ? Effect.void : Effect.logWarning(movedAside(aside))

/** The repository of a directory, once git waits for nothing there, whatever it is asked. */
const openRepository = Effect.fnUntraced(function* (host: Host, directory: string) {
  const workspace = yield* onDisk(directory, () =>
    realpath(directory).catch((error) => (hasCode(error, "ENOENT") ? undefined : Promise.reject(error)))
  )
  if (workspace === undefined) return undefined
  const aside = yield* onDisk(directory, async () => {
    const head = await headOf(workspace)
    if (head === undefined) return []
    const folder = sharedFolder(host.options)
    return [...(await putAsideHead(head, folder)), ...(await putAsideCommon(head, folder))]
  }).pipe(Effect.tap(sayMoved))
  return yield* onDisk(directory, () =>
    gitRepositoryOf(workspace, host.environment).catch((error: unknown) => {
      throw aside.length === 0 ? error : new Error(`${movedAside(aside)} ${messageOf(error)}`)
    })
  )
}, Effect.tapError(sayWhy))

const tidyStray = (host: Host, directory: string, git: GitRepository) =>
  onDisk(directory, () =>
    putAsideStray(git, { sandboxFolder: sharedFolder(host.options), environment: host.environment })
  ).pipe(Effect.tap(sayMoved), Effect.tapError(sayWhy), Effect.asVoid)

const tidyReplacements = (host: Host, directory: string, git: GitRepository) =>
  onDisk(directory, () =>
    removeStrayReplacements(git, { sandboxFolder: sharedFolder(host.options), environment: host.environment })
  ).pipe(
    Effect.flatMap((said) => Effect.forEach(said, (sentence) => Effect.logWarning(sentence), { discard: true })),
    Effect.tapError(sayWhy)
  )

/** Before and after each turn and quality gate: what commands may have made that a git outside would obey or wait for. */
export const tidy = Effect.fnUntraced(function* (host: Host, directory: string) {
  yield* Effect.tap(
    onDisk(directory, () => putAsideLeft(sharedFolder(host.options), "all")),
    tellReplaced
  )
  const git = yield* openRepository(host, directory)
  if (git !== undefined) {
    yield* tidyStray(host, directory, git)
    yield* tidyReplacements(host, directory, git)
  }
  yield* putAsideNested(host, directory)
  yield* Effect.tapError(takeIn(host, directory), sayWhy)
})
