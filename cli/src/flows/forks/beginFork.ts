/** Where a fork begins, and what it has from the session that it is a fork of. */
import { existsSync } from "node:fs"
import { commandOf } from "@reprise/agent/acpCommand"
import type { PastTurn, RuntimeName, SessionView } from "@reprise/protocol"
import { Effect, Option } from "effect"
import type { Project } from "../../project/Project.ts"
import { hostName } from "../../system/names.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import type { Beginning } from "./sendStart.ts"

/** The turn after which it begins, and whether it gets a worktree of its own. */
interface Place {
  readonly at: Option.Option<number>
  readonly worktree: boolean
}

interface Agent {
  readonly runtime: Option.Option<RuntimeName>
  readonly model: Option.Option<string>
}

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

/** Where a fork of the session begins. Fails with exit code 2 where it cannot. */
export const beginningOf = Effect.fnUntraced(function* (
  session: SessionView,
  project: Project,
  { at, worktree }: Place
) {
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
      `Of turn ${turn} of session ${sessionId} no commit is known, so no worktree can be made.`,
      "Leave out --worktree, or name another turn with --at."
    )
  }
  return { ...beginning, repository: isHere || directory === "" ? project.root : directory }
})

/** Unless something else is said, the fork is on the runtime and the model of the original. */
export const agentOf = ({ model, runtime: own }: SessionView, flags: Agent): Agent => {
  const runtime = Option.getOrElse(flags.runtime, () => own)
  const known = model === undefined || runtime !== own || commandOf(own) !== undefined ? undefined : model
  return {
    runtime: Option.some(runtime),
    model: Option.orElse(flags.model, () => Option.fromUndefinedOr(known))
  }
}
