/**
 * Runs of random inputs, looked at from outside: what a human said, what was told and what was used is remembered apart
 * from the run, and compared with what it sends and shows.
 */
import { assert, describe } from "@effect/vitest"
import {
  addTokens,
  addUsage,
  noTokens,
  noUsage,
  type PhaseId,
  type Role,
  reviewKey,
  type Usage
} from "@reprise/protocol"
import type { InputOf, RunInput } from "../src/run/inputs.ts"
import type { RunEvent } from "../src/run/journal.ts"
import { concerns, type Question } from "../src/run/question.ts"
import type { Run } from "../src/run/state.ts"
import { inEveryStory, type Step, type Watcher, walk } from "./support/model.ts"
import { copyOf, Told } from "./support/told.ts"
import { toItsEnd } from "./support/willing.ts"

const ended = ({ status }: Run) => ["completed", "failed", "aborted"].includes(status)

/** What an agent is given: the texts of prompts, of review requests, and of replies to its own questions. */
const givenIn = (event: RunEvent): ReadonlyArray<string> => {
  switch (event._tag) {
    case "AuthorAsked":
      return [event.command._tag === "StartTurn" ? event.command.prompt : (event.command.guidance ?? "")]
    case "ReviewAsked":
      return [...event.command.words, ...event.command.decisions].map(({ text }) => text)
    case "PromptReplied":
      return [event.reply, event.message ?? ""]
    default:
      return []
  }
}

/** Where else words are kept that end a phase or a run. */
const keptIn = (event: RunEvent): ReadonlyArray<string> => {
  if (event._tag === "RunAborted") return [event.reason]
  return event._tag === "PhaseCompleted" ? [event.guidance ?? ""] : []
}

interface Said {
  readonly text: string
  /** The phase in which it was said. */
  readonly phase: PhaseId | undefined
  /** It was said when the phase was approved: for the next one. Undefined: it may be for either. */
  readonly forNext: boolean | undefined
  /** The author of the phase is to know it, for certain. */
  readonly forAuthor: boolean
  /** A decision is read in every later phase. */
  readonly isDecision: boolean
}

/** Whether the author is to be told: what is said of a review, or to a reviewer, is for that one. */
const isForAuthor = ({ kind, prompt, retry }: Question, choice: string): boolean => {
  if (prompt !== undefined) return choice !== "other" && choice !== "reject" && !prompt.sessionId.includes("-p")
  if (choice === "override" || choice === "abort") return false
  return kind !== "step" || retry.step !== "REVIEW" || retry.withGuidance !== undefined
}

const saidWith = (run: Run, { choice, escalationId, guidance }: InputOf<"AnswerReceived">): ReadonlyArray<Said> => {
  if (guidance === undefined) return []
  const { pending, phase, step } = run
  const open = pending._tag === "Answer" ? pending.question : undefined
  const question = open?.ask.escalationId === escalationId ? open : undefined
  const isApproved = question?.kind === "phase-gate" || question?.retry.command?._tag === "FinishPhase"
  const forNext = isApproved || step === "PHASE_COMPLETE"
  return [
    {
      text: guidance,
      phase: phase?.id,
      forNext: question === undefined || choice === "nonsense" ? undefined : forNext,
      forAuthor: question !== undefined && choice !== "nonsense" && !forNext && isForAuthor(question, choice),
      isDecision: question?.kind === "checkpoint"
    }
  ]
}

/** Collects what humans say with answers that the run takes. */
const hearing = (check: (said: ReadonlyArray<Said>, step: Step) => void) => (): Watcher => {
  const said: Array<Said> = []
  return {
    each: (step) => {
      const { before, input, refused } = step
      if (input._tag === "AnswerReceived" && !refused && before._tag === "Run") said.push(...saidWith(before, input))
      check(said, step)
    }
  }
}

