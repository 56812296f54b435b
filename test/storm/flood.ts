/**
 * Sends malformed, huge, stale, misaddressed and forged messages to every subject while runs go on, and meanwhile asks
 * and answers questions of its own, to see how long a good answer takes.
 */
import { randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import { attach, Nats, type NatsShape, publish } from "@reprise/nats"
import { contracts, encodeMeta, type ServiceName, subjects as subjectsOf } from "@reprise/protocol"
import { Clock, Effect, Schedule } from "effect"
import { connectAs } from "../harness/brokerOf.ts"
import type { World } from "../harness/World.ts"
import { type Random, randomOf } from "../simulation/machine/Random.ts"

export interface FloodOptions {
  readonly seed: number
  readonly messages: number
  /** Is told how far it is. */
  readonly say?: (line: string) => void
}

export interface Flood {
  readonly sent: number
  /** How long each good answer took until the gate had taken it. */
  readonly answersMs: ReadonlyArray<number>
  readonly brokerRestarted: boolean
}

/** Ids of messages that nobody but the flood sends begin with it. */
const floodId = "flood-"

/** Whether an id of a message or a run is the flood's own. */
export const isOfFlood = (id: string): boolean => id.startsWith(floodId)

const subjects = subjectsOf("reprise")
const services = Object.keys({
  orchestrator: 0,
  "session-manager": 0,
  reviewer: 0,
  gate: 0,
  workspace: 0
} satisfies Record<ServiceName, 0>) as ReadonlyArray<ServiceName>

interface Letter {
  readonly subject: string
  /** Undefined: nobody stores it. */
  readonly stream?: string
  readonly body: string | Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Real messages that were seen: their subject, headers and body. */
type Seen = Array<Omit<Letter, "stream"> & { readonly body: string }>

const remembered = 400

/** Remembers what the services say to each other. Nobody may hear it while it is said: it is read where it is stored. */
const listen = async ({ js }: NatsShape, seen: Seen): Promise<void> => {
  const { commands, events, work } = subjects.streams
  for (const stream of [commands, work, events]) {
    await (await js.consumers.get(stream)).consume({
      callback: (message) => {
        const id = message.headers?.get("ce-id") ?? ""
        if (id === "" || isOfFlood(id)) return
        const headers = Object.fromEntries([...(message.headers ?? [])].map(([name, [value = ""]]) => [name, value]))
        if (seen.length < remembered) seen.push({ subject: message.subject, headers, body: message.string() })
      }
    })
  }
}

const envelope = (id: string, type: string) =>
  encodeMeta({ id, type, source: "/flood/nobody", subject: "nobody", time: new Date(0).toISOString() })

const streamOf = (subject: string): { readonly stream?: string } => {
  const { commands, dead, events, journal, timers, work } = subjects.streams
  const byKind = new Map(Object.entries({ command: commands, work, event: events, timer: timers, dead, journal }))
  if (subject.startsWith("$KV.")) return { stream: `KV_${subject.split(".")[1]}` }
  const [prefix, kind = ""] = subject.split(".")
  const stream = prefix === "reprise" ? byKind.get(kind) : undefined
  return stream === undefined ? {} : { stream }
}

/** A key of an actor that nobody has. Garbage in somebody's journal is damage, which `reprise repair` is for. */
const stranger = (random: Random) => `stranger-${random.below(50)}`

const subjectOf = (random: Random, service: ServiceName): string => {
  const key = stranger(random)
  return random.pick(
    subjects.command(service, key),
    subjects.command(service, key),
    subjects.command(service, key),
    `reprise.work.${service}.any.${key}`,
    `reprise.work.${service}.local.${key}`,
    `reprise.event.${service}.${key}.${random.pick("TurnCompleted", "VerdictReached", "Nothing")}`,
    `reprise.timer.${service}.${key}`,
    subjects.dead(service, key),
    `reprise.journal.${contracts[service].actor}.${key}`,
    `$KV.${subjects.buckets.views}.${service}.${key}`,
    `$KV.${subjects.buckets.snapshots}.${service}.${key}`,
    `reprise.api.${service}.${random.pick("list", "show", "worker.local", "watch.local", "nothing")}`,
    `reprise.nothing.${key}`,
    "$SRV.PING",
    `$SRV.INFO.${service}`
  )
}

const typeOf = (random: Random, service: ServiceName): string => {
  const [first = "Nothing", ...others] = Object.keys(contracts[service].commands.cases)
  return random.pick(first, ...others)
}

/** Nothing that a reader of JSON, or of this message, can use. */
const malformed = (random: Random, id: string): Letter => {
  const service = random.pick("gate", ...services)
  const subject = subjectOf(random, service)
  const body = random.pick<string | Uint8Array>(
    "",
    "garbage",
    "[]",
    "null",
    "{",
    '{"__proto__":{"polluted":true}}',
    `{"runId":${"[".repeat(2_000)}`,
    `{"runId":"../../etc","escalationId":"a.*.>"}`,
    randomBytes(200)
  )
  const good = envelope(id, typeOf(random, service))
  const headers = random.pick<Readonly<Record<string, string>>>(
    good,
    good,
    {},
    { ...good, "ce-type": "dev.reprise.Nothing.v9" },
    { ...good, "ce-specversion": "7" },
    { ...good, "ce-time": "yesterday" },
    { ...good, "ce-id": "x".repeat(5_000) }
  )
  return { subject, body, headers, ...streamOf(subject) }
}

const hugeBytes = 900_000

/** As large as the broker takes it. */
const huge = (random: Random, id: string): Letter => {
  const service = random.pick("gate", ...services)
  const subject = subjects.command(service, stranger(random))
  const body = JSON.stringify({ runId: "stranger", reason: "x".repeat(hugeBytes) })
  return { subject, body, headers: envelope(id, typeOf(random, service)), ...streamOf(subject) }
}

/** A real message once more, under its own id. The broker takes it for a new one. */
const stale = (random: Random, seen: Seen): Letter | undefined => {
  const one = seen[random.below(seen.length)]
  return one === undefined ? undefined : { ...one, ...streamOf(one.subject) }
}

/** A real message to somebody else. A first turn is right for any session that nobody has yet, so it is left out. */
const misaddressed = (random: Random, id: string, seen: Seen): Letter | undefined => {
  const others = seen.filter(({ headers }) => headers["ce-type"] !== "dev.reprise.StartTurn.v1")
  const one = others[random.below(others.length)]
  if (one === undefined) return undefined
  const subject = subjects.command(random.pick("gate", ...services), stranger(random))
  return { subject, body: one.body, headers: { ...one.headers, "ce-id": id }, ...streamOf(subject) }
}

/** A report about work that was not asked for: a real one with other turns, commits, phases and attempts. */
const forgedReport = (random: Random, id: string, seen: Seen): Letter | undefined => {
  const types = /\.(TurnCompleted|TurnFailed|VerdictReached|CommitVerified|CommitRejected|QualityPassed|QualityFailed)$/
  const events = seen.filter(({ subject }) => types.test(subject))
  const one = events[random.below(events.length)]
  if (one === undefined) return undefined
  const body = one.body
    .replaceAll(/\b[0-9a-f]{40}\b/g, "0".repeat(40))
    .replaceAll(/-t\d+/g, "-t99")
    .replaceAll(/"phase":"[^"]*"/g, '"phase":"99"')
    .replaceAll(/"(attempt|cycle)":\d+/g, '"$1":99')
  return { subject: one.subject, body, headers: { ...one.headers, "ce-id": id, "reprise-causation": id } }
}

/** An answer that was not offered, or from somebody who is not the gate. */
const forgedAnswer = (random: Random, id: string, seen: Seen): Letter | undefined => {
  const raised = seen.filter(({ subject }) => subject.endsWith(".EscalationRaised"))
  const body = raised[random.below(raised.length)]?.body
  const escalationId = /"escalationId":"([^"]+)"/.exec(body ?? "")?.[1]
  const runId = /"runId":"([^"]+)"/.exec(body ?? "")?.[1]
  if (escalationId === undefined || runId === undefined) return undefined
  const answer = { escalationId, choice: "nothing-that-was-offered", by: "forger", via: "nats" }
  return random.chance(0.5)
    ? {
        subject: subjects.command("gate", escalationId),
        body: JSON.stringify(answer),
        headers: envelope(id, "AnswerEscalation")
      }
    : {
        subject: subjects.command("orchestrator", runId),
        body: JSON.stringify({ ...answer, choice: "abort" }),
        headers: envelope(id, "AnswerReceived")
      }
}

