/** What must hold in a storm: after each run, and when everything has been stopped. Each check gives sentences. */
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { ActorConfig, Broker, JetStreamBroker } from "@reprise/actor"
import { EmbeddedServer, isLocked, layerEmbeddedConnection } from "@reprise/nats"
import { markedProcesses } from "@reprise/process"
import { Host, type RunView } from "@reprise/protocol"
import type { CallRecord } from "@reprise/scripted-model"
import { Effect, Layer, Schema } from "effect"
import type { PublicLine, World } from "../harness/World.ts"
import { commitsOf, guidanceFor, phases } from "./story.ts"

export interface RunFigures {
  /** Calls that reached the model, and the user messages among what they said. */
  readonly calls: number
  readonly prompts: number
  readonly commits: number
  readonly answers: number
}

/** The files below a folder, with their paths in it; none if there is no such folder. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []

/** The size of the broker's store of a state folder. */
export const storeBytes = (state: string): number =>
  filesIn(join(state, "nats")).reduce((sum, name) => {
    // The broker may remove a file meanwhile.
    const file = statSync(join(state, "nats", name), { throwIfNoEntry: false })
    return sum + (file?.isFile() === true ? file.size : 0)
  }, 0)

const countBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1)
  return counts
}

/** The wanted things that are not there exactly once, and the things that are there more often. */
const notOnce = (what: string, wanted: ReadonlyArray<string>, found: ReadonlyMap<string, number>) => [
  ...wanted.flatMap((one) =>
    (found.get(one) ?? 0) === 1 ? [] : [`${what} '${one}' is there ${found.get(one) ?? 0} times`]
  ),
  ...[...found].flatMap(([one, times]) =>
    times > 1 && !wanted.includes(one) ? [`${what} '${one}' is there ${times} times`] : []
  )
]

interface Prompt {
  readonly session: string
  readonly role: string
  readonly text: string
}

/** The prompts of each session as the model saw them in the longest conversation. */
const promptsOf = (calls: ReadonlyArray<CallRecord>): ReadonlyArray<Prompt> => {
  const longest = new Map<string, CallRecord>()
  for (const call of calls) {
    if (call.kind === "title" || call.kind === "summary") continue
    if ((longest.get(call.session)?.turn ?? 0) <= call.turn) longest.set(call.session, call)
  }
  return [...longest.values()].flatMap(({ messages, role, session }) =>
    messages.flatMap((message) => (message.role === "user" ? [{ role, session, text: message.text }] : []))
  )
}

/** A stopped agent gets the continuation prompt, in the same words each time. */
const isContinuation = ({ text }: Prompt) =>
  text.startsWith("Continue the current session and complete all remaining tasks.")

/** Nobody is prompted twice: every prompt of the story has words of its own. */
const checkPrompts = (prompts: ReadonlyArray<Prompt>) =>
  notOnce(
    "the prompt",
    [],
    countBy(
      prompts.filter((prompt) => !isContinuation(prompt)),
      ({ text }) => text.slice(0, 600)
    )
  )

/** Each event once, as a reader sees it who ignores repeats. */
const told = (events: ReadonlyArray<PublicLine>) => [...new Map(events.map((event) => [event.id, event])).values()]

const checkEvents = (all: ReadonlyArray<PublicLine>) => {
  const events = told(all)
  const found = countBy(events, ({ phase, type }) => (phase === undefined ? type : `${type} of phase ${phase}`))
  const wanted = [
    "RunStarted",
    "RunCompleted",
    ...Array.from({ length: phases }, (_, n) => `PhaseCompleted of phase ${n + 1}`)
  ]
  const raised = events.filter(({ type }) => type === "EscalationRaised")
  const answered = events.filter(({ type }) => type === "EscalationAnswered")
  const replaced = events.filter(({ type }) => type === "SessionReplaced")
  return [
    ...wanted.flatMap((one) => ((found.get(one) ?? 0) === 1 ? [] : [`${one} is there ${found.get(one) ?? 0} times`])),
    ...notOnce(
      "the answer to",
      raised.map(({ escalationId }) => String(escalationId)),
      countBy(answered, ({ escalationId }) => String(escalationId))
    ),
    ...raised.flatMap(({ reason }) =>
      reason === "Which way?" ? [] : [`a question was asked that is not of the story: ${String(reason)}`]
    ),
    ...(raised.length === 1 ? [] : [`${raised.length} questions were asked`]),
    ...replaced.map((event) => `a session was replaced: ${JSON.stringify(event)}`)
  ]
}

