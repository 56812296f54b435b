/** The gate as a human uses it: keys in, requests and the picture out. */
import type { EscalationView } from "@reprise/protocol"
import { emptyGate, type GateInput, type GateModel, type GateRequest } from "../../src/views/gate/GateModel.ts"
import { type Arrived, arrived, type Key } from "../../src/views/gate/keys.ts"
import { screenOf } from "../../src/views/gate/screen.ts"
import { updateGate } from "../../src/views/gate/updateGate.ts"
import { aQuestion } from "./views.ts"

export const startMs = Date.parse("2026-01-01T10:05:00.000Z")

const noFlags: Parameters<typeof arrived>[1] = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
  super: false,
  hyper: false,
  capsLock: false,
  numLock: false
}

/** What the terminal's library reports for this text, with these modifiers and named keys. */
export const report = (input: string, flags: Partial<typeof noFlags> = {}): Arrived =>
  arrived(input, { ...noFlags, ...flags })

type Name = Extract<Key, { _tag: "Named" }>["name"]

/** A question with this id. */
export const questionNamed = (id: string, given: Record<string, unknown> = {}): EscalationView =>
  aQuestion({ escalationId: `${id}-e1`, runId: id, ...given })

/** A gate to which things happen. `requests` are those since the last look. */
export class Gate {
  model: GateModel
  #requests: Array<GateRequest> = []

  constructor(questions: ReadonlyArray<EscalationView>, size = { columns: 80, rows: 24 }) {
    this.model = emptyGate(startMs, size)
    for (const question of questions) this.happens({ _tag: "Opened", question })
    this.#requests = []
  }

  happens(input: GateInput): this {
    const { model, requests } = updateGate(this.model, input)
    this.model = model
    this.#requests.push(...requests)
    return this
  }

  /** Each character is a key that arrives alone. */
  type(text: string): this {
    for (const one of text) this.happens({ _tag: "Arrived", what: report(one, one === "\n" ? { return: true } : {}) })
    return this
  }

  press(...names: ReadonlyArray<Name>): this {
    return this.happens({
      _tag: "Arrived",
      what: { _tag: "Keys", keys: names.map((name) => ({ _tag: "Named", name })) }
    })
  }

  tick(ms: number): this {
    return this.happens({ _tag: "Ticked", nowMs: this.model.nowMs + ms })
  }

  /** What was asked for since the last look. */
  get requests(): ReadonlyArray<GateRequest> {
    return this.#requests.splice(0)
  }

  /** The answers that were sent since the last look. */
  get sent() {
    return this.requests.flatMap((request) => (request._tag === "Send" ? [request.answer] : []))
  }

  get rows(): ReadonlyArray<string> {
    return screenOf(this.model).rows.map((row) =>
      row
        .map(({ text }) => text)
        .join("")
        .trimEnd()
    )
  }

  get screen(): string {
    return this.rows.join("\n")
  }
}