const hugeShare = 0.001

const letterOf = (random: Random, id: string, seen: Seen): Letter => {
  if (random.chance(hugeShare)) return huge(random, id)
  const chosen = random.pick(
    () => undefined,
    () => undefined,
    () => stale(random, seen),
    () => misaddressed(random, id, seen),
    () => forgedReport(random, id, seen),
    () => forgedAnswer(random, id, seen)
  )()
  return chosen === undefined ? malformed(random, id) : { ...chosen, ...streamOf(chosen.subject) }
}

/** So many messages are sent while one question is asked and answered: nobody floods faster than somebody is heard. */
const waveLength = 100

/** Progress is told after so many waves. */
const toldEvery = 50

/** So many messages wait at the same time until they are stored. */
const atOnce = 4

const send = Effect.fnUntraced(function* ({ body, headers, stream, subject }: Letter) {
  const { nc } = yield* Nats
  if (stream === undefined) return nc.publish(subject, body)
  // Another id for the broker: its memory for repeats is not what is tested.
  yield* publish({ stream, subject, body, headers, id: `${floodId}${randomUUID()}` })
})

const question = (escalationId: string, runId: string) => ({
  escalationId,
  runId,
  origin: "author",
  reason: "Is the gate there?",
  options: [{ name: "yes", label: "yes", keys: ["y"], guidance: "none" }]
})

