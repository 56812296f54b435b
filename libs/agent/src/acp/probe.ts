/**
 * Tries what a run needs of an agent: it is started, prompted, killed in the middle of a turn, and cancelled. Each step
 * calls the agent's model.
 */
import { markedProcesses } from "@reprise/process"
import { uncachedTokens } from "@reprise/protocol"
import { Clock, Effect, Fiber, Option, Stream } from "effect"
import type { AgentError } from "../AgentError.ts"
import type { AgentRuntimeShape, TurnOutcome } from "../AgentRuntimeShape.ts"
import { promptIds } from "../promptIds.ts"

export const probeSteps = ["start", "prompt", "resume", "cancel"] as const
export type ProbeStep = (typeof probeSteps)[number]

export interface ProbeFinding {
  readonly step: ProbeStep
  readonly result: "yes" | "no" | "not tried"
  readonly detail: string
}

export interface Probe {
  readonly runtime: AgentRuntimeShape
  /** An empty folder, in which the agent works. */
  readonly directory: string
  /** The state directory of the runtime: its processes are found by it. */
  readonly stateDirectory: string
  readonly model?: string | undefined
}

const word = "PLUM"
const texts = {
  prompt: `Remember the word ${word}. Answer with the one word OK. Use no tools.`,
  resume: "Which word did I ask you to remember? Answer with this one word. Use no tools.",
  cancel: "Count from 1 to 5000, one number in each line, and leave none out. Use no tools."
} as const

/** A model that answers at all answers so little in this time. */
const patience = "3 minutes"

type Done = Omit<ProbeFinding, "step">

const yes = (detail: string): Done => ({ result: "yes", detail })
const no = (detail: string): Done => ({ result: "no", detail })

/** Sends a text as a turn of its own. */
const sending = ({ directory, model, runtime }: Probe, id: string) => {
  let sent = 0
  return Effect.fnUntraced(function* (text: string) {
    const promptId = promptIds(yield* Clock.currentTimeMillis, id, sent++)
    const chosen = model === undefined ? {} : { model }
    return yield* runtime.prompt({ runtimeSessionId: id, directory, promptId, text, ...chosen })
  })
}

/** Starts a turn, and waits until its agent is at work or the turn has ended. */
const begun = Effect.fnUntraced(function* (
  { runtime }: Probe,
  id: string,
  turn: Effect.Effect<TurnOutcome, AgentError>
) {
  const atWork = yield* runtime.events.pipe(
    Stream.filter((event) => event.sessionId === id && (event.type === "working" || event.type === "words")),
    Stream.runHead,
    Effect.as(true),
    Effect.forkScoped({ startImmediately: true })
  )
  const running = yield* Effect.forkScoped(Effect.result(turn))
  const isAtWork = yield* Effect.raceFirst(Fiber.join(atWork), Effect.as(Fiber.await(running), false))
  return { running, isAtWork }
})

const kill = ({ stateDirectory }: Probe) =>
  Effect.map(markedProcesses(`REPRISE_ACP_STATE=${stateDirectory}`), (pids) => {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL")
      } catch {
        // It has ended meanwhile.
      }
    }
    return pids.length
  })

const resume = Effect.fnUntraced(function* (probe: Probe, id: string, send: ReturnType<typeof sending>) {
  const { isAtWork, running } = yield* begun(probe, id, send(texts.resume))
  const killed = yield* kill(probe)
  const first = yield* Fiber.join(running)
  const { attempts = 1, text } = isAtWork ? yield* Effect.fromResult(first) : yield* send(texts.resume)
  const how = isAtWork ? "killed in the middle of a turn" : "killed after a turn"
  if (killed === 0) return no("No process of the agent was found to kill.")
  return text.includes(word)
    ? yes(`${how}, it went on in the same session and knew what was said${attempts > 1 ? " (prompted again)" : ""}`)
    : no(`${how}, it did not know what was said before: '${text.trim().slice(0, 80)}'`)
}, Effect.scoped)

const cancel = Effect.fnUntraced(function* (probe: Probe, id: string, send: ReturnType<typeof sending>) {
  const { isAtWork, running } = yield* begun(probe, id, send(texts.cancel))
  if (isAtWork) yield* probe.runtime.abort(id)
  const ended = yield* Fiber.join(running)
  if (ended._tag === "Failure") {
    return ended.failure.kind === "aborted"
      ? yes("the turn ended when it was cancelled")
      : yield* Effect.fail(ended.failure)
  }
  return no("the turn ended by itself before it could be cancelled")
}, Effect.scoped)

const spent = ({ cost, model, tokens }: TurnOutcome): string =>
  `${model ?? "its own model"}, ${uncachedTokens(tokens)} tokens, $${cost.toFixed(4)}`

const tried = (step: ProbeStep, attempt: Effect.Effect<Done, AgentError>): Effect.Effect<ProbeFinding> =>
  attempt.pipe(
    Effect.catch(({ detail }) => Effect.succeed(no(detail))),
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(no(`no answer in ${patience}`)) }),
    Effect.map((done) => ({ step, ...done }))
  )

/** A finding for each step; after one that failed, the others are not tried. */
export const probeAgent = Effect.fn("probeAgent")(function* (probe: Probe) {
  const { directory, model, runtime } = probe
  let session: Option.Option<{ readonly id: string; readonly send: ReturnType<typeof sending> }> = Option.none()
  const inSession = (use: (id: string, send: ReturnType<typeof sending>) => Effect.Effect<Done, AgentError>) =>
    Option.match(session, {
      onNone: () => Effect.succeed(no("it has no session")),
      onSome: ({ id, send }) => use(id, send)
    })
  const attempts: Readonly<Record<ProbeStep, Effect.Effect<Done, AgentError>>> = {
    start: Effect.map(runtime.check, ({ version }) => yes(`it says that it is version ${version}`)),
    prompt: Effect.gen(function* () {
      const chosen = model === undefined ? {} : { model }
      const id = yield* runtime.create({ directory, title: "Reprise probes the agent", permissions: "ask", ...chosen })
      const send = sending(probe, id)
      session = Option.some({ id, send })
      return yes(`it answered: ${spent(yield* send(texts.prompt))}`)
    }),
    resume: Effect.suspend(() => inSession((id, send) => resume(probe, id, send))),
    cancel: Effect.suspend(() => inSession((id, send) => cancel(probe, id, send)))
  }
  const findings: Array<ProbeFinding> = []
  for (const step of probeSteps) {
    const failed = findings.some(({ result }) => result !== "yes")
    findings.push(failed ? { step, result: "not tried", detail: "" } : yield* tried(step, attempts[step]))
  }
  return findings
})
