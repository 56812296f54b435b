/** `reprise doctor --ask-models`: asks each model of a run for one word, the cheapest way to check its name and its key. */
import { type AgentRuntimeShape, AgentRuntimes, promptIds } from "@reprise/agent"
import { plannedAgents } from "@reprise/orchestrator/agents"
import { type RuntimeName, uncachedTokens } from "@reprise/protocol"
import { Clock, Effect, Option, Stream } from "effect"
import { agentOptions } from "../../config/serviceOptions.ts"
import { withRuntime } from "../../system/agents/sessionRuntime.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { broken, type Finding, ok, warning } from "./findings.ts"

const question = "Answer with the one word OK. Use no tools."

/** A model that answers at all answers so little in this time. */
const patience = "2 minutes"

interface Asked {
  readonly role: string
  readonly runtime: RuntimeName
  /** Undefined: the runtime chooses. */
  readonly model: string | undefined
}

/** Each once, with the role for which it is set first. */
const askedModels = ({ settings }: SystemOptions): ReadonlyArray<Asked> =>
  plannedAgents(agentOptions(settings))
    .map(({ model, role, rule, runtime }) => ({
      role: rule === undefined ? role : `${role}, ${rule.when}`,
      runtime,
      model
    }))
    .filter(
      ({ model, runtime }, index, all) =>
        all.findIndex((other) => other.runtime === runtime && other.model === model) === index
    )

const nameOf = ({ model }: Asked): string => model ?? "the runtime's own model"

const nextSteps = {
  unauthorized: "Log in with 'opencode auth login' or 'claude', or set the key of the provider.",
  out_of_credits: "Add credit, or choose another model in reprise.toml.",
  rate_limited: "Wait, or choose another model in reprise.toml.",
  no_internet: "Check the network and the proxy.",
  other: "'opencode models' lists the models; 'model' in reprise.toml chooses one."
} as const

const nextStep = (kind: string): string => new Map(Object.entries(nextSteps)).get(kind) ?? nextSteps.other

const failed = (asked: Asked, { kind, message }: { readonly kind: string; readonly message: string }): Finding =>
  broken("model", `${nameOf(asked)} (${asked.role}): ${message}`, nextStep(kind))

/** A failure of the vendor, which the runtime would retry for hours. */
const firstFailure = (runtime: AgentRuntimeShape, id: string) =>
  runtime.events.pipe(
    Stream.filter((event) => event.type === "failed" && event.sessionId === id),
    Stream.runHead,
    Effect.flatMap((event) =>
      Option.isSome(event) && event.value.type === "failed" ? Effect.fail(event.value) : Effect.never
    )
  )

const ask = Effect.fnUntraced(function* (runtime: AgentRuntimeShape, directory: string, asked: Asked) {
  const model = asked.model === undefined ? {} : { model: asked.model }
  const id = yield* runtime.create({ directory, title: "Reprise checks the model", permissions: "ask", ...model })
  const now = yield* Clock.currentTimeMillis
  const promptId = promptIds(now, id, 0)
  const prompt = runtime.prompt({ runtimeSessionId: id, directory, promptId, text: question, ...model })
  const {
    cost,
    model: answered,
    tokens
  } = yield* Effect.raceFirst(prompt, firstFailure(runtime, id)).pipe(
    Effect.onError(() => Effect.ignore(runtime.abort(id)))
  )
  const seconds = ((yield* Clock.currentTimeMillis) - now) / 1_000
  const spent = `${uncachedTokens(tokens)} tokens, $${cost.toFixed(4)}`
  return ok("model", `${answered ?? nameOf(asked)} (${asked.role}) answered in ${seconds.toFixed(1)} s: ${spent}`)
})

const check = (runtime: AgentRuntimeShape, directory: string, asked: Asked): Effect.Effect<Finding> =>
  ask(runtime, directory, asked).pipe(
    Effect.catch((error) => Effect.succeed(failed(asked, error))),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.succeed(failed(asked, { kind: "other", message: `No answer in ${patience}.` }))
    })
  )

/** A word of each model costs little, but not nothing: without `given` none is asked. */
export const checkModels = Effect.fn("checkModels")(function* (options: SystemOptions, given: boolean) {
  const models = askedModels(options)
  if (!given) {
    const names = models.map(nameOf).join(", ")
    return [
      warning(
        "model",
        `${names}: not asked.`,
        "'reprise doctor --ask-models' asks for one word, to check name and key."
      )
    ]
  }
  return yield* Effect.forEach(models, (asked) =>
    withRuntime(
      asked.runtime,
      options,
      Effect.gen(function* () {
        const runtime = yield* (yield* AgentRuntimes).get(asked.runtime)
        return yield* check(runtime, options.project.root, asked)
      })
    ).pipe(
      Effect.scoped,
      Effect.catch((error) => Effect.succeed(failed(asked, { kind: "other", message: error.message })))
    )
  )
})
