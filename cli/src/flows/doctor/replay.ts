/** `reprise doctor --replay RUN`: whether this version of the code can go on with what is stored of a run. */
import { type ActorReplay, type ReplayDifference, type Replayed, replayActor } from "@reprise/actor"
import { escalationActor } from "@reprise/gate"
import { runActor } from "@reprise/orchestrator"
import { contracts, isStandalone, Key, type ServiceName } from "@reprise/protocol"
import { reviewActor } from "@reprise/reviewer"
import { defaultServiceSettings, sessionActor } from "@reprise/session-manager"
import { workspaceActor } from "@reprise/workspace"
import { Effect } from "effect"
import { sessionSettings } from "../../config/serviceOptions.ts"
import type { Settings } from "../../config/settingsTable.ts"
import { type ClientFlags, clientOptions, withOperator } from "../../system/clientSystem.ts"
import { allQuestions, allRuns, allSessions, unknownRun } from "../../system/lookUp/lookUp.ts"
import { exitWith } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { type ActorName, actorsOf, recordsOf } from "../records/RunRecord.ts"
import { broken, type Finding, findingsTable, ok, warning } from "./findings.ts"

interface ReplayedActor extends ActorName, Replayed {}

const replays = (settings: Settings): Readonly<Record<ServiceName, ActorReplay>> => ({
  orchestrator: replayActor(runActor),
  "session-manager": replayActor(sessionActor({ ...defaultServiceSettings, ...sessionSettings(settings) })),
  reviewer: replayActor(reviewActor),
  gate: replayActor(escalationActor),
  workspace: replayActor(workspaceActor)
})

/** The actors of a standalone session: it is a run of its own, which no list of runs shows. */
const actorsOfStandalone = Effect.fnUntraced(function* (id: string) {
  const session = (yield* allSessions).find((one) => one.sessionId === id && isStandalone(one))
  if (session === undefined) return yield* unknownRun(id)
  const questions = (yield* allQuestions).filter(({ runId }) => runId === id)
  return [
    { service: "session-manager", key: id },
    ...questions.map(({ escalationId }) => ({ service: "gate", key: escalationId }) as const),
    { service: "orchestrator", key: id }
  ] satisfies ReadonlyArray<ActorName>
})

const actorsOfRun = Effect.fnUntraced(function* (id: string) {
  const [record] = yield* recordsOf((yield* allRuns).filter(({ runId }) => runId === id))
  return record === undefined ? yield* actorsOfStandalone(id) : actorsOf(record)
})

const place = ({ at, input, sequence }: ReplayDifference): string =>
  at === undefined ? `journal entry ${sequence}` : `journal entry ${sequence} of ${at} (${input})`

const entryCount = (count: number): string => `${count} ${count === 1 ? "entry" : "entries"}`

const findingOf = (run: string, { difference, entries, key, service }: ReplayedActor): Finding => {
  const check = `${contracts[service].actor} ${key}`
  if (difference === undefined) return ok(check, `${entryCount(entries)}, replayed without a difference`)
  const { detail, kind } = difference
  switch (kind) {
    case "unreadable":
      return broken(
        check,
        `${place(difference)} cannot be read: ${detail}`,
        `Use the version that wrote it; 'reprise repair ${run}' ends the run if there is none.`
      )
    case "sent":
      return warning(
        check,
        `${place(difference)}: ${detail}`,
        "This version would have sent something else. Nothing is sent again."
      )
    case "shown":
      return warning(
        check,
        `${place(difference)}: ${detail}`,
        "The stored view differs from the journal; the next message corrects it."
      )
  }
}

interface Flags extends ClientFlags {
  readonly run: string
}

/** Exits with 3 if a journal cannot be read; writes nothing. */
export const replay = (flags: Flags) =>
  withOperator(
    flags,
    Effect.gen(function* () {
      const { options } = yield* clientOptions(flags)
      const replayOf = replays(options.settings)
      const actors = yield* actorsOfRun(flags.run)
      const replayed = yield* Effect.forEach(actors, (actor) =>
        Effect.map(replayOf[actor.service](Key.make(actor.key)), (found): ReplayedActor => ({ ...actor, ...found }))
      )
      const known = replayed.filter(({ entries }) => entries > 0)
      if (flags.json) okJson(known)
      else data(findingsTable(known.map((actor) => findingOf(flags.run, actor))))
      if (known.some(({ difference }) => difference?.kind === "unreadable")) return yield* exitWith(exitCodes.missing)
    })
  )
