/** What the runs of a cluster do, and what the model must have been asked for it. */
import type { CallRecord, ScriptInput } from "@reprise/scripted-model"
import { complete, on, plan, ready } from "../../harness/modelScript.ts"
import type { Disturbance } from "./ContainerCluster.ts"

export const phases = 2

/** Without anything that cuts an agent off: two tool calls of an author and its report, and a review, for each phase. */
export const callsOfRun = phases * 4

/** The plans of a test, by their paths. */
export const plansOf = (test: string, runs: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: runs }, (_, n) => [`PLAN-${test}-${n + 1}.md`, plan("One", "Two")]))

export const branchOf = (planPath: string): string => `reprise/${planPath.replace(".md", "").toLowerCase()}`

export const commitsOf = (planPath: string): ReadonlyArray<string> =>
  Array.from({ length: phases }, (_, n) => `${planPath} phase ${n + 1}`)

const captureUser = { plan: "(PLAN-[a-z]+-\\d+\\.md)" }

/** Commits once, however often a call that was cut off comes again. Called twice, since the first may be killed half-way. */
const commit = [
  `rm -f "$(git rev-parse --git-dir)/index.lock"`,
  `git log --format=%s | grep -qxF '{{plan}} phase {{phase}}' || { echo {{phase}} > {{plan}}-{{phase}} && git add -A && git commit -q -m '{{plan}} phase {{phase}}'; }`,
  "git rev-parse HEAD"
].join("\n")

/**
 * The usual story, in which calls of the second phase wait for the test: those of authors at `author`, those of
 * reviewers at `reviewer`; and the first call of each run at `begin`.
 */
export const clusterScript: ScriptInput = {
  rules: [
    on({ role: "author", kind: "report" }, complete),
    on({ role: "reviewer", kind: "report" }, ready),
    on({ role: "reviewer", phase: 1 }, { text: "I have read it.", delayMs: 100 }),
    on({ role: "reviewer" }, { text: "I have read it.", hold: "reviewer" }),
    on(
      { role: "author", phase: 1 },
      [
        { bash: commit, hold: "begin" },
        { bash: commit, delayMs: 100 },
        { text: "It is committed.", delayMs: 100 }
      ],
      { captureUser }
    ),
    on(
      { role: "author" },
      [
        { bash: commit, hold: "author" },
        { bash: commit, delayMs: 100 },
        { text: "It is committed.", delayMs: 100 }
      ],
      { captureUser }
    )
  ]
}

export const holds = ["begin", "author", "reviewer"] as const

const isContinuation = (text: string) => text.startsWith("Continue the current session")

const groupBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return groups
}

const wasDisturbed = (disturbances: ReadonlyArray<Disturbance>, from: CallRecord, to: CallRecord) =>
  disturbances.some(({ atMs }) => Date.parse(from.at) - 1 <= atMs && atMs <= Date.parse(to.at))

/** What is wrong with the calls of one conversation: each once, except where its agent was ended meanwhile. */
const checkConversation = (calls: ReadonlyArray<CallRecord>, disturbances: ReadonlyArray<Disturbance>) => {
  const [first] = calls
  if (first === undefined) return []
  const prompts = calls.at(-1)?.messages.flatMap((one) => (one.role === "user" ? [one.text] : [])) ?? []
  const name = `${first.role} of phase ${first.phase}`
  const repeated = [...groupBy(calls, ({ round, turn }) => `${turn}.${round}`).values()].flatMap(([one, ...more]) =>
    more.flatMap((again) =>
      one === undefined || wasDisturbed(disturbances, one, again) ? [] : [{ again, firstAt: one.at }]
    )
  )
  const continued = calls.filter(({ lastUser }) => isContinuation(lastUser))
  return [
    ...(prompts.filter((text) => !isContinuation(text)).length === 1 ? [] : [`${name} was prompted more than once`]),
    ...repeated.map(
      ({ again: { at, round, turn }, firstAt }) =>
        `call ${turn}.${round} of ${name} came at ${firstAt} and, without a reason, again at ${at}`
    ),
    ...continued
      .filter((call) => !wasDisturbed(disturbances, first, call))
      .map(() => `${name} was continued without a reason`)
  ]
}

/** The calls for one plan. Titles are OpenCode's own. */
export const callsFor = (calls: ReadonlyArray<CallRecord>, planPath: string): ReadonlyArray<CallRecord> =>
  calls.filter(({ kind, messages }) => kind !== "title" && messages[0]?.text.includes(planPath))

/** What is wrong with the calls for one plan, in sentences. */
export const checkCalls = (
  all: ReadonlyArray<CallRecord>,
  planPath: string,
  disturbances: ReadonlyArray<Disturbance>
): ReadonlyArray<string> => {
  const calls = callsFor(all, planPath)
  const conversations = [...groupBy(calls, ({ session }) => session).values()]
  const turns = groupBy(conversations, ([first]) => `${first?.role} of phase ${first?.phase}`)
  const wanted = Array.from({ length: phases }, (_, n) => [`author of phase ${n + 1}`, `reviewer of phase ${n + 1}`])
  return [
    ...wanted.flat().flatMap((turn) => {
      const times = turns.get(turn)?.length ?? 0
      return times === 1 ? [] : [`the ${turn} has ${times} conversations`]
    }),
    ...conversations.flatMap((conversation) => checkConversation(conversation, disturbances)),
    ...(calls.length < callsOfRun ? [`there are ${calls.length} calls, and not ${callsOfRun}`] : [])
  ].map((problem) => `${planPath}: ${problem}`)
}
