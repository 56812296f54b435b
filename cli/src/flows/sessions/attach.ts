/**
 * `reprise attach SESSION`: opens the runtime's own interface, in that session, at this terminal. It joins the server that
 * is watched. Where nobody does the work of the repository, this process does, as long as the interface is open
 * (docs/design/sessions.md#auto-resume).
 */
import { spawn } from "node:child_process"
import { Messenger } from "@reprise/actor"
import { AgentRuntimes, type AttachCommand } from "@reprise/agent"
import { type SessionView, to } from "@reprise/protocol"
import { Effect, Option, Schedule, Stream } from "effect"
import { isServed, withRuntime, withSessionClient } from "../../system/agents/sessionRuntime.ts"
import { isBrokerLost } from "../../system/broker/BrokerLost.ts"
import { BrokerRole, untilBrokerLost } from "../../system/broker/broker.ts"
import { type ClientFlags, clientOptions } from "../../system/clientSystem.ts"
import { findRun, findSession } from "../../system/lookUp/lookUp.ts"
import { hostName } from "../../system/names.ts"
import { hostingSystem } from "../../system/System.ts"
import { type SystemOptions, usesRemote } from "../../system/SystemOptions.ts"
import { CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { color, okJson, say } from "../../terminal/Printer.ts"
import { agentsOf, requireTrusted } from "../../trust/requireTrust.ts"
import { agentSettings, notifySettings, sandboxSettings, serverSettings } from "../../trust/trustedSettings.ts"
import { isOpenRun, isOver } from "../../views/ended.ts"
import { followRun } from "../run/followRun.ts"

/** A session that a human can enter, and its id at its runtime. */
interface Open {
  readonly session: SessionView
  readonly id: string
}

const elsewhere = ({ host, sessionId }: SessionView) =>
  wrongUse(
    "elsewhere",
    `Session ${sessionId} is on host ${host}, with its files and its runtime.`,
    `Run 'reprise attach ${sessionId}' there.`
  )

/** On a server that others run, the session's host is another one unless `REPRISE_HOST` names it. */
const requireAttachable = Effect.fnUntraced(function* (session: SessionView, options: SystemOptions) {
  const { runtimeSessionId, sessionId } = session
  if (isOver(session)) {
    return yield* wrongUse(
      "ended",
      `Session ${sessionId} has ended and can only be read.`,
      `Read it: reprise sessions show ${sessionId}`
    )
  }
  if (runtimeSessionId === undefined) {
    return yield* wrongUse(
      "not-opened",
      `The runtime has not opened session ${sessionId} yet.`,
      "Try again in a moment."
    )
  }
  if (usesRemote(options) && session.host !== (yield* hostName)) return yield* elsewhere(session)
  return { session, id: runtimeSessionId }
})

const untilEnded = (child: ReturnType<typeof spawn>) =>
  Effect.callback<void>((resume) => {
    child.on("close", () => resume(Effect.void))
  })

/** Returns the interface's exit code. Secrets are in its environment, never in its arguments. */
const runInterface = ({ argv: [program, ...args], env }: AttachCommand) =>
  Effect.callback<number, Error>((resume) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } })
    child.on("error", (error) => resume(Effect.fail(error)))
    child.on("close", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.suspend(() => (child.kill("SIGTERM") ? untilEnded(child) : Effect.void))
  })

const attachCommand = Effect.fnUntraced(function* ({ id, session }: Open) {
  const runtime = yield* (yield* AgentRuntimes).get(session.runtime)
  return yield* runtime.attachCommand(id)
})

const failed =
  ({ session }: Open) =>
  (error: unknown) =>
    error instanceof CliFailure || isBrokerLost(error)
      ? error
      : missing(
          "attach",
          `Session ${session.sessionId} cannot be attached to: ${error instanceof Error ? error.message : String(error)}`,
          "'reprise doctor' checks the runtimes.",
          error
        )

/** Prints the command and the names of the variables that it needs. Without a server, only this command starts one. */
const describe = Effect.fnUntraced(function* (open: Open, options: SystemOptions) {
  const { id, session } = open
  const served = yield* isServed(session.runtime, options)
  const { argv, env } = yield* served
    ? withRuntime(session.runtime, options, attachCommand(open))
    : Effect.succeed<AttachCommand>({ argv: ["reprise", "attach", session.sessionId], env: {} })
  okJson({ sessionId: session.sessionId, runtimeSessionId: id, argv, environment: Object.keys(env) })
})

