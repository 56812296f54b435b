/** The command line: names, flags and help. A command's code is loaded when the command is called. */
import * as Command from "effect/cli/Command"
import { agents } from "./agents.ts"
import { complete, completion } from "./completion.ts"
import { gate } from "./gate.ts"
import { notify } from "./notify.ts"
import { config, init, permissions, prompts, sandbox, trust, worktree } from "./repository.ts"
import { abort, logs, pause, prune, repair, resume, run, status, summary, validate, watch } from "./runs.ts"
import { attach, sessions } from "./sessions.ts"
import { deadLetters, demo, doctor, hosts, serve, streams, up } from "./system.ts"

export const root = Command.make("reprise").pipe(
  Command.withDescription(
    "Runs a plan through coding agents, with your tests and a reviewer; survives crashes and waits for you"
  ),
  // In the order in which somebody new needs them.
  Command.withSubcommands([
    { group: "Start", commands: [demo, init, validate, run] },
    { group: "Answer", commands: [gate, attach] },
    { group: "Watch", commands: [status, watch, logs, summary] },
    { group: "Control", commands: [pause, resume, abort, up] },
    { group: "Sessions", commands: [sessions] },
    { group: "Settings and trust", commands: [config, trust, permissions, sandbox, prompts] },
    { group: "Care", commands: [doctor, agents, notify, repair, prune, worktree, deadLetters] },
    { group: "For operators", commands: [serve, hosts, streams] },
    { group: "Shell", commands: [completion, complete] }
  ])
)
