/**
 * For tests: what a command might try to get out of the sandbox, and how the machine shows that it did. The same table is
 * tried by the agents of every runtime and by quality gates.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Array as Arr, Effect } from "effect"
import { findUsability } from "../command/usability.ts"
import { escapes } from "./escapes.ts"
import { lookOutside } from "./nestedRepositoryEscapes.ts"
import { canary, makeScene, type Scene } from "./scene.ts"

export { canary, escapes, lookOutside, type Scene }

/** Its output goes to a file of the workspace, from where `outputOf` reads it. */
export const recorded = (scene: Scene, index: number): string =>
  `( ${escapes[index]?.command(scene) ?? "true"} ) > ${scene.workspace}/out-${index}.txt 2>&1; true`

const perBatch = 12

/** All tries as few commands. One that would end the others, or that changes what they run in, is a command of its own. */
export const batches = (scene: Scene): ReadonlyArray<string> => {
  const commands = (wanted: boolean) =>
    escapes.flatMap(({ alone = false }, index) => (alone === wanted ? [recorded(scene, index)] : []))
  return [...Arr.chunksOf(commands(false), perBatch).map((tries) => tries.join("; ")), ...commands(true)]
}

const outputOf = ({ workspace }: Scene, index: number): string | undefined => {
  const path = join(workspace, `out-${index}.txt`)
  return existsSync(path) ? readFileSync(path, "utf8") : undefined
}

/** The titles of what got out, or was never tried. */
export const escapedFrom = (scene: Scene): ReadonlyArray<string> =>
  escapes.flatMap(({ escaped, title }, index) => {
    const output = outputOf(scene, index)
    if (output === undefined) return [`${title}: not tried`]
    return escaped(scene, output) ? [`${title}: ${output.slice(0, 200)}`] : []
  })

/** Removes what tries that succeeded would have left on the machine. */
const cleanUp = (scene: Scene): void => {
  for (const path of ["/tmp", "/dev/shm", "/usr/local/bin", "/var/spool/cron/crontabs"])
    rmSync(join(path, `escaped-${scene.port}`), { force: true })
  scene.close()
}

/** A scene in this folder, until the scope closes. */
export const sceneIn = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(() => makeScene(folder)),
    (scene) => Effect.sync(() => cleanUp(scene))
  )

/** A scene in a folder of its own, which is removed when the scope closes. */
export const scene = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-scene-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(Effect.flatMap(sceneIn))

/** Whether tests of the sandbox can run on this machine. If not, it is said why they are skipped. */
export const canSandbox = async (): Promise<boolean> => {
  const usability = await Effect.runPromise(findUsability(process.env))
  if (usability._tag !== "unusable") return true
  process.stdout.write(`sandbox tests: skipped. ${usability.reason}\n`)
  return false
}