/** Calls `see` before, and `check` after everything that is told. */
const telling = (check: (told: Told, step: Step) => void, end?: Watcher["end"]) => (): Watcher => {
  const told = new Told()
  return {
    before: (s, input) => told.note(s, input),
    each: (step) => {
      told.noteEvents(step.input, step.events)
      check(told, step)
    },
    ...(end === undefined ? {} : { end })
  }
}

const heldText = ({ held }: Run) => (held?._tag === "AnswerReceived" ? (held.guidance ?? "") : "")

describe("the words of humans", () => {
  inEveryStory(
    "are kept, given to an agent, or the reason of an end, whatever happens",
    hearing((said, { s }) => {
      const texts = [
        ...s.run.ledger.map(({ text }) => text),
        ...s.journal.flatMap((event) => [...givenIn(event), ...keptIn(event)]),
        heldText(s.run)
      ].join("\n")
      for (const { text } of said) assert.include(texts, text)
    })
  )

  inEveryStory(
    "have reached an agent when their phase is approved",
    hearing((said, step) => {
      const texts = () => step.s.journal.flatMap(givenIn).join("\n")
      for (const [run, event] of walk(step)) {
        if (event._tag !== "PhaseCompleted" || event.by === "override") continue
        const open = said.filter(
          ({ forNext, phase, text }) => phase === run.phase?.id && forNext === false && text !== ""
        )
        // What comes while the approved phase is finished is of no use to anybody any more.
        const late = open.filter(({ text }) => !texts().includes(text) && run.step !== "PHASE_GATE")
        assert.deepStrictEqual(late, [])
      }
    })
  )

  inEveryStory("are in the next prompt to each author of their phase that has not read them", () => {
    const said: Array<Said> = []
    /** The texts that a prompt gave, by session; `turns`: by turn, until it is known whether its prompt was read. */
    const known = new Map<string, ReadonlyArray<string>>()
    const turns = new Map<string, readonly [sessionId: string, before: ReadonlyArray<string>]>()
    const hear = hearing((all) => said.splice(0, said.length, ...all))()
    return {
      each: (step) => {
        hear.each?.(step)
        for (const [run, event] of walk(step)) {
          if (event._tag === "TurnBroke" && event.unread === true) {
            const [sessionId, before] = turns.get(event.turnId) ?? ["", []]
            known.set(sessionId, before)
          }
          if (event._tag !== "AuthorAsked") continue
          const { command, sessionId } = event
          const startsOver = command._tag === "StartTurn" && command.session._tag === "New"
          const before = startsOver ? [] : (known.get(sessionId) ?? [])
          const [prompt = ""] = givenIn(event)
          const due = said.filter(({ forAuthor, phase, text }) => forAuthor && phase === run.phase?.id && text !== "")
          for (const { text } of due)
            assert.isTrue(before.includes(text) || prompt.includes(text), `${text} in ${prompt}`)
          turns.set(command.turnId, [sessionId, before])
          known.set(sessionId, [...before, ...due.map(({ text }) => text)])
        }
      }
    }
  })

  inEveryStory(
    "are read in their own phase only, but for decisions",
    hearing((said, step) => {
      for (const [run, event] of walk(step)) {
        if (event._tag !== "AuthorAsked" && event._tag !== "ReviewAsked") continue
        const texts = givenIn(event).join("\n")
        for (const { forNext, isDecision, phase, text } of said) {
          if (isDecision || phase === undefined || forNext === undefined) continue
          if (forNext ? phase === run.phase?.id : phase !== run.phase?.id) {
            assert.notInclude(texts, text, `said in phase ${phase}, read in ${run.phase?.id}`)
          }
        }
      }
    })
  )

  inEveryStory(
    "go with the rejection of a permission",
    hearing((said, { events, input, before }) => {
      if (input._tag !== "AnswerReceived" || input.choice !== "reject" || said.at(-1)?.text !== input.guidance) return
      if (before._tag !== "Run" || before.status === "paused" || before.pending._tag !== "Answer") return
      if (before.pending.question.prompt?.kind !== "permission" || events.length === 0) return
      const replied = events.find((event) => event._tag === "PromptReplied")
      assert.strictEqual(replied?._tag === "PromptReplied" ? replied.message : undefined, input.guidance)
    })
  )

  inEveryStory("reach every reviewer of the phase as theirs, and what authors say as theirs", () => {
    const notes: Array<{ readonly phase: string | undefined; readonly text: string }> = []
    return {
      each: (step) => {
        for (const [run, event] of walk(step)) {
          if (event._tag === "ReportReceived" && event.status.notes !== undefined) {
            notes.push({ phase: run.phase?.id, text: event.status.notes })
          }
          if (event._tag !== "ReviewAsked") continue
          const { words } = event.command
          const from = (who: string) => words.filter((one) => one.from === who).map(({ text }) => text)
          assert.deepStrictEqual(
            from("author"),
            notes.filter(({ phase }) => phase === run.phase?.id).map(({ text }) => text)
          )
          const humans = /guidance \d|late \d|lost\? \d/
          for (const { from: who, text } of words) assert.strictEqual(who === "human", humans.test(text), text)
        }
      }
    }
  })
})