/** Longer than a server may take to start. */
const serverMs = 200_000
/** A server that others keep running is there, or it is on another machine. */
const remoteServerMs = 10_000

/** Whoever does the work starts the server, since it watches the session. */
const untilServed = Effect.fnUntraced(function* ({ session }: Open, options: SystemOptions) {
  const remote = usesRemote(options)
  const served = yield* isServed(session.runtime, options).pipe(
    Effect.repeat({ until: (there) => there, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOption(`${remote ? remoteServerMs : serverMs} millis`)
  )
  if (Option.isSome(served)) return
  return yield* remote
    ? elsewhere(session)
    : missing("no-server", `No server of ${session.runtime} runs for this repository.`, "'reprise doctor' checks it.")
})

/** The human has left: nobody waits for what they might say next. */
const handBack = ({ session: { sessionId } }: Open) =>
  Effect.ignore(Messenger.use((messenger) => messenger.send(to.sessionManager(sessionId).HandBack())))

const sayEnded = ({ sessionId }: SessionView) =>
  say(`Session ${sessionId} has ended. Read it: reprise sessions show ${sessionId}`)

/** Whoever is at work in a session is waited for before it is archived. What is said later reaches no run, and is not counted. */
const untilArchived = ({ session: { runId, sessionId } }: Open) =>
  Messenger.use(({ events }) =>
    events({ runId, types: ["SessionArchived"], from: "beginning" }).pipe(
      Stream.filter(({ event }) => event.sessionId === sessionId),
      Stream.take(1),
      Stream.runDrain
    )
  )

/** The session has ended, and its run may not have: it goes on here, as with `reprise run`. */
const goOn = Effect.fnUntraced(function* ({ runId, prompt }: SessionView) {
  if (prompt !== undefined) return
  const since = new Date().toISOString()
  const run = yield* findRun(runId)
  if (!isOpenRun(run)) return
  yield* followRun(runId, { answerer: "terminal", json: false, plan: { path: run.planPath }, since })
})

const interact = Effect.fnUntraced(function* (open: Open, options: SystemOptions) {
  const { session } = open
  // It may have ended with the process that did the work before.
  if (isOver(yield* findSession(session.sessionId))) {
    sayEnded(session)
    return 0
  }
  yield* untilServed(open, options)
  say(
    color.dim(
      `Opening session ${session.sessionId}. If its run waits for you, a prompt that you type there makes the run continue.`
    )
  )
  const { works } = yield* BrokerRole
  const opened = Effect.flatMap(attachCommand(open), runInterface)
  const left = Effect.raceFirst(opened, Effect.as(untilArchived(open), undefined))
  const code = yield* withRuntime(session.runtime, options, left)
  if (code === undefined) {
    sayEnded(session)
    if (works) yield* goOn(session)
    return 0
  }
  yield* handBack(open)
  if (works) say(color.dim("Continue with 'reprise run' or 'reprise up'."))
  return code
})

export const attach = Effect.fn("attach")(function* (flags: ClientFlags & { readonly id: string }) {
  const { open, options } = yield* withSessionClient(flags, (at) =>
    Effect.gen(function* () {
      const session = yield* findSession(flags.id)
      return { open: yield* requireAttachable(session, at), options: at }
    })
  )
  if (flags.json) return yield* Effect.mapError(describe(open, options), failed(open))
  const { session } = open
  if (!(process.stdin.isTTY === true && process.stdout.isTTY === true)) {
    return yield* wrongUse(
      "no-terminal",
      `'reprise attach' opens the interface of ${session.runtime}, which needs a terminal.`,
      "Add --json to print the command instead."
    )
  }
  const { config } = yield* clientOptions(flags)
  const paths = [...serverSettings, ...agentSettings, ...sandboxSettings, ...notifySettings]
  for (const notice of yield* requireTrusted(options.project, config, paths, agentsOf(config))) say(notice)
  // When the process that did the work ends, this one takes over, and opens the interface again.
  const code = yield* untilBrokerLost(interact(open, options)).pipe(
    Effect.provide(hostingSystem({ ...options, lasting: true, lazyAgents: true, host: session.host })),
    Effect.mapError(failed(open)),
    Effect.retry({ while: isBrokerLost })
  )
  if (code !== 0) {
    return yield* missing("attach", `The interface of ${session.runtime} ended with ${code}.`, "Read its output.")
  }
})
