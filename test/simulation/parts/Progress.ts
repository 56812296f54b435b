/** The progress of each run, by what was published: it continues by itself, waits for a human, or has ended. */
import { contentOf, type Stored } from "./Record.ts"

export type RunState =
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Running" }
  | { readonly _tag: "Waiting"; readonly escalationId: string }
  | { readonly _tag: "Paused" }
  | { readonly _tag: "Ended"; readonly how: string }

const field = (stored: Stored, name: string): string => {
  const content = contentOf(stored)
  const found = typeof content === "object" && content !== null ? new Map(Object.entries(content)).get(name) : undefined
  return typeof found === "string" ? found : ""
}

const ends = new Set(["RunCompleted", "RunFailed", "RunAborted"])
const goesOn = new Set(["RunStarted", "StepStarted", "StepResumed"])
const closesQuestion = new Set([...goesOn, "EscalationAnswered", "EscalationWithdrawn"])

type Role = "author" | "reviewer"

interface NewestSession {
  readonly sessionId: string
  readonly runtimeSessionId: string
}

export class Progress {
  readonly states = new Map<string, RunState>()
  /** What each run asks, also while it is paused. */
  readonly #open = new Map<string, string>()
  /** By run and role. */
  readonly #sessions = new Map<string, NewestSession>()
  /** The role of each session. */
  readonly #roles = new Map<string, string>()

  constructor(runIds: ReadonlyArray<string>) {
    for (const runId of runIds) this.states.set(runId, { _tag: "Unknown" })
  }

  note(stored: Stored): void {
    if (stored.kind !== "event") return
    const runId = stored.subject.split(".")[3] ?? ""
    const before = this.states.get(runId)
    if (before === undefined) return
    const { type } = stored
    if (type === "SessionCreated" || type === "SessionReplaced") {
      const sessionId = field(stored, "sessionId")
      if (type === "SessionCreated") this.#roles.set(sessionId, field(stored, "role"))
      const runtimeSessionId = field(stored, type === "SessionCreated" ? "runtimeSessionId" : "new")
      this.#sessions.set(`${runId} ${this.#roles.get(sessionId)}`, { sessionId, runtimeSessionId })
    }
    if (before._tag === "Ended") return
    if (closesQuestion.has(type)) this.#open.delete(runId)
    if (ends.has(type)) this.states.set(runId, { _tag: "Ended", how: type })
    else if (type === "StepWaiting") {
      const escalationId = field(stored, "escalationId")
      this.#open.set(runId, escalationId)
      this.states.set(runId, { _tag: "Waiting", escalationId })
    } else if (type === "RunResumed") {
      const escalationId = this.#open.get(runId)
      this.states.set(runId, escalationId === undefined ? { _tag: "Running" } : { _tag: "Waiting", escalationId })
    } else if (type === "RunPaused") this.states.set(runId, { _tag: "Paused" })
    else if (goesOn.has(type)) this.states.set(runId, { _tag: "Running" })
  }

  /** The newest session of a run in this role. */
  sessionOf(runId: string, role: Role): NewestSession | undefined {
    return this.#sessions.get(`${runId} ${role}`)
  }

  /** Nothing continues by itself. */
  isAtRest(): boolean {
    for (const { _tag } of this.states.values()) if (_tag === "Unknown" || _tag === "Running") return false
    return true
  }
}