describe("a run that waits", () => {
  inEveryStory(
    "never waits for what it has been told already",
    telling((told, { s }) => assert.isUndefined(told.inVain(s)))
  )

  for (const human of ["hasty", "patient"] as const) {
    inEveryStory(`comes to its end with a ${human} human and services that work`, () => ({
      end: (s) => {
        assert.isTrue(ended(toItsEnd(copyOf(s), human).run))
      }
    }))
  }

  inEveryStory(
    "has sent what it waits for",
    telling((_, { s }) => {
      const { pending } = s.run
      const commands = s.sent.flatMap((message) => (message._tag === "SendCommand" ? [message.command] : []))
      if (pending._tag === "Answer") assert.include(commands, pending.question.ask)
      if (pending._tag === "Workspace") assert.include(commands, pending.command)
      if (pending._tag !== "Turn") return
      assert.isTrue(commands.some((command) => "turnId" in command && command.turnId === pending.turnId))
    })
  )

  inEveryStory(
    "knows in which of its sessions somebody works, also of what it was told in a pause",
    telling((told, { s }) => {
      if (s.state._tag !== "Run" || ended(s.run)) return
      const open = (ids: Iterable<string>) => [...ids].filter((id) => isOpen(s.run, id)).sort()
      assert.deepStrictEqual(open(s.run.working), open(told.atWork))
    })
  )

  inEveryStory(
    "asks nothing about a session in which somebody is known to work",
    telling((told, { s }) => {
      const { held, pending } = s.run
      if (pending._tag !== "Answer" || pending.question.kind === "prompt" || held !== undefined) return
      for (const id of told.atWork) {
        if (isOpen(s.run, id)) assert.isFalse(concerns(pending.question, id as never), `${id} of ${[...told.presence]}`)
      }
    })
  )
})

const isOpen = ({ phase, runId, standalone }: Run, id: string): boolean =>
  standalone !== undefined ||
  phase?.sessions.some((one) => one === id) === true ||
  (phase !== undefined && id.startsWith(`${reviewKey(runId, phase.id)}-`))

