/** Everything that a real broker keeps, read once the story is over. */
import type { BrokerShape, StoredMessage } from "@reprise/actor"
import { decodeMeta } from "@reprise/protocol"
import { Effect } from "effect"
import type { Kept } from "../simulation/checks/Check.ts"
import type { Stored } from "../simulation/parts/Record.ts"
import { prefix } from "../simulation/parts/services.ts"

const patterns = {
  commands: "command.*.*",
  work: "work.*.*.*",
  events: "event.*.*.*",
  journal: "journal.*.*",
  timers: "timer.*.*",
  dead: "dead.*.*"
} as const
type Kind = keyof typeof patterns
const kinds: ReadonlyArray<Kind> = ["commands", "work", "events", "journal", "timers", "dead"]

export const storedOf = Effect.fnUntraced(function* (message: StoredMessage, startMs: number) {
  const { header, sequence, subject } = message
  const { causation, id, time, type } = yield* Effect.fromResult(decodeMeta(header))
  const due = header("reprise-due")
  return {
    atMs: Date.parse(time) - startMs,
    step: sequence,
    kind: subject.split(".")[1] ?? "",
    subject,
    id,
    type,
    body: yield* message.body,
    causation,
    dueAt: due === "" ? undefined : due
  } satisfies Stored
})

const isOf = (pattern: string) => {
  const wanted = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^.]+")}$`)
  return ({ subject }: Stored) => wanted.test(subject)
}

const within = (entries: ReadonlyArray<{ readonly key: string; readonly value: string }>) => (start: string) =>
  Effect.succeed(entries.filter(({ key }) => key.startsWith(`${start}.`)))

/** Buckets hold what starts with one of these. */
const views = ["orchestrator", "gate", "session-manager", "reviewer", "workspace", "lease", "lease-host"]
const snapshots = ["run", "escalation", "session", "review", "workspace"]

export const readAll = Effect.fnUntraced(function* (broker: BrokerShape, startMs: number) {
  const all = yield* Effect.forEach(kinds, (kind) =>
    Effect.flatMap(broker.read(kind, `${prefix}.${patterns[kind]}`, 0), (found) =>
      Effect.forEach(found, (message) => storedOf(message, startMs))
    )
  )
  const record = all.flat()
  const listAll = (bucket: Kept["views"], names: ReadonlyArray<string>) =>
    Effect.map(Effect.forEach(names, bucket.list), (lists) => lists.flat())
  const kept: Kept = {
    read: (_kind, subject, after, limit = Infinity) =>
      Effect.succeed(
        record
          .filter(isOf(subject))
          .filter(({ step }) => step > after)
          .slice(0, limit)
          .map((one) => ({
            subject: one.subject,
            sequence: one.step,
            header: () => "",
            body: Effect.succeed(one.body)
          }))
      ),
    views: { list: within(yield* listAll(broker.views, views)) },
    snapshots: { list: within(yield* listAll(broker.snapshots, snapshots)) }
  }
  return { record, kept }
})