/** The facts about the runs so far. */
export interface Told {
  figures: RunFigures
}

/** Checks a run that has been followed to its end, before it is pruned. */
export const checkRun = Effect.fnUntraced(function* (
  world: World,
  told: Told,
  planPath: string,
  runs: ReadonlyArray<RunView>
) {
  const ofPlan = runs.filter((run) => run.planPath === planPath)
  const [run] = ofPlan
  if (run === undefined || ofPlan.length !== 1) return [`it has ${ofPlan.length} runs`]
  const events = yield* world.eventsOf(run.runId)
  const calls = (yield* world.model.calls).filter(({ messages }) => messages[0]?.text.includes(planPath))
  const prompts = promptsOf(calls)
  const commits = world
    .git("log", "--format=%s")
    .split("\n")
    .filter((line) => line.startsWith(planPath))
  const guided = prompts.filter(({ role, text }) => role === "author" && text.includes(guidanceFor(run.runId)))
  const { figures } = told
  told.figures = {
    calls: figures.calls + calls.length,
    prompts: figures.prompts + prompts.length,
    commits: figures.commits + commits.length,
    answers: figures.answers + guided.length
  }
  return [
    ...(run.status === "completed" ? [] : [`it is ${run.status}: ${run.reason}`]),
    ...notOnce(
      "the commit",
      commitsOf(planPath),
      countBy(commits, (line) => line)
    ),
    ...checkPrompts(prompts),
    ...(guided.length === 1 ? [] : [`the human's words reached the author ${guided.length} times`]),
    ...checkEvents(events)
  ]
})

const readLease = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ free: Schema.Boolean, runId: Schema.String }))
)

/** Leases and dead letters in the store of a world in which nothing runs any more. */
const checkStore = (state: string) =>
  Effect.gen(function* () {
    const { views } = yield* Broker
    return (yield* views.list("lease")).flatMap(({ value }) => {
      const { free, runId } = readLease(value)
      return free ? [] : [`the working tree still belongs to ${runId}`]
    })
  }).pipe(
    Effect.provide(
      JetStreamBroker.layer.pipe(
        Layer.provide(layerEmbeddedConnection({ name: "storm" })),
        Layer.provide(EmbeddedServer.layer({ directory: state })),
        Layer.provide(ActorConfig.layer({ host: Host.make("local") }))
      )
    )
  )

const marks = ["REPRISE_NATS_STATE", "REPRISE_OPENCODE_STATE", "REPRISE_CLAUDE_STATE"] as const

/** Folders that OpenCode and Claude keep for themselves, killed or not: Claude one for each session and one for sockets. */
const isOfAgents = /^(opencode$|claude-\d+|cc-socks)/

/** What is left over when every command has ended. */
export const checkRemains = Effect.fnUntraced(function* (world: World) {
  const state = join(world.root, ".reprise")
  const processes = yield* Effect.forEach(marks, (mark) => markedProcesses(`${mark}=${state}`))
  const locks = yield* Effect.forEach(["owner", "host"], (name) =>
    Effect.map(isLocked(state, name), (locked) => (locked ? [`${name}.lock is still held`] : []))
  )
  const temporary = filesIn(world.environment["TMPDIR"] ?? "").filter((name) => !isOfAgents.test(name))
  const endpoints = ["endpoint.json", "opencode.json"].filter((name) => existsSync(join(state, name)))
  return [
    ...processes.flat().map((pid) => `process ${pid} still runs`),
    ...locks.flat(),
    ...temporary.map((name) => `${name} is left in the temporary folder`),
    ...endpoints.map((name) => `${name} is left in the state folder`),
    ...(yield* checkStore(state))
  ]
})
