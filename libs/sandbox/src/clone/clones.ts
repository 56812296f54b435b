/** The clones of a host: made before commands see them, and fetched from when commands have ended. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { GitRepository } from "../askGit.ts"
import { exists } from "../found.ts"
import { gitDirectoriesOf } from "../gitDirectories.ts"
import type { Mount } from "../mounts.ts"
import {
  type Clone,
  type ClonedDirectory,
  type CloneOf,
  cloneAt,
  clonedDirectories,
  cloneMounts
} from "./clonePlaces.ts"
import { headOf } from "./fetchClone.ts"
import { makeClone } from "./makeClone.ts"

export interface PlacedClone {
  readonly clone: Clone
  readonly directories: ReadonlyArray<ClonedDirectory>
  readonly mounts: ReadonlyArray<Mount>
}

export const placeClone = async (folder: string, id: string, git: GitRepository, of: CloneOf): Promise<PlacedClone> => {
  const clone = cloneAt(folder, id, of)
  const { repositories } = await gitDirectoriesOf(git)
  const directories = clonedDirectories(git, repositories, clone)
  return { clone, directories, mounts: cloneMounts(git, directories, clone, exists) }
}

/** An agent's stays as it is; the others begin anew. */
export const readyClone = Effect.fn("Sandbox.readyClone")(function* (
  git: GitRepository,
  { clone, directories }: PlacedClone
) {
  if (clone.of === "agent" && exists(clone.folder) && exists(clone.record)) return
  const { directory, workspace } = git
  yield* Effect.promise(() => mkdir(join(clone.folder, ".."), { recursive: true, mode: 0o700 }))
  const head = yield* headOf({ workspace, directory, inSandbox: "" })
  yield* makeClone(git, clone, directories, head)
})
