/** Runs as text for people: their state, their work, and how much of their limits they used. Pure. */
import type { Summary, TaskResult } from "@reprise/plan"
import {
  addTokens,
  type Refusal,
  type RunView,
  type SessionView,
  stepAgentText,
  type Tokens,
  uncachedTokens
} from "@reprise/protocol"
import { dataColor } from "../terminal/Printer.ts"
import { quotedRest, visible, visibleLine } from "../terminal/visible.ts"
import { type Postponed, postponedLong, postponedShort } from "./postponedText.ts"
import { since } from "./questionText.ts"
import { stepName } from "./stepText.ts"
import { firstLine, table } from "./table.ts"

/** A run as a line of a list shows it. */
export type ListedRun = Pick<
  RunView,
  "runId" | "status" | "host" | "hosted" | "waitsFor" | "planPath" | "phase" | "step" | "reason" | "updatedAt"
>

const statusWord = ({ awaitsSlot, hosted, status }: ListedRun & Postponing): string => {
  switch (status) {
    case "completed":
      return dataColor.green(status)
    case "waiting":
      return dataColor.yellow(status)
    case "failed":
    case "aborted":
      return dataColor.red(status)
    case "running":
      if (awaitsSlot === true) return dataColor.yellow("waits for a host")
      return hosted === false ? dataColor.yellow(`${status}, not hosted`) : status
    case "paused":
      return status
  }
}

/** Where the work is, and for a run with a remote on which branch of it. */
export const placeOf = ({ branch, directory, remote, workspace }: RunView): string => {
  if (remote === undefined) return directory ?? workspace
  const begins = remote.ref === undefined ? "" : ` from ${visibleLine(remote.ref)}`
  const where = directory === undefined ? begins : `, branch ${visibleLine(branch ?? "unknown")}, in ${directory}`
  return `${visibleLine(remote.url)}${where}`
}

/** A run, and the session whose turn waits for the model's vendor, if one does. */
interface Postponing {
  readonly postponed?: Postponed & Pick<SessionView, "sessionId">
  /** Each host that takes runs has as many as it may have: this one begins when one of those ends. */
  readonly awaitsSlot?: true
}
export type SeenRun = RunView & Postponing

export const withPostponed = <Run extends ListedRun>(
  runs: ReadonlyArray<Run>,
  sessions: ReadonlyArray<SessionView>
): ReadonlyArray<Run & Postponing> =>
  runs.map((run) => {
    const waiting = sessions.find(({ postponed, runId }) => runId === run.runId && postponed !== undefined)
    if (run.status !== "running" || waiting?.postponed === undefined) return run
    return { ...run, postponed: { sessionId: waiting.sessionId, ...waiting.postponed } }
  })

export const runsTable = (runs: ReadonlyArray<ListedRun & Postponing>, nowMs: number): string =>
  table(
    ["run", "plan", "status", "phase", "step", "since", "reason"],
    runs.map((run) => [
      run.runId,
      visible(run.planPath),
      statusWord(run),
      run.phase ?? "",
      run.step === undefined ? "" : stepName(run.step),
      since(run.updatedAt, nowMs),
      run.postponed === undefined ? firstLine(run.reason ?? "") : postponedShort(run.postponed, nowMs)
    ])
  )

const tokenCounts = (tokens: Tokens): string =>
  `${tokens.input} in, ${tokens.output} out${tokens.cacheRead > 0 ? `, ${tokens.cacheRead} cached` : ""}`

const longestName = 48

/** On one line. */
const shortened = (text: string, longest: number): string => {
  const letters = [...visible(text.replaceAll(/\s+/g, " ").trim())]
  return letters.length <= longest ? letters.join("") : `${letters.slice(0, longest - 1).join("")}…`
}

