/**
 * The size of the prompt that the run machine sends to a fresh author after a checkpoint, by the number of completed
 * tasks, compared with a prompt that contains the whole record.
 */
import { runActor } from "@reprise/orchestrator"
import {
  type CompletedTask,
  defaultRunOptions,
  escalationIdOf,
  Host,
  noTokens,
  PhaseId,
  RunId,
  SessionCommand,
  sessionIdOf,
  turnIdOf
} from "@reprise/protocol"
import { Result, Schema } from "effect"

type Input = Parameters<typeof runActor.decide>[1]

const runId = RunId.make("bench")
const phase = PhaseId.make("1")

const planOf = (count: number): string =>
  `# Plan\n\n## Phase 1: Many things\n\n${Array.from({ length: count }, (_, n) => `- [ ] 02-01-T${n + 1} Wire the callback of the sign-in form, part ${n + 1}\n`).join("")}`

const doneOf = (count: number): ReadonlyArray<CompletedTask> =>
  Array.from({ length: count }, (_, n) => ({
    id: `02-01-T${n + 1}`,
    commit: (n + 1).toString(16).padStart(40, "a"),
    files: [`src/authentication/providers/part-${n + 1}.ts`, `test/authentication/part-${n + 1}.test.ts`]
  }))

const path = ".planning/phases/01-many-things/.continuation-state.json"

const inputs = (done: ReadonlyArray<CompletedTask>): ReadonlyArray<Input> => [
  {
    _tag: "StartRun",
    runId,
    plan: planOf(done.length + 20),
    planPath: "PLAN.md",
    workspace: "/repository",
    options: defaultRunOptions
  },
  { _tag: "WorkspacePrepared", runId, host: Host.make("host"), directory: "/repository", head: "0000000" },
  {
    _tag: "TurnCompleted",
    runId,
    phase,
    sessionId: sessionIdOf(runId, 1),
    turnId: turnIdOf(runId, 1),
    report: "author-status",
    status: {
      result: "checkpoint",
      completedTasks: done,
      checkpoint: {
        task: `02-01-T${done.length + 1}`,
        type: "decision",
        description: "How are users told?",
        options: [{ id: "a", label: "By mail" }]
      }
    },
    tokens: noTokens,
    cost: 0,
    calls: 0,
    duration: 0,
    attempts: 1
  },
  { _tag: "ClaimsVerified", runId, phase, tasks: done },
  { _tag: "ContinuationStateWritten", runId, phase, path },
  { _tag: "AnswerReceived", runId, escalationId: escalationIdOf(runId, 1), choice: "a", by: "bench", via: "bench" },
  { _tag: "ContinuationStateWritten", runId, phase, path },
  { _tag: "ContinuationVerified", runId, phase }
]

const isStartTurn = Schema.is(SessionCommand.cases.StartTurn)

/** The prompt of the last turn that is requested. */
const promptAfter = (done: ReadonlyArray<CompletedTask>): string => {
  let state = runActor.initial
  let prompt = ""
  for (const [index, input] of inputs(done).entries()) {
    // Shaped like the gate's ids, since one of the inputs is an answer.
    const delivery = {
      id: `escalation.${escalationIdOf(runId, 1)}.${index}.0`,
      key: runId,
      now: new Date(index).toISOString()
    }
    const events = Result.getOrThrow(runActor.decide(state, input, delivery))
    state = events.reduce(runActor.evolve, state)
    for (const message of runActor.react(state, events, delivery)) {
      if (message._tag === "SendCommand" && isStartTurn(message.command)) prompt = message.command.prompt
    }
  }
  return prompt
}

/** An upper estimate: tokenizers count fewer tokens for such texts. */
const estimatedTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)

const inlined = (done: ReadonlyArray<CompletedTask>): string =>
  done.map(({ commit, files, id }) => `| ${id} | ${commit} | ${files.join(", ")} | complete |`).join("\n")

export const continuationPrompt = async (): Promise<void> => {
  for (const count of [5, 50, 500]) {
    const done = doneOf(count)
    const prompt = promptAfter(done)
    const whole = estimatedTokens(prompt) + estimatedTokens(inlined(done))
    process.stdout.write(
      `${count} done tasks: ${estimatedTokens(prompt)} tokens (${Buffer.byteLength(prompt)} bytes); with the whole record in it about ${whole}\n`
    )
  }
}
