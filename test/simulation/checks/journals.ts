/** What holds for every actor: its journal is the truth, each input counts once, and what was decided is sent. */
import { contracts, type ServiceName } from "@reprise/protocol"
import { Effect, Equal, Schema } from "effect"
import { prefix } from "../parts/services.ts"
import { services } from "../world/faults.ts"
import type { Check, Evidence } from "./Check.ts"
import type { Histories } from "./histories.ts"

const StoredView = Schema.fromJsonString(Schema.Struct({ sequence: Schema.Int, view: Schema.Json }))
const Snapshot = Schema.fromJsonString(Schema.Struct({ sequence: Schema.Int, state: Schema.Json }))
const readView = Schema.decodeUnknownSync(StoredView)
const readSnapshot = Schema.decodeUnknownSync(Snapshot)

/** Whether both are the same JSON; usually their keys have the same order, which is quicker to see. */
const isSame = (one: unknown, stored: unknown): boolean => {
  const text = JSON.stringify(one)
  return text === JSON.stringify(stored) || (text !== undefined && Equal.equals(JSON.parse(text), stored))
}

const ofAll = <A>(histories: Histories, give: (service: ServiceName, history: AnyHistory) => ReadonlyArray<A>) =>
  services.flatMap((service) => [...histories[service].values()].flatMap((history) => give(service, history)))

type AnyHistory = Parameters<Parameters<Histories[ServiceName]["forEach"]>[0]>[0]

const list = (story: Evidence, bucket: "views" | "snapshots", name: string) =>
  story.read((broker) =>
    Effect.map(broker[bucket].list(name), (found) => new Map(found.map((one) => [one.key, one.value])))
  )

/** What a process had in memory when it wrote a view is what the journal gives; the newest view is stored in the end. */
export const liveStateIsReplayed: Check = (story, histories) =>
  services.flatMap((service) => {
    const views = list(story, "views", service)
    const snapshots = list(story, "snapshots", contracts[service].actor)
    return [...histories[service].values()].flatMap((history) => {
      const { key, steps, view } = history
      const stored = views.get(`${service}.${key}`)
      const shown = stored === undefined ? undefined : readView(stored)
      const isNewest = shown?.sequence === steps.at(-1)?.sequence
      const isLate = view !== undefined && !isNewest && story.unrest === undefined
      const differs = shown !== undefined && isNewest && !isSame(view, shown.view)
      const snapshot = snapshots.get(`${contracts[service].actor}.${key}`)
      const taken = snapshot === undefined ? undefined : readSnapshot(snapshot)
      const at = steps.find(({ sequence }) => sequence === taken?.sequence)
      const isOff = taken !== undefined && !isSame(at?.state, taken.state)
      return [
        ...(isLate ? [`the newest view of ${service} ${key} was never stored`] : []),
        ...(differs ? [`the view of ${service} ${key} is not what its journal gives`] : []),
        ...(isOff ? [`the snapshot of ${service} ${key} is not what its journal gives`] : [])
      ]
    })
  })

export const eachInputCountsOnce: Check = (_, histories) =>
  ofAll(histories, (service, { key, steps }) => {
    const ids = steps.map(({ entry }) => entry.input.id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    return twice === undefined ? [] : [`${service} ${key} has decided input ${twice} twice`]
  })

export const whatIsDecidedIsSent: Check = (story, histories) => {
  const stored = new Set(story.record.map(({ id, subject }) => `${subject} ${id}`))
  return ofAll(histories, (service, { key, steps }) =>
    steps.flatMap(({ entry, sequence }) =>
      entry.outgoing.flatMap(({ subject, type }, n) => {
        const id = `${contracts[service].actor}.${key}.${sequence}.${n}`
        return stored.has(`${subject} ${id}`) ? [] : [`${type} of ${service} ${key} (${id}) was never sent`]
      })
    )
  )
}

/** Nothing else is sent in an actor's name than what it has decided. */
export const onlyWhatIsDecidedIsSent: Check = (story, histories) => {
  const decided = new Set(
    ofAll(histories, (service, { key, steps }) =>
      steps.flatMap(({ entry, sequence }) =>
        entry.outgoing.map(({ subject }, n) => `${subject} ${contracts[service].actor}.${key}.${sequence}.${n}`)
      )
    )
  )
  const isActors = /^(run|escalation|session|review|workspace)\.[^.]+\.\d+\.\d+$/
  return story.record.flatMap(({ id, kind, subject, type }) => {
    if (kind === "journal" || kind === "dead" || !isActors.test(id)) return []
    const isTimers = kind === "command" && decided.has(`${subject.replace(".command.", ".timer.")} ${id}`)
    return isTimers || decided.has(`${subject} ${id}`)
      ? []
      : [`${type} (${id}) went to ${subject}, where nobody sent it`]
  })
}

/** A clock may be set by as much; beyond that a timer may be late, and never early. */
export const noTimerIsEarly: Check = (story, histories) => {
  const ahead = story.happened.reduce((sum, fault) => sum + (fault._tag === "ClockJump" ? Math.abs(fault.ms) : 0), 0)
  const firedAt = new Map(
    story.record.flatMap(({ atMs, id, kind }) => (kind === "command" ? [[id, atMs] as const] : []))
  )
  return ofAll(histories, (service, { key, steps }) =>
    steps.flatMap(({ entry, sequence }) =>
      entry.outgoing.flatMap(({ dueAt, type }, n) => {
        const atMs = firedAt.get(`${contracts[service].actor}.${key}.${sequence}.${n}`)
        if (dueAt === undefined || atMs === undefined) return []
        const earlyMs = Date.parse(dueAt) - story.startMs - ahead - atMs
        return earlyMs > 0 ? [`the timer ${type} of ${service} ${key} was ${earlyMs} ms early`] : []
      })
    )
  )
}

export const nothingIsGivenUp: Check = (story) =>
  story.read((broker) =>
    Effect.flatMap(broker.read("dead", `${prefix}.dead.*.*`, 0), (letters) =>
      Effect.forEach(letters, ({ body, subject }) =>
        Effect.map(body, (text) => `dead letter at ${subject}: ${text.slice(0, 400)}`)
      )
    )
  )

const unexpected = new Set(["unreadable", "misaddressed"])

export const everybodyIsUnderstood: Check = (story) =>
  story.record.flatMap(({ body, subject, type }) => {
    if (type !== "CommandRefused") return []
    const { code, command, reason } = JSON.parse(body)
    return unexpected.has(code) ? [`${command} was refused as ${code} (${subject}): ${reason}`] : []
  })

export const itComesToRest: Check = ({ progress, unrest }) =>
  unrest === undefined ? [] : [`${unrest}: ${JSON.stringify([...progress.states])}`]
