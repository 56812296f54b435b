/**
 * Agents that do what their prompts say, as far as a prompt says it: which tasks of the phase are left, where to stop,
 * what to correct. A fault makes one do something else once.
 */
import type { MemoryScript, MemoryStep, MemoryTurn } from "@reprise/agent"
import { hashOf } from "../machine/Random.ts"
import type { misbehaviours, misjudgements } from "../world/faults.ts"
import type { PlannedPhase, PlannedRun, PlannedTask } from "../world/World.ts"
import type { Repository } from "./Repository.ts"

type Misbehaviour = (typeof misbehaviours)[number]
type Misjudgement = (typeof misjudgements)[number]

/** What an agent remembers of its session. */
interface Memory {
  readonly run: PlannedRun
  readonly repository: Repository
  role: "author" | "reviewer"
  phase: PlannedPhase | undefined
  /** What it was asked for last: tasks, or a correction of what is there. */
  mode: "tasks" | "fix"
  /** Done by others, as a prompt said. */
  readonly told: Set<string>
  /** Done in this session, with their commits. */
  readonly done: Map<string, string>
  /** Checkpoints that a human has answered. */
  readonly answered: Set<string>
  stoppedAt: PlannedTask | undefined
  /** So many prompts are not answered with a report any more. */
  silent: number
}

/** A prompt as it reached an agent for the first time. */
export interface SeenPrompt {
  readonly runtimeSessionId: string
  readonly runId: string
  readonly role: "author" | "reviewer"
  readonly phase: string | undefined
  readonly text: string
  readonly atMs: number
}

/** A turn that a human began, or one that went on after its runtime had crashed. */
export interface TurnByHand {
  readonly runtimeSessionId: string
  readonly runId: string
  readonly text: string
  readonly atMs: number
}

/** A task that an agent did. */
export interface DoneTask {
  readonly runId: string
  readonly phase: string
  readonly task: string
  readonly commit: string
  readonly runtimeSessionId: string
}

export interface AgentWorld {
  readonly seed: number
  readonly runOf: (runtimeSessionId: string) => { readonly run: PlannedRun; readonly repository: Repository }
  readonly authorDoes: (prompt: number) => Misbehaviour | undefined
  readonly reviewerDoes: (prompt: number) => Misjudgement | undefined
  readonly nowMs: () => number
}

export interface Agents {
  readonly script: MemoryScript
  readonly seen: ReadonlyArray<SeenPrompt>
  readonly byHand: ReadonlyArray<TurnByHand>
  readonly tasks: ReadonlyArray<DoneTask>
}

/** What a human types in a session begins so. */
export const byHand = "By hand:"
/** Such a turn calls the model so often, unless it is cut off. */
export const callsByHand = 2

/** A habit of an agent lasts for so many prompts. */
const habitLasts = 5

const fence = "```"
const report = (value: object): MemoryStep => ({
  say: `I am done.\n\n${fence}json\n${JSON.stringify(value)}\n${fence}`
})

const isReportRequest = (text: string) =>
  text.startsWith("Now report") || text.startsWith("Your report could not be read")

