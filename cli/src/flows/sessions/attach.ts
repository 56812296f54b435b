/** `reprise attach SESSION`: opens the runtime's own interface, in that session, at this terminal. */
import { spawn } from "node:child_process"
import { AgentRuntimes, type AttachCommand, locateOpenCode } from "@reprise/agent"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { findSession, isOver } from "../../system/lookUp.ts"
import { type SystemOptions, usesRemote } from "../../system/System.ts"
import { isServed, withRuntime, withSessionClient } from "../../system/sessionRuntime.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { color, okJson, say } from "../../terminal/Printer.ts"

/** The session's id at its runtime, if a human can enter the session from here. */
const requireAttachable = Effect.fnUntraced(function* (session: SessionView, options: SystemOptions) {
  const { host, runtimeSessionId, sessionId } = session
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
  if (usesRemote(options)) {
    return yield* wrongUse(
      "elsewhere",
      `Session ${sessionId} is on host ${host}, with its files and its runtime.`,
      `Run 'reprise attach ${sessionId}' there.`
    )
  }
  return runtimeSessionId
})

/** Returns the interface's exit code. Secrets are in its environment, never in its arguments. */
const runInterface = ({ argv: [program, ...args], env }: AttachCommand) =>
  Effect.callback<number, Error>((resume) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } })
    child.on("error", (error) => resume(Effect.fail(error)))
    child.on("close", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** OpenCode on the same sessions without our server, so that the command still works when no server runs. */
const withoutServer = (session: SessionView, id: string) =>
  Effect.map(
    locateOpenCode(),
    (program): AttachCommand => ({ argv: [program, session.directory, "--session", id], env: {} })
  )

const attachCommand = Effect.fnUntraced(function* (session: SessionView, id: string) {
  const runtime = yield* (yield* AgentRuntimes).get(session.runtime)
  return yield* runtime.attachCommand(id)
})

const failed = (session: SessionView) => (error: { readonly message: string }) =>
  missing(
    "attach",
    `Session ${session.sessionId} cannot be attached to: ${error.message}`,
    "'reprise doctor' checks the runtimes.",
    error
  )

/** Prints the command and the names of the variables that it needs. */
const describe = Effect.fnUntraced(function* (session: SessionView, id: string, options: SystemOptions) {
  const served = yield* isServed(session.runtime, options)
  const { argv, env } = yield* served
    ? withRuntime(session.runtime, options, attachCommand(session, id))
    : withoutServer(session, id)
  okJson({ sessionId: session.sessionId, runtimeSessionId: id, argv, environment: Object.keys(env) })
})

const interact = (session: SessionView, id: string, options: SystemOptions) =>
  withRuntime(session.runtime, options, Effect.flatMap(attachCommand(session, id), runInterface))

export const attach = Effect.fn("attach")(function* (flags: ClientFlags & { readonly id: string }) {
  const { id, options, session } = yield* withSessionClient(flags, (at) =>
    Effect.gen(function* () {
      const found = yield* findSession(flags.id)
      return { session: found, id: yield* requireAttachable(found, at), options: at }
    })
  )
  if (flags.json) return yield* Effect.mapError(describe(session, id, options), failed(session))
  if (!(process.stdin.isTTY === true && process.stdout.isTTY === true)) {
    return yield* wrongUse(
      "no-terminal",
      `'reprise attach' opens the interface of ${session.runtime}, which needs a terminal.`,
      "Add --json to print the command instead."
    )
  }
  say(
    color.dim(
      `Opening session ${session.sessionId}. If its run waits for you, a prompt that you type there makes the run continue.`
    )
  )
  const code = yield* Effect.mapError(interact(session, id, options), failed(session))
  if (code !== 0) {
    return yield* missing("attach", `The interface of ${session.runtime} ended with ${code}.`, "Read its output.")
  }
})
