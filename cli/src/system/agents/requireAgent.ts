/**
 * Whether the agent that an answer names can take over: asked before the answer is sent, so that the question stays open
 * where it cannot. Only the host of the run can tell; elsewhere the run asks again when the agent cannot be started.
 */
import { homedir } from "node:os"
import { ActorConfig } from "@reprise/actor"
import { AgentRuntimes, claudeLogin } from "@reprise/agent"
import { commandOf } from "@reprise/agent/acpCommand"
import type { NamedAgent } from "@reprise/gate/typedAnswer"
import { type EscalationView, RuntimeName, type RunView } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { projectSettings } from "../../trust/projectSettings.ts"
import { clientOptions } from "../clientSystem.ts"
import { findRun, findSession } from "../lookUp/lookUp.ts"
import type { SystemOptions } from "../SystemOptions.ts"
import { isConfigured, requireRuntime } from "./runtimes.ts"
import { requireSandboxed, standingOf } from "./sandbox.ts"
import { withRuntime } from "./sessionRuntime.ts"

const isRuntimeName = Schema.is(RuntimeName)

const notSetUp = (why: string, next: string) =>
  missing(
    "agent-not-set-up",
    `${why} ${next}`,
    "The question stays open; answer again, with a usable agent or without naming one."
  )

/** A host starts no other command than those in its settings, whatever an answer names. */
const requireKnown = (runtime: RuntimeName, options: SystemOptions) =>
  commandOf(runtime) === undefined || isConfigured(options, runtime)
    ? Effect.void
    : wrongUse(
        "no-such-runtime",
        `${visibleLine(runtime)} is not an agent of the settings, and no other is started. Name opencode or claude, or change reprise.toml.`,
        "The question stays open."
      )

/** Claude reads the settings of the repository only where they are trusted. */
const requireClaudeLogin = Effect.fnUntraced(function* ({ project }: SystemOptions) {
  const { _tag } = yield* projectSettings(project, "claude")(project.root)
  const loggedIn = yield* claudeLogin(_tag === "trusted" ? project.root : homedir())
  if (loggedIn === false) {
    return yield* notSetUp(
      "Claude is installed, but has no login and no key.",
      "Log in with 'claude', or set ANTHROPIC_API_KEY where Reprise runs."
    )
  }
})

/** OpenCode lists the models of those providers whose key it has. */
const requireOpenCodeModel = Effect.fnUntraced(function* (model: string | undefined, options: SystemOptions) {
  const models = yield* withRuntime(
    "opencode",
    options,
    Effect.gen(function* () {
      const runtime = yield* (yield* AgentRuntimes).get("opencode")
      return yield* runtime.models(options.project.root)
    })
  ).pipe(Effect.scoped)
  if (model === undefined ? models.length > 0 : models.includes(model)) return
  return yield* notSetUp(
    model === undefined ? "OpenCode has no model." : `OpenCode has no model ${visibleLine(model)}, or no key for it.`,
    "'opencode models' lists the models, and 'opencode auth login' adds a key."
  )
})

const requireSetUp = Effect.fnUntraced(function* (runtime: RuntimeName, { model }: NamedAgent, options: SystemOptions) {
  yield* requireKnown(runtime, options)
  if (commandOf(runtime) !== undefined) {
    yield* requireSandboxed(runtime, options.settings, (yield* standingOf(options)).standing)
  }
  yield* requireRuntime(runtime, { openCodeUrl: options.settings.opencode.url, terminal: false })
  if (runtime === "claude") return yield* requireClaudeLogin(options)
  if (runtime === "opencode") return yield* requireOpenCodeModel(model, options)
})

/** The runtime of the author's newest session, for an answer that names a model alone. */
const presentRuntime = Effect.fnUntraced(function* ({ authorSessionId }: RunView) {
  if (authorSessionId === undefined) return undefined
  const session = yield* Effect.option(findSession(authorSessionId))
  return Option.match(session, { onNone: () => undefined, onSome: ({ runtime }) => runtime })
})

const readable = (error: { readonly message: string }): CliFailure =>
  error instanceof CliFailure
    ? error
    : missing("agent-not-set-up", error.message, "'reprise doctor' shows what is wrong.", error)

/** `wanted`: as it was typed. Fails with a sentence that has the next step. Does nothing for an answer that names no agent. */
export const requireAgent = Effect.fn("requireAgent")(function* ({ runId }: EscalationView, wanted: NamedAgent) {
  if (wanted.runtime === undefined && wanted.model === undefined && wanted.variant === undefined) return
  const run = yield* findRun(runId)
  const { options } = yield* clientOptions({ nats: Option.none() })
  const { host } = yield* ActorConfig
  const isHere = run.workspace === options.project.root && (run.host === undefined || run.host === host)
  const runtime = wanted.runtime ?? (yield* presentRuntime(run))
  // The gate itself refuses names that no runtime has.
  if (isHere && isRuntimeName(runtime)) yield* requireSetUp(runtime, wanted, options)
}, Effect.mapError(readable))