/** Asks a question of its own and answers it. Gives how long the answer took. */
const askAndAnswer = Effect.fnUntraced(function* (number: number) {
  const { nc } = yield* Nats
  const runId = `${floodId}${number}`
  const escalationId = `${runId}-e1`
  const seen = (type: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    nc.subscribe(`reprise.event.gate.${runId}.${type}`, { max: 1, callback: () => resolve() })
    return Effect.promise(() => promise)
  }
  const command = (type: string, body: object) => ({
    stream: subjects.streams.commands,
    subject: subjects.command("gate", escalationId),
    id: `${floodId}${type}-${number}`,
    headers: encodeMeta({
      id: `${floodId}${type}-${number}`,
      type,
      source: "/flood/human",
      subject: runId,
      time: new Date().toISOString()
    }),
    body: JSON.stringify(body)
  })
  const raised = seen("EscalationRaised")
  const answered = seen("EscalationAnswered")
  yield* publish(command("RaiseEscalation", question(escalationId, runId)))
  yield* raised
  const at = yield* Clock.currentTimeMillis
  yield* publish(command("AnswerEscalation", { escalationId, choice: "yes", by: "human", via: "nats" }))
  yield* answered
  return (yield* Clock.currentTimeMillis) - at
})

/** Floods the broker of a world. */
export const flood = Effect.fn("flood")(function* (world: World, options: FloodOptions) {
  const directory = join(world.root, ".reprise")
  const endpoint = yield* attach(directory).pipe(Effect.retry(Schedule.spaced("200 millis")))
  const nats = yield* connectAs(world, "operator")
  const random = randomOf(options.seed)
  const seen: Seen = []
  const answersMs: Array<number> = []
  // The services are there once an agent works.
  yield* world.model.awaitCall(() => true)
  yield* Effect.promise(() => listen(nats, seen))
  const wave = Effect.fnUntraced(function* (first: number) {
    const letters = Array.from({ length: Math.min(waveLength, options.messages - first) }, (_, n) =>
      letterOf(random, `${floodId}${options.seed}-${first + n}`, seen)
    )
    const sending = Effect.forEach(letters, send, { concurrency: atOnce, discard: true })
    const [answerMs] = yield* Effect.all([askAndAnswer(first), sending], { concurrency: 2 })
    answersMs.push(answerMs)
    if (answersMs.length % toldEvery !== 0) return
    const slowest = Math.max(...answersMs.slice(-toldEvery))
    options.say?.(`${first + letters.length} of ${options.messages} messages; slowest answer since ${slowest} ms`)
  })
  const waves = Array.from({ length: Math.ceil(options.messages / waveLength) }, (_, n) => n * waveLength)
  yield* Effect.forEach(waves, wave, { discard: true }).pipe(Effect.provideService(Nats, nats))
  const brokerRestarted = (yield* attach(directory)).pid !== endpoint.pid
  return { sent: options.messages, answersMs, brokerRestarted } satisfies Flood
}, Effect.scoped)
