/** `reprise attach SESSION`: the runtime's own interface, in that session, at this terminal. */
import { spawn } from "node:child_process"
import { AgentRuntimes, type AttachCommand, locateOpenCode } from "@reprise/agent"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import { findSession, isOver } from "../../system/findSession.ts"
import { isServed, type Place, withRuntime } from "../../system/sessionRuntime.ts"
import { type SessionFlags, withPlace } from "../../system/withPlace.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { color, okJson, say } from "../../terminal/Printer.ts"

/** The session's id at its runtime, when a human can step into it from here. */
const requireOpen = Effect.fnUntraced(function* (session: SessionView, remote: boolean) {
  const { host, runtimeSessionId, sessionId, status } = session
  const look = `'reprise sessions show ${sessionId}' shows what was said in it.`
  if (isOver(session))
    return yield* wrongUse("ended", `Session ${sessionId} is ${status}: nobody can step into it.`, look)
  if (runtimeSessionId === undefined) {
    return yield* wrongUse(
      "not-opened",
      `Session ${sessionId} was not opened on its runtime yet.`,
      "Try again in a moment."
    )
  }
  if (remote) {
    return yield* wrongUse(
      "elsewhere",
      `Session ${sessionId} lives on host ${host}, with its files and its runtime.`,
      `Run 'reprise attach ${sessionId}' there.`
    )
  }
  return runtimeSessionId
})

/** Gives the interface's exit code. Secrets are in its environment, never in its arguments. */
const open = ({ argv: [program, ...args], env }: AttachCommand) =>
  Effect.callback<number, Error>((resume) => {
    const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...env } })
    child.on("error", (error) => resume(Effect.fail(error)))
    child.on("close", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

/** OpenCode alone, on the same sessions: for a later moment, when no server of ours may run. */
const alone = (session: SessionView, id: string) =>
  Effect.map(
    locateOpenCode(),
    (program): AttachCommand => ({ argv: [program, session.directory, "--session", id], env: {} })
  )

const command = Effect.fnUntraced(function* (session: SessionView, id: string) {
  const runtime = yield* (yield* AgentRuntimes).get(session.runtime)
  return yield* runtime.attachCommand(id)
})

const failed = (session: SessionView) => (error: { readonly message: string }) =>
  missing(
    "attach",
    `Session ${session.sessionId} cannot be attached to: ${error.message}`,
    "'reprise doctor' looks at the runtimes.",
    error
  )

/** As data: the command and the names of what it needs in its environment. */
const describe = Effect.fnUntraced(function* (session: SessionView, id: string, place: Place) {
  const served = yield* isServed(session.runtime, place)
  const { argv, env } = yield* served ? withRuntime(session.runtime, place, command(session, id)) : alone(session, id)
  okJson({ sessionId: session.sessionId, runtimeSessionId: id, argv, environment: Object.keys(env) })
})

const interact = (session: SessionView, id: string, place: Place) =>
  withRuntime(session.runtime, place, Effect.flatMap(command(session, id), open))

export const attach = Effect.fn("attach")(function* (flags: SessionFlags & { readonly id: string }) {
  const { id, place, session } = yield* withPlace(flags, (at, remote) =>
    Effect.gen(function* () {
      const found = yield* findSession(flags.id)
      return { session: found, id: yield* requireOpen(found, remote), place: at }
    })
  )
  if (flags.json) return yield* Effect.mapError(describe(session, id, place), failed(session))
  if (!(process.stdin.isTTY === true && process.stdout.isTTY === true)) {
    return yield* wrongUse(
      "no-terminal",
      `'reprise attach' opens the interface of ${session.runtime}, which needs a terminal.`,
      "Add --json to get the command itself."
    )
  }
  say(color.dim(`session ${session.sessionId}: what you do in it counts as yours`))
  const code = yield* Effect.mapError(interact(session, id, place), failed(session))
  if (code !== 0) {
    return yield* missing("attach", `The interface of ${session.runtime} ended with ${code}.`, "See what it said.")
  }
})