const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`

const longestWords = 160

/** Who said what for whom, and which sessions were given it. */
const wordsLine = ({ about, by, from, givenTo, phase, text, ...words }: RunView["ledger"][number]): string => {
  const speaker = from === "human" ? (by ?? "a human") : `the ${from === "checks" ? "checks" : "author"}`
  const reader = words.for === "both" ? "author and reviewer" : words.for
  const where = phase === undefined ? "the next phase" : `phase ${phase}`
  const told = givenTo.length === 0 ? "not given to a session yet" : `given to ${givenTo.join(", ")}`
  const quoted = shortened(
    [...(about === undefined ? [] : [about]), ...(text === "" ? [] : [text])].join(": "),
    longestWords
  )
  return `said by ${visible(speaker)} for the ${reader} of ${where} (${told}): ${quoted}`
}

/** That nothing goes on now, and what makes the run go on. */
const hostLine = ({ host, hosted, remote, status }: RunView): ReadonlyArray<string> => {
  if (hosted !== false) return []
  if (host === undefined && remote !== undefined) {
    return ["no host takes it: 'reprise hosts list' shows which answer and which are drained"]
  }
  const up = `'reprise up'${host === undefined || host === "local" ? "" : ` on host ${host}`}`
  const gone =
    remote === undefined || host === undefined
      ? ""
      : `; if that host is gone for good, 'reprise hosts forget ${host}' moves it to another`
  switch (status) {
    case "running":
      return [`no process hosts it: ${up} continues it${gone}`]
    case "waiting":
      return [`no process hosts it: ${up} continues it once it is answered${gone}`]
    case "paused":
    case "completed":
    case "failed":
    case "aborted":
      return []
  }
}

/** What a running run waits for. */
const waitsLine = ({ awaitsSlot, waitsFor }: SeenRun): ReadonlyArray<string> => {
  if (awaitsSlot === true) {
    return ["waits for a free slot: every host is full; 'reprise hosts list' shows them"]
  }
  switch (waitsFor?._tag) {
    case undefined:
      return []
    case "Turn":
      return [`waits for turn ${waitsFor.turnId} in session ${waitsFor.sessionId}`]
    case "Review":
      return [`waits for review ${waitsFor.cycle} of phase ${waitsFor.phase}`]
    case "Workspace":
      return [`waits for ${waitsFor.command} in the workspace`]
    case "Agent":
      return [`waits until the agent at work in session ${waitsFor.sessionId} is idle`]
  }
}

const postponedLine = ({ postponed }: SeenRun, nowMs: number): ReadonlyArray<string> =>
  postponed === undefined ? [] : [postponedLong(postponed, nowMs)]

/** The models that were named; without one the runtime chooses. */
const modelsLine = ({ models }: RunView): ReadonlyArray<string> => {
  if (models === undefined) return []
  const { author, reviewer } = models
  if (author === reviewer) return [`model ${visibleLine(author ?? "")}`]
  const own = "the runtime's own"
  return [`model ${visibleLine(author ?? own)}, of the reviewer ${visibleLine(reviewer ?? own)}`]
}

/** Who does, or did, the steps of the current phase, where these are not all the same. */
const agentLines = ({ phase, phases }: RunView): ReadonlyArray<string> =>
  (phases.find(({ id }) => id === phase)?.agents ?? []).map(
    (agent) => `phase ${phase}: ${visibleLine(stepAgentText(agent))}`
  )

const refusedBy = ({ rule, unattended }: Pick<Refusal, "rule" | "unattended">): string => {
  if (rule !== undefined) return `by the rule '${shortened(rule, longestWords)}'`
  return unattended ? "without asking a human" : "by a human"
}

const refusalLine = ({ gate, phase, role, text, times, ...by }: Refusal): string => {
  const who = gate === undefined ? role : `quality gate '${shortened(gate, longestWords)}'`
  const where = phase === undefined ? who : `phase ${phase}, ${who}`
  const how = by.sandbox === undefined ? `, ${refusedBy(by)}` : ""
  return `  ${where}${how}${times === 1 ? "" : `, ${times} times`}: ${shortened(text, longestWords)}`
}

const refusalList = (title: (sum: number) => string, refusals: ReadonlyArray<Refusal>): ReadonlyArray<string> => {
  const sum = refusals.reduce((total, { times }) => total + times, 0)
  return sum === 0 ? [] : [`${title(sum)}:`, ...refusals.map(refusalLine)]
}

/** What agents and quality gates were refused: what was asked for first. */
const refusalLines = ({ refusals }: RunView): ReadonlyArray<string> => [
  ...refusalList(
    (sum) => counted(sum, "refused permission"),
    refusals.filter(({ sandbox }) => sandbox === undefined)
  ),
  ...refusalList(
    (sum) => `sandbox refused ${counted(sum, "time")}`,
    refusals.filter(({ sandbox }) => sandbox !== undefined)
  )
]

/** Phases, turns, sessions and tokens by role. `locations`: things to find, and where they are. */
export const runSummary = (
  run: SeenRun,
  locations: ReadonlyArray<readonly [string, string]>,
  nowMs = Date.now()
): string => {
  const phases = run.phases.map((phase) => [
    phase.id,
    visible(phase.title),
    phase.state,
    phase.commit?.slice(0, 10) ?? "",
    phase.qualityAttempts,
    phase.reviewCycles
  ])
  const roles = (["author", "reviewer", "fixer"] as const).flatMap((role) => {
    const used = run.usage[role]
    return used === undefined ? [] : [[role, used.turns, tokenCounts(used.tokens), `$${used.cost.toFixed(4)}`]]
  })
  return [
    `${dataColor.bold(run.runId)} ${statusWord(run)}${run.reason === undefined ? "" : `: ${quotedRest(run.reason)}`}`,
    ...hostLine(run),
    ...waitsLine(run),
    ...postponedLine(run, nowMs),
    ...modelsLine(run),
    ...agentLines(run),
    table(["phase", "title", "state", "commit", "gate runs", "reviews"], phases),
    `${counted(run.sessionsCreated, "session")}, continued ${counted(run.sessionsReused, "time")}`,
    table(["role", "turns", "tokens", "cost"], roles),
    ...refusalLines(run),
    table(["what", "where"], locations),
    ...run.ledger.map(wordsLine),
    ...run.notices.map((notice) => `note: ${quotedRest(notice)}`)
  ].join("\n")
}

/** That the newest run of a plan has completed it, for whoever runs the plan again. */
export const doneBefore = ([newest]: ReadonlyArray<RunView>): string | undefined =>
  newest?.status === "completed"
    ? `Run ${newest.runId} has completed this plan already; this is a new run from the beginning. Ctrl-C stops it.`
    : undefined

/** How the work of a run in a worktree comes to the branch that is checked out. */
const mergeStep = ({ branch, directory, remote, workspace }: RunView): string => {
  const isElsewhere = remote === undefined && directory !== undefined && directory !== workspace
  return isElsewhere && branch !== undefined ? `'git merge ${visibleLine(branch)}' merges its work; ` : ""
}

/** The command with which somebody goes on from here. */
export const nextStep = (run: SeenRun): string => {
  const { awaitsSlot, escalationId, hosted, planPath, postponed, runId, status } = run
  const plan = visibleLine(planPath)
  switch (status) {
    case "running":
      if (hosted === false) return `next: 'reprise up' continues it`
      if (awaitsSlot === true) return "next: it starts when a run ends on a host, or another host joins"
      return postponed === undefined
        ? `next: 'reprise watch ${runId}' shows what happens`
        : `next: it retries by itself; 'reprise resume ${runId}' retries now`
    case "waiting":
      return escalationId === undefined
        ? `next: 'reprise gate' asks you what is open`
        : `next: 'reprise gate' asks you; for scripts, 'reprise gate show ${escalationId}' and 'reprise gate answer ${escalationId} CHOICE'`
    case "paused":
      return `next: 'reprise resume ${runId}' continues it`
    case "completed":
      return `next: ${mergeStep(run)}'reprise summary ${runId}' shows the tasks with their commits`
    case "failed":
    case "aborted":
      return `next: 'reprise logs ${runId}' shows what happened; 'reprise run ${plan}' starts a new run`
  }
}

const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} min`

