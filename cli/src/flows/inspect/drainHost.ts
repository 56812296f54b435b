/**
 * `reprise hosts drain HOST`: a host takes no new runs. The host keeps that itself, with its name on the broker, and has
 * its runs go on elsewhere when a phase is pushed; this command asks it to, and says how far that is.
 */
import { Messenger, type QueryFailed } from "@reprise/actor"
import { Host, isKey, type RunView, type ServiceName } from "@reprise/protocol"
import { Effect, Ref, Schedule } from "effect"
import { type ClientFlags, clientOptions, withWritingClient } from "../../system/clientSystem.ts"
import { allRuns, allSessions, awaitsArchive } from "../../system/lookUp/lookUp.ts"
import { usesRemote } from "../../system/SystemOptions.ts"
import { exitWith, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { drainedText, fateOf, progressLines, runsOn, sessionsOn, underWayIn, waitingIn } from "../../views/drainText.ts"
import { hostsOf } from "../../views/hostsText.ts"
import { knownHosts } from "./hosts.ts"

interface Flags extends ClientFlags {
  readonly host: string
  readonly undo: boolean
  readonly noWait: boolean
}

/** Both do what any host may do: one prepares runs, the other opens standalone sessions. */
const services = ["workspace", "session-manager"] as const satisfies ReadonlyArray<ServiceName>
const lookEvery = "2 seconds"
/** Longer than a conversation takes into the archive. */
const archived = "1 minute"

const unknownHost = (name: string) =>
  wrongUse("unknown-host", `There is no host '${name.slice(0, 80)}'.`, "'reprise hosts list' shows the hosts.")

const goneHost = (name: string, what: string) =>
  missing(
    "host-gone",
    `${what}, so it cannot be asked. While it is away it takes no runs.`,
    `If it comes back, run this again; if it is gone for good, 'reprise hosts forget ${name}' moves its runs elsewhere.`
  )

/** A host that is there, by what its workspace service or its runs say. */
const requireHost = Effect.fnUntraced(function* (name: string) {
  const known = yield* knownHosts
  const found = hostsOf(runsOn(yield* allRuns, name), known).find(({ host }) => host === name)
  const isKnown = found !== undefined || known.some(({ host }) => host === name)
  if (!(isKnown && isKey(name))) return yield* unknownHost(name)
  if (found === undefined || found.hosted === false) return yield* goneHost(name, `Host ${name} does not answer`)
  return { host: Host.make(name), drainedAt: found.drainedAt }
})

const ask = (service: ServiceName, host: Host, drained: boolean) =>
  Effect.flatMap(Messenger, ({ setDrained }) => setDrained(service, host, drained)).pipe(
    Effect.catchIf(
      ({ code }: QueryFailed) => code === "not-running",
      () => goneHost(host, `The ${service} of host ${host} does not answer`)
    )
  )

const undo = Effect.fnUntraced(function* (flags: Flags) {
  const { drainedAt, host } = yield* requireHost(flags.host)
  for (const service of services) yield* ask(service, host, false)
  if (flags.json) okJson({ host, drained: false })
  else if (drainedAt === undefined) say(`Host ${host} was not drained. It takes new runs.`)
  else say(`Host ${host} takes new runs again. Runs that have moved stay where they are.`)
})

/** Looks again and again, and says what has changed, until no run of the host is at work that could leave it. */
const untilLeft = Effect.fnUntraced(function* (host: Host, { json, noWait }: Flags) {
  const told = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
  const look = Effect.gen(function* () {
    const all = yield* allRuns
    const before = yield* Ref.get(told)
    const now = progressLines(before, all, host)
    if (!json) for (const [runId, line] of now) if (before.get(runId) !== line) say(line)
    yield* Ref.set(told, now)
    return all
  })
  const isOver = (all: ReadonlyArray<RunView>) => noWait || underWayIn(runsOn(all, host)).length === 0
  const all = yield* Effect.repeat(look, { until: isOver, schedule: Schedule.spaced(lookEvery) })
  const seen = [...(yield* Ref.get(told)).keys()]
  const left = seen.filter((runId) => runsOn(all, host).every((run) => run.runId !== runId))
  return { runs: runsOn(all, host), left }
})

/** The conversations of runs that have left are read on this host: a moment later they are in the archive. */
const untilArchived = (host: Host) =>
  allSessions.pipe(
    Effect.repeat({
      until: (sessions) => !sessions.some((session) => session.host === host && awaitsArchive(session)),
      schedule: Schedule.spaced(lookEvery)
    }),
    Effect.timeoutOption(archived)
  )

const drain = Effect.fnUntraced(function* (flags: Flags) {
  const found = yield* requireHost(flags.host)
  const { host } = found
  const [workspace] = yield* Effect.forEach(services, (service) => ask(service, host, true))
  const drainedAt = workspace?.drainedAt
  if (!flags.json) {
    say(
      found.drainedAt === undefined
        ? `Host ${host} takes no new runs and sessions from now on.`
        : `Host ${host} has taken no new runs since ${found.drainedAt}.`
    )
    const takers = (yield* knownHosts).filter((one) => one.answers === true && one.drainedAt === undefined)
    if (takers.length === 0) say("No other host takes new runs now: they wait until one does.")
  }
  const { left, runs } = yield* untilLeft(host, flags)
  if (left.length > 0) yield* untilArchived(host)
  const sessions = sessionsOn(yield* allSessions, host)
  if (flags.json) {
    okJson({
      host,
      drained: true,
      drainedAt,
      left,
      runs: runs.map((run) => ({ runId: run.runId, status: run.status, fate: fateOf(run) })),
      sessions: sessions.map(({ sessionId }) => sessionId)
    })
  } else for (const line of drainedText(host, runs, sessions)) say(line)
  if (waitingIn(runs).length > 0 && underWayIn(runs).length === 0) return yield* exitWith(exitCodes.waiting)
})

export const drainHost = Effect.fnUntraced(function* (flags: Flags) {
  const { options } = yield* clientOptions(flags)
  if (!usesRemote(options)) {
    return yield* wrongUse(
      "one-machine",
      "Only a host on your NATS server can be drained: here no other host could continue its runs.",
      "Name the server with --nats; on one machine, end the process with Ctrl-C, and continue later with 'reprise up'."
    )
  }
  return yield* withWritingClient(flags, flags.undo ? undo(flags) : drain(flags))
})
