/** The command line (protocol: The command line): names, flags and help. What commands do is loaded when they are called. */
import * as Command from "effect/cli/Command"
import { gate } from "./gate.ts"
import { config, init, prompts, trust, worktree } from "./repository.ts"
import { abort, logs, pause, prune, resume, run, status, summary, validate, watch } from "./runs.ts"
import { attach, sessions } from "./sessions.ts"
import { completion, demo, doctor, serve, up } from "./system.ts"

export const root = Command.make("reprise").pipe(
  Command.withDescription("Runs implementation plans through coding agents and never throws a conversation away"),
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
    prune,
    sessions,
    up,
    attach,
    serve,
    trust,
    config,
    prompts,
    worktree,
    doctor,
    demo,
    completion
  ])
)
