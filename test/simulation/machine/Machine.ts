/**
 * A world in which nothing happens by itself: one list of tasks that are ready, one virtual time, and a generator that
 * picks the next task. The same seed gives the same story (docs/design/proof.md).
 */

import { MeasuredConsumers, NewId } from "@reprise/actor"
import { Clock, Context, Duration, Effect, type Exit, type Fiber, References, Scheduler } from "effect"
import { type Random, randomOf } from "./Random.ts"
import { Timers } from "./Timers.ts"

interface Task {
  readonly process: Process
  readonly run: () => void
}

/** A task that waits for its time; one that was cancelled is dropped then. */
interface Planned extends Task {
  cancelled: boolean
}

/** When every story begins. */
export const startMs = Date.UTC(2026, 0, 1)

/** An operating system's process: everything that it does is a task of its own, so that all of it can be dropped. */
export class Process implements Scheduler.Scheduler {
  readonly executionMode = "async" as const
  readonly name: string
  readonly machine: Machine
  isAlive = true
  /** It does nothing from one time to the other. */
  frozenSinceMs = 0
  frozenUntilMs = 0
  /** How far its wall clock is ahead. */
  clockAheadMs = 0
  readonly clock: Clock.Clock
  readonly context: Context.Context<never>
  #untilPreempted = 0

  constructor(machine: Machine, name: string) {
    this.machine = machine
    this.name = name
    this.clock = clockOf(this)
    this.context = Context.make(Clock.Clock, this.clock).pipe(
      Context.add(Scheduler.Scheduler, this),
      Context.add(NewId, machine.newId),
      Context.add(MeasuredConsumers, new Set()),
      Context.add(References.TracerEnabled, false),
      Context.add(References.MinimumLogLevel, "None")
    )
  }

  /** A fiber may lose its turn anywhere. */
  shouldYield(): boolean {
    this.#untilPreempted -= 1
    if (this.#untilPreempted > 0) return false
    this.#untilPreempted = 1 + this.machine.random.below(this.machine.preemption)
    return true
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return { scheduleTask: (run) => this.machine.post(this, run), flush: () => undefined }
  }

  /** A process that hangs already hangs no shorter. */
  freeze(ms: number): void {
    const { nowMs } = this.machine
    if (this.frozenUntilMs <= nowMs) this.frozenSinceMs = nowMs
    this.frozenUntilMs = Math.max(this.frozenUntilMs, nowMs + ms)
  }

  /** Runs an effect as a fiber of this process; its first steps at once. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.context)(effect)
  }

  /** `kill -9`: nothing of it runs any more, no finalizer either. */
  kill(): void {
    this.isAlive = false
  }
}

const clockOf = (process: Process): Clock.Clock => {
  const { machine } = process
  const millis = () => machine.nowMs + process.clockAheadMs
  const nanos = () => BigInt(millis()) * 1_000_000n
  const monotonic = () => BigInt(machine.nowMs) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const cancel = machine.after(process, Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      })
  }
}

export class Machine {
  readonly random: Random
  nowMs = startMs
  steps = 0
  /** Of every choice so far: two stories with the same hash are the same. */
  hash = 0
  /** A fiber loses its turn after at most so many operations. */
  readonly preemption: number
  #ready: Array<Task> = []
  readonly #timers = new Timers<Planned>()
  #ids = 0

  constructor(seed: number, preemption = 800) {
    this.random = randomOf(seed)
    this.preemption = preemption
  }

  readonly newId = (): string => {
    this.#ids += 1
    return `id-${this.#ids}`
  }

  get elapsedMs(): number {
    return this.nowMs - startMs
  }

  post(process: Process, run: () => void): void {
    if (process.isAlive) this.#ready.push({ process, run })
  }

  /** Runs after so many milliseconds, unless it is cancelled by what it gives. */
  after(process: Process, ms: number, run: () => void): () => void {
    const planned: Planned = { process, run, cancelled: false }
    if (Number.isFinite(ms)) this.#timers.add(this.nowMs + Math.max(0, Math.ceil(ms)), planned)
    return () => {
      planned.cancelled = true
    }
  }

  /** Does one task; when none is ready, lets time pass to the next timer. False: nothing will ever happen again. */
  step(): boolean {
    const task = this.#takeReady() ?? this.#takeTimer()
    if (task === undefined) return false
    this.steps += 1
    const { process, run } = task
    if (!process.isAlive) return true
    if (process.frozenUntilMs > this.nowMs) this.after(process, process.frozenUntilMs - this.nowMs, run)
    else run()
    return true
  }

  #takeReady(): Task | undefined {
    const ready = this.#ready
    const at = this.random.below(ready.length)
    const task = ready[at]
    const last = ready.pop()
    if (task !== last && last !== undefined) ready[at] = last
    this.hash = (Math.imul(this.hash, 31) + at + ready.length) | 0
    return task
  }

  #takeTimer(): Task | undefined {
    for (;;) {
      const timer = this.#timers.takeFirst()
      if (timer === undefined) return undefined
      if (timer.value.cancelled || !timer.value.process.isAlive) continue
      this.nowMs = Math.max(this.nowMs, timer.dueMs)
      return timer.value
    }
  }

  /** Runs an effect of a process to its end, and everything else meanwhile. */
  complete<A, E>(process: Process, effect: Effect.Effect<A, E>, maxSteps = 1_000_000): Exit.Exit<A, E> {
    const fiber = process.fork(effect)
    for (let n = 0; n < maxSteps; n++) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      if (!this.step()) break
    }
    throw new Error(`An effect of ${process.name} did not end.`)
  }
}
