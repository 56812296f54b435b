/** Where each run stands, by what was published: whether it goes on by itself, waits for a human, or has ended. */
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
const goesOn = new Set(["RunStarted", "StepStarted", "StepResumed", "RunResumed"])

interface AuthorSession {
  readonly sessionId: string
  readonly runtimeSessionId: string
}

export class Progress {
  readonly states = new Map<string, RunState>()
  readonly #authors = new Map<string, AuthorSession>()

  constructor(runIds: ReadonlyArray<string>) {
    for (const runId of runIds) this.states.set(runId, { _tag: "Unknown" })
  }

  note(stored: Stored): void {
    if (stored.kind !== "event") return
    const runId = stored.subject.split(".")[3] ?? ""
    const before = this.states.get(runId)
    if (before === undefined) return
    const { type } = stored
    if ((type === "SessionCreated" && field(stored, "role") === "author") || type === "SessionReplaced") {
      const runtimeSessionId = field(stored, type === "SessionCreated" ? "runtimeSessionId" : "new")
      this.#authors.set(runId, { sessionId: field(stored, "sessionId"), runtimeSessionId })
    }
    if (before._tag === "Ended") return
    if (ends.has(type)) this.states.set(runId, { _tag: "Ended", how: type })
    else if (type === "StepWaiting")
      this.states.set(runId, { _tag: "Waiting", escalationId: field(stored, "escalationId") })
    else if (type === "RunPaused") this.states.set(runId, { _tag: "Paused" })
    else if (goesOn.has(type)) this.states.set(runId, { _tag: "Running" })
  }

  authorOf(runId: string): AuthorSession | undefined {
    return this.#authors.get(runId)
  }

  /** Nothing goes on by itself. */
  isAtRest(): boolean {
    for (const { _tag } of this.states.values()) if (_tag === "Unknown" || _tag === "Running") return false
    return true
  }
}