/** `12 of 250 steps`, the counts of the current phase, and the budgets that are set. */
export const limitsLine = ({ limits, phase: id, phases, steps = 0, usage }: RunView): string => {
  if (limits === undefined) return ""
  const phase = phases.find((one) => one.id === id)
  const { author, reviewer } = usage
  const tokens = uncachedTokens(addTokens(author.tokens, reviewer.tokens))
  const retries = limits.maxQualityRetries
  const parts = [
    `${steps} of ${limits.maxStepsPerRun} steps`,
    `phase ${id ?? "1"}: ${phase?.reviewCycles ?? 0} of ${limits.maxReviewIterations} reviews`,
    `${counted(phase?.qualityAttempts ?? 0, "quality gate run")} (${retries === 0 ? "no retries allowed" : `at most ${retries} retries in a row`})`,
    `${phase?.continuations ?? 0} of ${limits.maxContinuations} continuations`,
    ...(limits.turnInactivityMs > 0
      ? [`turns time out after ${minutes(limits.turnInactivityMs)} without activity`]
      : []),
    ...(limits.turnWallMs > 0 ? [`and after ${minutes(limits.turnWallMs)} in total`] : []),
    ...(limits.tokenBudget > 0 ? [`${tokens} of ${limits.tokenBudget} tokens`] : []),
    ...(limits.costBudget > 0
      ? [`$${(author.cost + reviewer.cost).toFixed(2)} of $${limits.costBudget.toFixed(2)}`]
      : [])
  ]
  return `limits: ${parts.join(", ")}`
}

export interface TaskOfRun extends TaskResult {
  readonly phase: string
}

/** The tasks of the phases that have begun, in the plan's order (docs/design/continuation.md#many-checkpoints-and-the-summary). */
export const tasksBegun = (summary: Summary | undefined): ReadonlyArray<TaskOfRun> =>
  (summary?.phases ?? [])
    .filter(({ commit, completedBy, tasks }) => {
      const begun = tasks.some(({ status }) => status !== "pending")
      return begun || commit !== undefined || completedBy !== undefined
    })
    .flatMap(({ id, tasks }) => tasks.map((task) => ({ phase: id, ...task })))

export const tasksTable = (tasks: ReadonlyArray<TaskOfRun>): string =>
  table(
    ["phase", "task", "name", "status", "commit", "checkpoint"],
    tasks.map(({ checkpoint = "", commit = "", id, name, phase, resolution, status }) => {
      const answered = resolution === undefined ? "" : `: ${shortened(resolution, longestName)}`
      return [phase, visible(id), shortened(name, longestName), status, commit.slice(0, 10), `${checkpoint}${answered}`]
    })
  )
