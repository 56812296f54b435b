/** `reprise sessions fork ID`: a new standalone session with the conversation of another, up to the end of a turn. */
import { continueSentence } from "@reprise/plan/agentTexts"
import { Effect, Option } from "effect"
import { findProject } from "../../project/findProject.ts"
import { withClient } from "../../system/clientSystem.ts"
import { findSession } from "../../system/lookUp/lookUp.ts"
import { agentOf, beginningOf } from "../forks/beginFork.ts"
import { begin, displayed, readPrompt, type SessionFlags } from "./startSession.ts"

interface Flags extends SessionFlags {
  readonly id: string
  readonly prompt: Option.Option<string>
  readonly at: Option.Option<number>
  readonly worktree: boolean
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
      const prompt = yield* readPrompt(Option.getOrElse(flags.prompt, () => continueSentence))
      yield* begin({ ...flags, ...agentOf(session, flags) }, { prompt, beginning, again: again(flags) })
    })
  )