describe("the checkpoints of a plan", () => {
  inEveryStory("are answered by a human, or settled by auto mode, before their phase is approved", () => {
    const asked = new Map<string, string>()
    const settled = new Set<string>()
    return {
      each: (step) => {
        for (const [run, event] of walk(step)) {
          const phase = run.phase?.id
          if (event._tag === "PhaseStarted") settled.clear()
          if (event._tag === "QuestionAsked" && event.question.kind === "checkpoint") {
            asked.set(event.question.ask.escalationId, event.question.ask.evidence.checkpoint?.task ?? "")
          }
          if (event._tag === "QuestionAnswered" && event.choice !== "fail")
            settled.add(asked.get(event.escalationId) ?? "")
          if (event._tag === "GatesEnded" && event.passed && event.checkpoint !== undefined)
            settled.add(event.checkpoint)
          if (event._tag === "CheckpointLeft" && event.resolution !== undefined) {
            const { task, type } = run.phase?.checkpoint?.report ?? {}
            assert.notInclude(["human-verify", "human-action"], type)
            settled.add(task ?? "")
          }
          // Work that was lost is to be passed again.
          if (event._tag === "TasksDropped")
            for (const { id } of event.tasks) if (isVerified(run, id)) settled.delete(id)
          if (event._tag !== "PhaseCompleted" || event.by === "override") continue
          const planned = run.phases.find(({ id }) => id === phase)?.tasks ?? []
          for (const { checkpoint, id } of planned) if (checkpoint !== undefined) assert.isTrue(settled.has(id), id)
        }
      }
    }
  })
})

const isVerified = ({ phase, phases }: Run, task: string): boolean =>
  phases.some(
    ({ id, tasks }) => id === phase?.id && tasks.some((one) => one.id === task && one.checkpoint === "human-verify")
  )

/** Adds up what a run is told that was used: each turn once. */
const usedOf = () => {
  const turns = new Set<string>()
  const used: Record<Role, Usage> = { author: noUsage, reviewer: noUsage }
  const byPhase = new Map<string, Usage>()
  const add = (role: Role, phase: string | undefined, usage: Usage) => {
    used[role] = addUsage(used[role], usage)
    if (phase !== undefined)
      byPhase.set(`${phase} ${role}`, addUsage(byPhase.get(`${phase} ${role}`) ?? noUsage, usage))
  }
  const roleOf = ({ phase, runId, turnId }: InputOf<"TurnCompleted" | "TurnFailed">): Role =>
    phase !== undefined && turnId.startsWith(reviewKey(runId, phase)) ? "reviewer" : "author"
  return {
    used,
    byPhase,
    note: (input: RunInput) => {
      if (input._tag === "UsageCounted") add(input.role, input.phase, input)
      if (input._tag !== "TurnCompleted" && input._tag !== "TurnFailed") return
      if (turns.has(input.turnId)) return
      turns.add(input.turnId)
      add(roleOf(input), input.phase, input)
    }
  }
}

describe("what a run has used", () => {
  inEveryStory("is the sum of what it was told, in all, by role and by phase, also after its end", () => {
    const sum = usedOf()
    return {
      before: (_, input) => sum.note(input),
      each: ({ s }) => {
        const { phaseUsage, usage } = s.run
        for (const role of ["author", "reviewer"] as const) {
          const { calls, cost, tokens } = usage[role]
          assert.deepStrictEqual({ calls, cost, tokens }, sum.used[role])
        }
        const shown = phaseUsage.map(({ cost, phase, role, tokens }) => [`${phase} ${role}`, { cost, tokens }] as const)
        const expected = [...sum.byPhase].map(([key, { cost, tokens }]) => [key, { cost, tokens }] as const)
        assert.deepStrictEqual(new Map(shown), new Map(expected))
      }
    }
  })

  inEveryStory("is what a question shows that was asked at that time", () => {
    const sum = usedOf()
    return {
      before: (_, input) => sum.note(input),
      each: (step) => {
        for (const [, event] of walk(step)) {
          if (event._tag !== "QuestionAsked" || step.input._tag === "ResumeRun") continue
          // The same question again shows what it did.
          if (step.input._tag === "AnswerReceived" || step.input._tag === "EscalationWithdrawn") continue
          const { tokens = noTokens } = event.question.ask.evidence
          assert.deepStrictEqual(tokens, addTokens(sum.used.author.tokens, sum.used.reviewer.tokens))
        }
      }
    }
  })
})