/** What a prompt tells of the phase: which tasks are done, and which checkpoints are answered. */
const learn = (memory: Memory, text: string): void => {
  const header = /You are the author of phase (\S+) of the plan/.exec(text)?.[1]
  if (header !== undefined) memory.phase = memory.run.phases.find(({ id }) => id === header)
  const tasks = memory.phase?.tasks ?? []
  for (const [, id = "", status] of text.matchAll(/^> \| (\S+) \|.*\| (complete|checkpoint|pending) \|$/gm)) {
    if (status === "complete") memory.told.add(id)
    else memory.told.delete(id)
  }
  const answered = [
    ...text.matchAll(/Re-execute Task (\d+) with the user's input\. Its checkpoint is answered/g),
    ...text.matchAll(/^> For Task (\d+):/gm)
  ]
  for (const [, n] of answered) {
    const task = tasks[Number(n) - 1]
    if (task !== undefined) memory.answered.add(task.id)
  }
  if (/carry out its phase/.test(text)) memory.mode = "tasks"
  else if (/quality gates fail|raised the following items|working tree is not clean/.test(text)) memory.mode = "fix"
}

const doTask = (memory: Memory, task: string): string => {
  const { repository } = memory
  repository.write(`src/${task}.txt`, `${repository.commits.length}`)
  const commit = repository.commit(task)
  memory.done.set(task, commit)
  return commit
}

const fix = ({ repository }: Memory): void => {
  repository.write("src/fixes.txt", `${repository.commits.length}`)
  repository.commit("fix")
}

/** The tasks that are left, up to a checkpoint that nobody has answered. */
const doTasks = (memory: Memory, passCheckpoints: boolean, did: (task: string, commit: string) => void): void => {
  memory.stoppedAt = undefined
  for (const task of memory.phase?.tasks ?? []) {
    if (memory.told.has(task.id) || memory.done.has(task.id)) continue
    const stops = task.checkpoint !== undefined && !passCheckpoints && !memory.answered.has(task.id)
    if (stops) memory.stoppedAt = task
    if (stops && task.checkpoint !== "human-verify") return
    did(task.id, doTask(memory, task.id))
    if (stops) return
  }
}

const checkpointOf = ({ checkpoint, id }: PlannedTask) => ({
  task: id,
  type: checkpoint ?? "architectural-change",
  description: `Task ${id} needs you.`,
  ...(checkpoint === "decision"
    ? {
        options: [
          { id: "one", label: "The one" },
          { id: "two", label: "The other" }
        ]
      }
    : {}),
  ...(checkpoint === "human-verify" ? { verifySteps: ["Look at it."] } : {}),
  ...(checkpoint === "human-action" ? { requiredAction: "Do it." } : {})
})

/** Where the phase stands, complete and true. */
const honest = ({ done, repository, stoppedAt }: Memory): object => {
  const completedTasks = [...done].map(([id, commit]) => ({ id, commit, files: [`src/${id}.txt`] }))
  const commit = repository.head
  return stoppedAt === undefined
    ? { result: "complete", commit, completedTasks }
    : { result: "checkpoint", completedTasks, checkpoint: checkpointOf(stoppedAt) }
}

/** Ways in which any prompt may end without an answer. */
const withoutAnswer = (does: Misbehaviour | Misjudgement, attempt: number): ReadonlyArray<MemoryStep> | undefined => {
  if (does === "stuck") return [{ hold: "forever" }]
  if (does === "vendor-fails") return [{ fail: "other", message: "The vendor failed." }]
  if (does === "session-lost") return [{ fail: "session-missing", message: "There is no such session." }]
  if (does === "no-internet" && attempt === 1) return [{ fail: "no_internet", message: "No network." }]
  if (does === "rate-limited" && attempt < 3) {
    return [{ fail: "rate_limited", message: "Too fast.", retryAfterMs: 20_000 }]
  }
  return undefined
}

export const makeAgents = ({ authorDoes, nowMs, reviewerDoes, runOf, seed }: AgentWorld): Agents => {
  const memories = new Map<string, Memory>()
  const doing = new Map<string, Misbehaviour | Misjudgement>()
  const seen: Array<SeenPrompt> = []
  const turnsByHand: Array<TurnByHand> = []
  const tasks: Array<DoneTask> = []
  const prompts = { author: 0, reviewer: 0 }

  const memoryOf = (id: string): Memory => {
    const known = memories.get(id)
    if (known !== undefined) return known
    const fresh = { told: new Set<string>(), done: new Map<string, string>(), answered: new Set<string>() }
    const made: Memory = {
      ...runOf(id),
      ...fresh,
      ...{ role: "author", phase: undefined, mode: "tasks", stoppedAt: undefined, silent: 0 }
    }
    memories.set(id, made)
    return made
  }

  /** What its role does from some prompt on, for a while. */
  const habits: { author?: number; reviewer?: number } = {}
  const habit = (role: "author" | "reviewer"): Misbehaviour | Misjudgement | undefined => {
    const until = habits[role] ?? 0
    if (prompts[role] >= until) return undefined
    return role === "author" ? "keeps-failing" : "never-satisfied"
  }

  const receive = (memory: Memory, { sessionId, text }: MemoryTurn): void => {
    if (text.startsWith("You are the reviewer")) memory.role = "reviewer"
    if (memory.role === "author") learn(memory, text)
    else memory.phase = memory.run.phases.find(({ id }) => text.includes(`reviewer of phase ${id} of`)) ?? memory.phase
    const { phase, role, run } = memory
    seen.push({ runtimeSessionId: sessionId, runId: run.runId, role, phase: phase?.id, text, atMs: nowMs() })
    if (text.startsWith(byHand)) return
    const does = (role === "author" ? authorDoes(prompts.author) : reviewerDoes(prompts.reviewer)) ?? habit(role)
    prompts[role] += 1
    if (does !== undefined) doing.set(`${sessionId} ${text}`, does)
    if (does === "never-reports") memory.silent = 3
    if (does === "keeps-failing" || does === "never-satisfied") habits[role] ??= prompts[role] + habitLasts
  }

  const author = (memory: Memory, { sessionId, text }: MemoryTurn, does: Misbehaviour | Misjudgement | undefined) => {
    const { phase, repository, run } = memory
    const did = (task: string, commit: string) =>
      void tasks.push({ runId: run.runId, phase: phase?.id ?? "", task, commit, runtimeSessionId: sessionId })
    if (does === "needs-human") return report({ result: "needs_human", reason: "I need to know more." })
    if (does === "reports-failure" || does === "keeps-failing")
      return report({ result: "failed", reason: "It cannot be done." })
    if (does === "architecture") {
      const task = phase?.tasks[0]?.id ?? "P1.1"
      return report({ result: "checkpoint", checkpoint: checkpointOf({ id: task }) })
    }
    const isCorrection = /report(ed)? (at the checkpoint )?(cannot be used|does not hold)|are idle again/.test(text)
    if (/You have gone past checkpoints/.test(text)) {
      memory.stoppedAt = phase?.tasks.find(({ checkpoint, id }) => checkpoint !== undefined && text.includes(`- ${id}`))
    } else if (/was rejected|is not clean/.test(text)) {
      fix(memory)
    } else if (!isReportRequest(text) && !isCorrection) {
      if (memory.mode === "tasks") doTasks(memory, does === "passes-checkpoint", did)
      else fix(memory)
    }
    if (does === "leaves-files") repository.write("src/left.txt", `${repository.commits.length}`)
    if (does === "no-commit") return report({ result: "complete" })
    if (does === "unknown-commit") return report({ result: "complete", commit: "deadbeef" })
    return report(honest(memory))
  }

  const reviewer = ({ repository, phase }: Memory, does: Misbehaviour | Misjudgement | undefined) => {
    repository.write(`docs/reviews/plan-phase-${phase?.id ?? "1"}-review.md`, `${repository.commits.length}`)
    if (does === "commits-meanwhile") {
      repository.write("src/other.txt", `${repository.commits.length}`)
      repository.commit("by somebody else")
    }
    const item = { id: "R1", title: "Wrong", reason: "Look.", priority: "P1" }
    if (does === "finds-something" || does === "never-satisfied") {
      return report({ readiness: "not_ready", items: [{ ...item, action: "auto_fix" }] })
    }
    if (does === "needs-decision") {
      return report({ readiness: "not_ready", items: [{ ...item, action: "human_required" }] })
    }
    return report({ readiness: "ready", items: [] })
  }

  /** Before it answers, an agent takes some time, and shows that it works. */
  const workFirst = (turn: MemoryTurn, does: Misbehaviour | Misjudgement | undefined): ReadonlyArray<MemoryStep> => {
    const ms = does === "slow" ? 100_000 : hashOf(seed, turn.text) % 9_000
    return [
      ...(does === "asks-permission" ? [{ tool: "bash", ask: "May I?" }] : [{ tool: "edit" }]),
      ...(does === "asks-question" ? [{ question: "Which?", options: ["this", "that"] }] : []),
      ...(does === "retries" ? [{ hiccup: "Overloaded." }, { hold: "30000" }] : []),
      { hold: String(ms) }
    ]
  }

  const script: MemoryScript = (turn) => {
    const memory = memoryOf(turn.sessionId)
    if (turn.attempt === 1) receive(memory, turn)
    if (turn.text.startsWith(byHand)) {
      const { sessionId: runtimeSessionId, text } = turn
      turnsByHand.push({ runtimeSessionId, runId: memory.run.runId, text, atMs: nowMs() })
      return [{ tool: "edit" }, { hold: "5000" }, { say: "As you say." }]
    }
    const does = doing.get(`${turn.sessionId} ${turn.text}`)
    const nothing = does === undefined ? undefined : withoutAnswer(does, turn.attempt)
    if (nothing !== undefined) return [{ tool: "edit" }, ...nothing]
    const answer = memory.role === "author" ? author(memory, turn, does) : reviewer(memory, does)
    if (memory.silent > 0) {
      memory.silent -= 1
      return [...workFirst(turn, does), { say: "Hm." }]
    }
    if (does === "no-report") return [...workFirst(turn, does), { say: "I am done." }]
    if (does === "invalid-report") return [...workFirst(turn, does), report({ result: "done", readiness: "perhaps" })]
    return [...workFirst(turn, does), answer]
  }
  return { script, seen, byHand: turnsByHand, tasks }
}
