/** Takes what authors committed in their clone into the repository, and removes the clone when nobody goes on there. */
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { gitRepositoryOf } from "../git/askGit.ts"
import {
  clonesFolder,
  digest,
  gitInside,
  type Host,
  onDisk,
  SandboxFault,
  settled,
  sharedFolder
} from "../SandboxHost.ts"
import { cloneAt } from "./clonePlaces.ts"
import { newsOf, placeClone, removeClone, takeNews } from "./clones.ts"
import { headIn } from "./heads.ts"
import { saveObjects } from "./savedObjects.ts"

/** The clone of a directory's authors. Undefined: there is none. */
const cloneIn = (host: Host, directory: string) =>
  onDisk(directory, async () => {
    const workspace = await realpath(directory)
    const git = await gitRepositoryOf(workspace, host.environment)
    if (git === undefined) return undefined
    const placed = await placeClone(clonesFolder(host), git, {
      engine: host.engine,
      id: digest(workspace),
      of: "agent"
    })
    const found = await newsOf(placed)
    return found === undefined ? undefined : { ...placed, git, hasNews: found.news.length > 0 }
  })

/** Takes what authors committed in the clone of a directory into its repository. Gives why that was not possible. */
export const takeIn = Effect.fnUntraced(function* (host: Host, directory: string) {
  if (host.options.visiting === true) return undefined
  const clone = yield* cloneIn(host, directory)
  if (clone?.hasNews !== true) return undefined
  const inSandbox = yield* gitInside(host, directory, yield* settled(host, directory, "author"))
  return yield* takeNews(clone.git, clone, inSandbox, host.environment).pipe(
    // Another service of this host may have taken it in at the same time.
    Effect.retry({ times: 2 }),
    Effect.as(undefined),
    Effect.catchTag("CloneRefused", ({ message }) => Effect.as(Effect.logWarning(message), message)),
    Effect.mapError((cause) => new SandboxFault({ directory, cause }))
  )
})

/** Removes the clone of a directory's authors. The objects of what could not be taken from it are kept. */
export const forgetClone = Effect.fnUntraced(function* (host: Host, directory: string) {
  if (host.options.visiting === true) return
  const refused = yield* takeIn(host, directory)
  const ofGates = yield* onDisk(directory, async () =>
    cloneAt(clonesFolder(host), digest(await realpath(directory)), "gate")
  )
  yield* onDisk(directory, () => removeClone(ofGates))
  const found = yield* cloneIn(host, directory)
  if (found === undefined) return
  const { clone, directories } = found
  if (refused === undefined) return yield* onDisk(directory, () => removeClone(clone))
  const { commit } = yield* onDisk(directory, () => headIn(clone.folder))
  const kept = join(sharedFolder(host.options), "refused", `${Date.now()}-objects`)
  yield* onDisk(directory, async () => {
    await saveObjects(directories, kept)
    await removeClone(clone)
  })
  yield* Effect.logWarning(
    `What the author committed there, up to ${commit}, is in ${kept}: copy what is in it into the folder 'objects' of a new repository, and 'git fsck --full' there before you use it.`
  )
})
