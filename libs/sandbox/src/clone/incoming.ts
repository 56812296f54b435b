/**
 * What comes from a clone lies in a folder of its own until git has checked all of it: what it refuses is then in no repository, also
 * when the fetch is tried again, which would find it there and not look.
 */
import { mkdir, mkdtemp, readdir, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { removeForeign } from "@reprise/process"
import { Effect } from "effect"
import { onDisk } from "../nested/gitSays.ts"

/** In a folder of objects. git removes what begins so, where a killed process left it (`git prune`). */
const prefix = "tmp_objdir-reprise-"

/** An index comes after its pack, since git takes a pack for whole that has one. */
const last = (name: string): number => (name.endsWith(".idx") ? 1 : 0)

/** Moves checked objects to `objects`, on the same disk. */
const migrate = async (incoming: string, objects: string): Promise<void> => {
  for (const folder of await readdir(incoming)) {
    if (folder !== "pack" && !/^[0-9a-f]{2}$/.test(folder)) continue
    await mkdir(join(objects, folder), { recursive: true })
    const names = (await readdir(join(incoming, folder))).toSorted((one, other) => last(one) - last(other))
    for (const name of names) await rename(join(incoming, folder, name), join(objects, folder, name))
  }
}

/** `fetch` writes objects into the folder that it is given, which borrows from `objects`; they are moved there if it succeeds. */
export const throughIncoming = <A, E, R>(objects: string, fetch: (incoming: string) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    onDisk(async () => {
      const incoming = await mkdtemp(join(objects, prefix))
      await mkdir(join(incoming, "info"))
      await writeFile(join(incoming, "info", "alternates"), `${objects}\n`)
      return incoming
    }),
    (incoming) => Effect.tap(fetch(incoming), () => onDisk(() => migrate(incoming, objects))),
    (incoming) => Effect.promise(() => removeForeign(incoming).catch(() => undefined))
  )
