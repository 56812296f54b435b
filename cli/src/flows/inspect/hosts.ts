/** `reprise hosts list|forget`: which hosts there are, and what goes on elsewhere when one is gone for good. */
import { Messenger, type Refused } from "@reprise/actor"
import { Host, isKey, type RunView, to } from "@reprise/protocol"
import { Effect } from "effect"
import { type ClientFlags, withClient, withWritingClient } from "../../system/clientSystem.ts"
import { allRuns } from "../../system/lookUp/lookUp.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { isOpenRun } from "../../views/ended.ts"
import { type HostOfRuns, hostsOf, hostsTable } from "../../views/hostsText.ts"

export const openRuns = Effect.map(allRuns, (runs) => runs.filter(isOpenRun))

/** The hosts that their workspace services know; none, where no host is there that could say. */
export const knownHosts = Effect.flatMap(Messenger, ({ hosts }) => hosts("workspace")).pipe(
  Effect.catchIf(
    ({ code }) => code === "not-running",
    () => Effect.succeed([])
  )
)

export const listHosts = (flags: ClientFlags) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const hosts = hostsOf(yield* openRuns, yield* knownHosts)
      if (flags.json) return okJson(hosts)
      if (hosts.length === 0) return say("No host answers, and none has an open run.")
      data(hostsTable(hosts))
    })
  )

const requireGone = Effect.fnUntraced(function* (runs: ReadonlyArray<RunView>, name: string) {
  const host = hostsOf(runs).find((one) => one.host === name)
  if (host === undefined || !isKey(name)) {
    return yield* wrongUse(
      "unknown-host",
      `No open run is on host '${name.slice(0, 80)}'.`,
      "'reprise hosts list' shows the hosts of the open runs."
    )
  }
  if (host.hosted === false) return host
  return yield* wrongUse(
    "host-answers",
    `Host ${name} ${host.hosted === true ? "still does its work" : "may still do its work"}.`,
    "End its services first: two hosts must not work on one run."
  )
})

/** Why a run stays; undefined: it goes on elsewhere. A run that left the host meanwhile is done as well. */
const move = Effect.fnUntraced(function* (runId: HostOfRuns["runs"][number], from: string, command: string) {
  const { ask } = yield* Messenger
  return yield* ask(to.orchestrator(runId).MoveRun({ from: Host.make(from) }), {
    id: `${command}-${runId}`,
    timeout: "10 seconds"
  }).pipe(
    Effect.as(undefined),
    Effect.catchTags({
      Refused: ({ code, reason }: Refused) => Effect.succeed(code === "not-on-host" ? undefined : reason),
      // It is stored, and done when an orchestrator runs.
      NoAnswer: () => Effect.succeed(undefined)
    })
  )
})

export const forgetHost = (flags: ClientFlags & { readonly host: string }) => {
  const command = `forget-${flags.host.slice(0, 64)}-${Date.now()}`
  return withWritingClient(
    flags,
    Effect.gen(function* () {
      const { runs } = yield* requireGone(yield* openRuns, flags.host)
      const outcomes = yield* Effect.forEach(runs, (runId) =>
        Effect.map(move(runId, flags.host, command), (reason) => ({ runId, reason }))
      )
      const moved = outcomes.filter(({ reason }) => reason === undefined).map(({ runId }) => runId)
      const kept = outcomes.flatMap(({ reason, runId }) => (reason === undefined ? [] : [{ runId, reason }]))
      if (flags.json) okJson({ host: flags.host, moved, kept })
      else {
        for (const runId of moved) say(`Run ${runId} continues on another host, from its last push.`)
        for (const { reason } of kept) say(reason)
      }
      if (moved.length === 0) return yield* exitWith(exitCodes.missing)
    })
  )
}
