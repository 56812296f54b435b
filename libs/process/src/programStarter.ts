/**
 * A small process that starts programs for this one. The system copies the memory tables of the process that starts a program:
 * from a process of 260 MB that takes 13 ms, in which nothing else gets done, from a small one 1 ms.
 */
import { type ChildProcess, fork } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect, type Scope } from "effect"
import { type Program, type ProgramWords, startHere, type Takers } from "./startHere.ts"

/** To the starter. Programs are known by a number. */
export type Order =
  | { readonly id: number; readonly start: ProgramWords }
  | { readonly id: number; readonly signal: NodeJS.Signals }

/** From the starter: `ready` once, then about each program that it started. `ended` and `failed` are the last of a program. */
export type Notice =
  | "ready"
  | { readonly id: number; readonly started: number }
  | { readonly id: number; readonly output: Buffer }
  | { readonly id: number; readonly errors: Buffer }
  | { readonly id: number; readonly ended: number | NodeJS.Signals }
  | { readonly id: number; readonly failed: { readonly code: string | undefined; readonly message: string } }

/** The package has the starter in one file, which stands beside its other code. */
const script = (): string => {
  const source = fileURLToPath(new URL("starterProcess.ts", import.meta.url))
  return existsSync(source) ? source : fileURLToPath(new URL("../../../bin/starterProcess.js", import.meta.url))
}

interface Waiting {
  readonly takers: Takers
  pid: number | undefined
  readonly end: (how: number | NodeJS.Signals) => void
  readonly fail: (cause: Error) => void
}

class Starter {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly ready: Promise<void>
  #state: "starting" | "ready" | "gone" = "starting"
  #last = 0

  constructor() {
    // A session of its own: Ctrl-C in the terminal is for this process, which ends its programs itself.
    this.#process = fork(script(), [], {
      cwd: "/",
      detached: true,
      env: {},
      execArgv: [],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"]
    })
    this.ready = new Promise((resolve) => {
      this.#process.on("message", (notice: Notice) => {
        if (notice !== "ready") return this.#hear(notice)
        this.#state = "ready"
        this.#hold()
        resolve()
      })
      for (const event of ["error", "exit", "disconnect"]) {
        this.#process.on(event, () => {
          resolve()
          this.#lose()
        })
      }
    })
    this.#hold()
  }

  get isReady(): boolean {
    return this.#state === "ready"
  }

  /** As a program that somebody ended: another try may succeed. */
  #lose(): void {
    this.#state = "gone"
    for (const { end } of this.#waiting.values()) end("SIGKILL")
    this.#waiting.clear()
  }

  #hear(notice: Exclude<Notice, "ready">): void {
    const waiting = this.#waiting.get(notice.id)
    if (waiting === undefined) return
    if ("output" in notice) waiting.takers.output(notice.output)
    if ("errors" in notice) waiting.takers.errors(notice.errors)
    if ("started" in notice) waiting.pid = notice.started
    if ("ended" in notice) waiting.end(notice.ended)
    if ("failed" in notice) waiting.fail(Object.assign(new Error(notice.failed.message), { code: notice.failed.code }))
    if ("ended" in notice || "failed" in notice) this.#forget(notice.id)
  }

  #forget(id: number): void {
    this.#waiting.delete(id)
    this.#hold()
  }

  /** This process stays for the programs that it started, but not for their starter. */
  #hold(): void {
    if (this.#waiting.size > 0 || this.#state === "starting") this.#process.channel?.ref()
    else this.#process.channel?.unref()
    this.#process.unref()
  }

  start(words: ProgramWords, takers: Takers): Program {
    this.#last += 1
    const id = this.#last
    const closed = new Promise<number | NodeJS.Signals>((end, fail) => {
      this.#waiting.set(id, { takers, pid: undefined, end, fail })
    })
    this.#hold()
    this.#order({ id, start: words })
    return {
      closed,
      pid: () => this.#waiting.get(id)?.pid,
      signal: (signal) => {
        if (this.#waiting.has(id)) this.#order({ id, signal })
      }
    }
  }

  #order(order: Order): void {
    // Where the starter is gone, its end says so.
    this.#process.send(order, () => undefined)
  }

  /** Its programs go on to their ends, without anybody who reads what they write. */
  close(): void {
    this.#state = "gone"
    if (this.#process.connected) this.#process.disconnect()
  }
}

let current: Starter | undefined
let users = 0

/** Through the starter, where one is ready. */
export const startProgram = (words: ProgramWords, takers: Takers): Program =>
  current?.isReady === true ? current.start(words, takers) : startHere(words, takers)

/**
 * Starts programs through a process of their own from when it is ready, about 50 ms later, until the scope ends; for a process that
 * works for long. All scopes share one. Without it, and when it has ended by itself, programs are started directly. Gives a wait
 * for it to be ready.
 */
export const useProgramStarter: Effect.Effect<Effect.Effect<void>, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      users += 1
      current ??= new Starter()
      return current
    }),
    (starter) =>
      Effect.sync(() => {
        users -= 1
        if (users > 0) return
        current = undefined
        starter.close()
      })
  ),
  (starter) => Effect.promise(() => starter.ready)
)
