/**
 * Opens a fork: its runtime copies the conversation of another session up to the end of a turn. Where it cannot, the fork is
 * told what was said until then (docs/design/sessions.md#forks).
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Broker, type Messenger, WorkFault } from "@reprise/actor"
import { AgentError, type AgentRuntimeShape, AgentRuntimes } from "@reprise/agent"
import { runGit } from "@reprise/process"
import { defined, type Key, type PastTurn, type SessionView } from "@reprise/protocol"
import { otherFiltersOf, removeWorkingTree, whyFiltersAreRefused } from "@reprise/sandbox"
import { Clock, Effect, Schema } from "effect"
import { transcriptOf } from "../lifecycle/transcript.ts"
import type { Report } from "../session/inputs.ts"
import type { WorkOf } from "../session/work.ts"
import { gitOfSession } from "./gitOfSession.ts"
import { wholeOf } from "./readTranscript.ts"
import { contextOf, messagesThrough, readSaved } from "./reconstruct.ts"
import { showSession } from "./report.ts"
import { newestPromptIn } from "./runtimeSession.ts"

type OpenSession = WorkOf<"OpenSession">
type Fork = NonNullable<OpenSession["fork"]>

export type Opened = Pick<
  Report<"RecordOpened">,
  "runtimeSessionId" | "context" | "inherited" | "promptId" | "forkTold"
>

/** Why the session can never be opened. */
export class NoFork extends Schema.TaggedError<NoFork>()("NoFork", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

interface Origin {
  readonly view: SessionView
  readonly past: PastTurn
}

const originOf = Effect.fnUntraced(function* ({ sessionId, turn }: Fork) {
  const view = yield* showSession({ key: sessionId }).pipe(
    Effect.mapError((cause) =>
      cause.code === "not-found"
        ? new NoFork({ reason: `There is no session ${sessionId} to fork.` })
        : new WorkFault({ operation: "look up the session to fork", cause })
    )
  )
  const past = view.pastTurns?.find((one) => one.turn === turn)
  return past === undefined
    ? yield* new NoFork({ reason: `Session ${sessionId} cannot be forked at turn ${turn}: it is not known any more.` })
    : { view, past }
})

const gitIn = (directory: string, args: ReadonlyArray<string>) =>
  runGit(directory, args, gitOfSession(120_000)).pipe(
    Effect.mapError((cause) => new WorkFault({ operation: "make the worktree of a fork", cause }))
  )

/** Git writes the index of a new worktree last. */
const isWhole = Effect.fnUntraced(function* (directory: string) {
  if (!existsSync(join(directory, ".git"))) return false
  const index = yield* gitIn(directory, ["rev-parse", "--path-format=absolute", "--git-path", "index"])
  return index.exitCode === 0 && existsSync(index.stdout.trim())
})

/** git locks a worktree that it makes until that is whole. */
const clearPlace = Effect.fnUntraced(function* (repository: string, directory: string) {
  yield* removeWorkingTree(repository, directory, gitOfSession(120_000), { evenLocked: true }).pipe(
    Effect.mapError((cause) =>
      cause._tag === "WorktreeStays"
        ? new NoFork({ reason: cause.message })
        : new WorkFault({ operation: "make the worktree of a fork", cause })
    )
  )
  yield* gitIn(repository, ["worktree", "prune"])
})

/** The worktree of the fork, at the commit of its turn. One that is there was made before, or cut off by a crash. */
const makeWorktree = Effect.fnUntraced(function* (
  { directory }: OpenSession,
  { repository, sessionId, turn }: Fork,
  { commit }: PastTurn,
  branch: string
) {
  if (repository === undefined || (yield* isWhole(directory))) return
  if (commit === undefined) {
    const reason = `Of turn ${turn} of session ${sessionId} no commit is known: fork it without --worktree.`
    return yield* new NoFork({ reason })
  }
  yield* clearPlace(repository, directory)
  const known = yield* gitIn(repository, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`])
  const from = known.exitCode === 0 ? known.stdout.trim() : commit
  const others = yield* otherFiltersOf(repository, from, gitOfSession(120_000)).pipe(
    Effect.mapError((cause) => new WorkFault({ operation: "make the worktree of a fork", cause }))
  )
  if (others.length > 0) {
    const reason = `The worktree ${directory} is not made: ${whyFiltersAreRefused(others, from, repository)}`
    return yield* new NoFork({ reason })
  }
  if (known.exitCode !== 0) {
    // Where a command has made it a symbolic ref, git would write through it.
    const created = ["-m", `branch: Created from ${commit}`, `refs/heads/${branch}`, commit, ""]
    yield* gitIn(repository, ["update-ref", "--no-deref", ...created])
  }
  const added = yield* gitIn(repository, ["worktree", "add", "--quiet", "--", directory, branch])
  if (added.exitCode !== 0) {
    return yield* new NoFork({ reason: `The worktree ${directory} cannot be made: ${added.stderr.trim()}` })
  }
})

const settingsOf = ({ directory, model, permissions, role, title }: OpenSession) => ({
  directory,
  title,
  permissions,
  role,
  ...defined({ model })
})

const copied = Effect.fnUntraced(function* (runtime: AgentRuntimeShape, work: OpenSession, { past }: Origin) {
  const { promptId: through, runtimeSessionId } = past
  const id = yield* runtime.fork({ ...settingsOf(work), runtimeSessionId, through })
  const inspected = yield* runtime.inspect(id)
  const promptId = newestPromptIn(inspected)
  return { runtimeSessionId: id, inherited: inspected.usage, ...defined({ promptId }) }
})

/** The newest part that was saved of the runtime session, else its whole. */
const savedAs = ({ past, view }: Origin): string => {
  const whole = transcriptOf(view.sessionId, past.runtimeSessionId)
  return view.transcript !== undefined && wholeOf(view.transcript) === whole ? view.transcript : whole
}

/** The conversation up to the turn, as its runtime tells it now, else as it was saved; undefined: nobody has it. */
const conversationOf = Effect.fnUntraced(function* (origin: Origin) {
  const { past, view } = origin
  const runtimes = yield* AgentRuntimes
  const said = yield* runtimes.get(view.runtime).pipe(
    Effect.flatMap((runtime) => runtime.history(past.runtimeSessionId)),
    Effect.orElseSucceed(() => [])
  )
  const kept = messagesThrough(said, past.promptId)
  if (kept.length > 0) return { messages: kept, savedAt: new Date(yield* Clock.currentTimeMillis).toISOString() }
  const saved = yield* readSaved(savedAs(origin))
  return saved === undefined
    ? undefined
    : { messages: messagesThrough(saved.messages, past.promptId), savedAt: saved.savedAt }
})

const told = Effect.fnUntraced(function* (
  runtime: AgentRuntimeShape,
  work: OpenSession,
  origin: Origin,
  because: string
) {
  const conversation = yield* conversationOf(origin)
  const context = conversation === undefined ? undefined : yield* contextOf(conversation, work.directory)
  if (context === undefined) {
    const { sessionId } = origin.view
    const reason = `Session ${sessionId} cannot be forked: ${because} Nothing of it was saved either, so start a new session.`
    return yield* new NoFork({ reason })
  }
  return { runtimeSessionId: yield* runtime.create(settingsOf(work)), context, forkTold: because }
})

/** A failure that another try may not have. */
const mayPass = ({ kind }: AgentError): boolean => kind !== "session-missing" && kind !== "other"

/** Not idempotent: a process that dies before it reports leaves a copy behind, which nobody prompts. */
export const forkSession = Effect.fn("forkSession")(function* (
  work: OpenSession,
  fork: Fork,
  key: Key
): Effect.fn.Return<Opened, AgentError | NoFork | WorkFault, AgentRuntimes | Broker | Messenger> {
  const origin = yield* originOf(fork)
  yield* makeWorktree(work, fork, origin.past, `reprise/${key}`)
  const runtimes = yield* AgentRuntimes
  const runtime = yield* runtimes.get(work.runtime)
  if (work.runtime !== origin.view.runtime) {
    return yield* told(runtime, work, origin, `It is a session of ${origin.view.runtime}.`)
  }
  return yield* copied(runtime, work, origin).pipe(
    Effect.catchIf(
      (error): error is AgentError => error instanceof AgentError && !mayPass(error),
      (error) =>
        Effect.andThen(Effect.logInfo(`a fork is told its conversation: ${error.detail}`), () =>
          told(runtime, work, origin, error.detail)
        )
    )
  )
})
