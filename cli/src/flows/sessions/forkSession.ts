/** `reprise sessions fork ID`: a new standalone session with the conversation of another, up to the end of a turn. */
import { existsSync } from "node:fs"
import { commandOf } from "@reprise/agent/acpCommand"
import type { PastTurn, SessionView } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { findProject, type Project } from "../../project/Project.ts"
import { withClient } from "../../system/clientSystem.ts"
import { findSession } from "../../system/lookUp.ts"
import { hostName } from "../../system/names.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { type Beginning, begin, displayed, readPrompt, type SessionFlags } from "./startSession.ts"

interface Flags extends SessionFlags {
  readonly id: string
  readonly prompt: Option.Option<string>
  readonly at: Option.Option<number>
  readonly worktree: boolean
}

/** What a fork is told where nobody says anything else. */
const goOn = "Continue the current session and complete all remaining tasks."

/** The turns that a session can be forked after, as `1 to 3` or `4`. */
const rangeOf = (turns: ReadonlyArray<PastTurn>): string => {
  const [first, last] = [turns[0]?.turn, turns.at(-1)?.turn]
  return first === last ? `turn ${first}` : `turns ${first} to ${last}`
}

/** The turn that is meant: the last one that has ended, unless another is named. */
export const requireTurn = ({ pastTurns = [], sessionId, status, turnId }: SessionView, at: Option.Option<number>) => {
  const last = pastTurns.at(-1)
  if (last === undefined) {
    return wrongUse(
      "nothing-to-fork",
      `Session ${sessionId} cannot be forked: it is ${status}, and no turn of it has ended.`,
      turnId === undefined ? "Start a new one: reprise sessions start PROMPT." : "Wait for the end of its first turn."
    )
  }
  const found = Option.match(at, { onNone: () => last, onSome: (turn) => pastTurns.find((one) => one.turn === turn) })
  return found === undefined
    ? wrongUse(
        "unknown-turn",
        `Session ${sessionId} has no turn ${Option.getOrElse(at, () => 0)} to fork after: it can be forked after ${rangeOf(pastTurns)}.`,
        `'reprise sessions show ${sessionId}' lists them.`
      )
    : Effect.succeed(found)
}

const requireOwnRepository = ({ directory, sessionId }: SessionView, { root }: Project) =>
  directory === "" || directory === root || directory.startsWith(`${root}/`)
    ? Effect.void
    : wrongUse(
        "other-repository",
        `Session ${sessionId} belongs to ${directory}, which is not in this repository.`,
        "Fork it there."
      )

/** The fork's agent works in the directory of the original, which another command may have removed. */
const requireDirectory = ({ directory, sessionId }: SessionView) =>
  directory === "" || existsSync(directory)
    ? Effect.void
    : wrongUse(
        "directory-gone",
        `The directory of session ${sessionId} is gone: ${directory}`,
        "With --worktree the fork gets a new one, at the commit of that turn."
      )

const beginningOf = Effect.fnUntraced(function* (session: SessionView, project: Project, { at, worktree }: Flags) {
  const { commit, turn } = yield* requireTurn(session, at)
  const { directory, host, sessionId } = session
  const beginning: Beginning = { point: { sessionId, turn }, directory, host }
  // What another host has is not seen from here.
  const isHere = host === (yield* hostName)
  if (isHere) yield* requireOwnRepository(session, project)
  if (!worktree) {
    if (isHere) yield* requireDirectory(session)
    return beginning
  }
  if (commit === undefined) {
    return yield* wrongUse(
      "no-commit",
      `Of turn ${turn} of session ${sessionId} no commit is known, so there is nothing to make a worktree from.`,
      "Leave out --worktree, or name another turn with --at."
    )
  }
  return { ...beginning, repository: isHere || directory === "" ? project.root : directory }
})

/** Unless something else is said, the fork is on the runtime and the model of the original. */
const agentOf = ({ model, runtime: own }: SessionView, flags: Flags): Pick<Flags, "runtime" | "model"> => {
  const runtime = Option.getOrElse(flags.runtime, () => own)
  const known = model === undefined || runtime !== own || commandOf(own) !== undefined ? undefined : model
  return {
    runtime: Option.some(runtime),
    model: Option.orElse(flags.model, () => Option.fromUndefinedOr(known))
  }
}

const again = ({ at, id, worktree }: Flags): string => {
  const named = Option.match(at, { onNone: () => "", onSome: (turn) => ` --at ${turn}` })
  return `reprise sessions fork ${id}${named}${worktree ? " --worktree" : ""}`
}

export const forkSession = (flags: Flags) =>
  displayed(
    flags,
    Effect.gen(function* () {
      const project = yield* findProject(process.cwd())
      const session = yield* withClient(flags, findSession(flags.id))
      const beginning = yield* beginningOf(session, project, flags)
      const prompt = yield* readPrompt(Option.getOrElse(flags.prompt, () => goOn))
      yield* begin({ ...flags, ...agentOf(session, flags) }, { prompt, beginning, again: again(flags) })
    })
  )
