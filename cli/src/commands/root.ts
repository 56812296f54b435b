/** The command line: names, flags and help. A command's code is loaded when the command is called. */
import * as Command from "effect/cli/Command"
import { completion } from "./completion.ts"
import { gate } from "./gate.ts"
import { config, init, permissions, prompts, sandbox, trust, worktree } from "./repository.ts"
import { abort, logs, pause, prune, repair, resume, run, status, summary, validate, watch } from "./runs.ts"
import { attach, sessions } from "./sessions.ts"
import { deadLetters, demo, doctor, serve, streams, up } from "./system.ts"

export const root = Command.make("reprise").pipe(
  Command.withDescription(
    "Runs a plan through coding agents, with your tests and a reviewer; survives crashes and waits for you"
  ),
  Command.withSubcommands([
    init,
    run,
    validate,
    gate,
    status,
    summary,
    watch,
    logs,
    pause,
    resume,
    abort,
    repair,
    prune,
    sessions,
    up,
    attach,
    serve,
    streams,
    trust,
    permissions,
    config,
    sandbox,
    prompts,
    worktree,
    doctor,
    deadLetters,
    demo,
    completion
  ])
)
