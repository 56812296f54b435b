/** For tests: git remotes, and hosts that clone them. */
import { join } from "node:path"
import type { Host, RunId } from "@reprise/protocol"
import { Effect } from "effect"
import type { Place } from "../../src/actor/work.ts"
import { release } from "../../src/work/doCommand.ts"
import { finishPhase } from "../../src/work/phase/finishPhase.ts"
import { prepare } from "../../src/work/prepare/prepare.ts"
import { Remotes } from "../../src/work/remote/Remotes.ts"
import { host } from "./brokers.ts"
import { finish, prepareIn, runId } from "./commands.ts"
import { at, type Repository, repository, temporaryDirectory } from "./repository.ts"

/** A remote with one commit on `main`, which holds the plan, and a clone of it in which somebody works. */
export const remote = Effect.gen(function* () {
  const somebody = yield* repository
  const path = join(yield* temporaryDirectory, "app.git")
  yield* somebody.git("clone", "--quiet", "--bare", "--", somebody.root, path)
  yield* somebody.git("remote", "add", "origin", path)
  return { url: `file://${path}`, path, somebody, bare: at(path) }
})

interface Wanted {
  readonly url: string
  readonly ref?: string
  readonly run?: RunId
  readonly planPath?: string
  readonly leaving?: Host
}

/** A host with a folder for its clones. */
export const newHost = (environment?: Readonly<Record<string, string | undefined>>) =>
  Effect.gen(function* () {
    const folder = yield* temporaryDirectory
    const remotes = Remotes.layerIn(folder, environment)
    const attempt = ({ leaving, planPath = "PLAN.md", ref, run = runId, url }: Wanted, before?: Place) =>
      prepare(
        prepareIn("", {
          ...{ runId: run, planPath, remote: { url, ...(ref === undefined ? {} : { ref }) } },
          ...(leaving === undefined ? {} : { leaving })
        }),
        host,
        before,
        crypto.randomUUID()
      ).pipe(Effect.provide(remotes))
    return {
      folder,
      refused: (wanted: Wanted) =>
        Effect.map(attempt(wanted), ({ event }) =>
          event._tag === "WorkspaceRefused" ? `${event.kind}: ${event.reason}` : event._tag
        ),
      failed: (wanted: Wanted) => Effect.flip(attempt(wanted)),
      prepared: (wanted: Wanted, before?: Place) =>
        Effect.flatMap(attempt(wanted, before), ({ event, place }) =>
          event._tag === "WorkspacePrepared" && place !== undefined
            ? Effect.succeed({ event, place, tree: at(place.directory) })
            : Effect.die(new Error(JSON.stringify(event)))
        ),
      finish: (place: Place, approved?: string) =>
        finishPhase(finish(undefined, approved), place).pipe(Effect.provide(remotes)),
      release: (place: Place, outcome: "completed" | "aborted" = "completed") =>
        release({ _tag: "ReleaseWorkspace", runId, outcome }, place).pipe(Effect.provide(remotes))
    }
  })

export const work = Effect.fnUntraced(function* (tree: Repository, path: string) {
  yield* tree.write(path, path)
  return yield* tree.commit(`add ${path}`)
})
