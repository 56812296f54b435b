/** Everything that the broker stored, in order: what checks look at, and what a story prints. */
import type { BrokerShape, Message } from "@reprise/actor"
import { Effect } from "effect"
import type { Machine } from "../machine/Machine.ts"

export interface Stored {
  readonly atMs: number
  readonly step: number
  readonly kind: string
  readonly subject: string
  readonly id: string
  readonly type: string
  readonly body: string
  readonly causation: string | undefined
  readonly dueAt: string | undefined
}

const bodies = new WeakMap<Stored, unknown>()

/** The message's JSON; its type is its tag. */
export const contentOf = (stored: Stored): unknown => {
  const known = bodies.get(stored)
  if (known !== undefined) return known
  const content: unknown = { _tag: stored.type, ...JSON.parse(stored.body) }
  bodies.set(stored, content)
  return content
}

export interface Record {
  readonly stored: ReadonlyArray<Stored>
  readonly broker: BrokerShape
}

/** The broker with a record of what it stores. A repeat that the broker drops is not recorded. */
export const recording = (machine: Machine, real: BrokerShape, onStored: (stored: Stored) => void): Record => {
  const stored: Array<Stored> = []
  const known = new Map<string, number>()
  const note = ({ body, dueAt, meta, subject }: Message) => {
    const last = known.get(meta.id)
    if (last !== undefined && machine.elapsedMs - last < 600_000) return
    known.set(meta.id, machine.elapsedMs)
    const { causation, id, type } = meta
    const kind = subject.split(".")[1] ?? ""
    const one = { atMs: machine.elapsedMs, step: machine.steps, kind, subject, id, type, body, causation, dueAt }
    stored.push(one)
    onStored(one)
  }
  const broker: BrokerShape = {
    ...real,
    append: (message, expected) =>
      Effect.map(real.append(message, expected), (sequence) => {
        note(message)
        return sequence
      }),
    publish: (messages) => Effect.map(real.publish(messages), () => messages.forEach(note))
  }
  return { stored, broker }
}
