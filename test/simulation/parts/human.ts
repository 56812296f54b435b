/** A human who answers questions, in their own time, and now and then does something else. */

import type { Messenger } from "@reprise/actor"
import type { AgentRuntimeShape } from "@reprise/agent"
import { promptIds } from "@reprise/agent/promptIds"
import { EscalationId, type EscalationOption, PublicEvent, RunId, SessionId, to } from "@reprise/protocol"
import { type Context, Effect, Schema } from "effect"
import type { Process } from "../machine/Machine.ts"
import { hashOf } from "../machine/Random.ts"
import type { deeds } from "../world/faults.ts"
import { type PlannedRun, planPath, type World } from "../world/World.ts"
import { byHand } from "./agents.ts"
import { contentOf, type Stored } from "./Record.ts"

export interface Human {
  /** The human hears of everything that is published. */
  readonly hear: (stored: Stored) => void
  readonly start: () => void
  readonly do: (deed: (typeof deeds)[number]) => void
  /** Whether they are about to do something. */
  readonly isBusy: () => boolean
  /** What they said with their answers: unique words each. */
  readonly words: ReadonlyArray<Said>
  readonly prompts: ReadonlySet<string>
}

export interface Said {
  readonly escalationId: string
  readonly choice: string
  readonly text: string
}

interface Surroundings {
  readonly world: World
  readonly process: Process
  readonly messenger: Context.Service.Shape<typeof Messenger>
  readonly runtime: AgentRuntimeShape
  /** The newest runtime session of a run in this role. */
  readonly sessionOf: (
    run: PlannedRun,
    role: "author" | "reviewer"
  ) => { readonly runtimeSessionId: string; readonly sessionId: string } | undefined
}

const isEvent = Schema.is(PublicEvent)
/** What a human acts upon. */
const minded = new Set(["EscalationRaised", "RunPaused"])
const longMs = 20 * 60_000

export const makeHuman = ({ messenger, process, runtime, sessionOf, world }: Surroundings): Human => {
  const { machine } = process
  const words: Array<Said> = []
  const prompts = new Set<string>()
  const heard = new Set<string>()
  let questions = 0
  let busy = 0
  let resumed = 0
  let attachNext = false
  const chance = (text: string) => hashOf(world.seed, `human ${text}`)

  const act = <A, E>(delayMs: number, effect: Effect.Effect<A, E>) => {
    busy += 1
    machine.after(process, delayMs, () => {
      process.fork(Effect.ignore(effect)).addObserver(() => {
        busy -= 1
      })
    })
  }

  const answer = (delayMs: number, escalationId: string, choice: string, text: string | undefined, via: string) => {
    const id = EscalationId.make(escalationId)
    const guidance = text === undefined ? {} : { guidance: text }
    const command = to.gate(id).AnswerEscalation({ choice, by: "human", via, ...guidance })
    act(delayMs, messenger.send(command, { id: `${escalationId}.${via}` }))
  }

  /** Usually something else than the end of the run. */
  const choose = (options: ReadonlyArray<EscalationOption>, draw: number): EscalationOption | undefined => {
    const others = options.filter(({ name }) => name !== "abort" && name !== "pause")
    return draw % 23 === 0 || others.length === 0 ? options[draw % options.length] : others[draw % others.length]
  }

  const say = (option: EscalationOption, escalationId: string, draw: number, nth: string): string | undefined => {
    if (option.guidance === "none" || (option.guidance === "optional" && draw % 3 === 0)) return undefined
    const text = `Mind word${words.length}x${nth}.`
    words.push({ escalationId, choice: option.name, text })
    return text
  }

  const asked = (escalationId: string, options: ReadonlyArray<EscalationOption>) => {
    const number = questions
    questions += 1
    const how = world.faults.find((fault) => fault._tag === "Answer" && fault.question === number)
    const kind = how?._tag === "Answer" ? how.how : undefined
    if (number >= world.answers) return
    const draw = chance(escalationId)
    const chosen = choose(options, draw)
    if (chosen === undefined) return
    const delayMs = (kind === "late" ? longMs : 0) + (draw % 20_000)
    if (kind === "unknown") answer(delayMs, escalationId, "nonsense", undefined, "typed")
    if (kind === "elsewhere") answer(delayMs, `${escalationId}9`, chosen.name, undefined, "elsewhere")
    answer(
      delayMs + (kind === "unknown" ? 5_000 : 0),
      escalationId,
      chosen.name,
      say(chosen, escalationId, draw, "a"),
      "terminal"
    )
    const second = options[(draw + 1) % options.length]
    if (kind === "twice" && second !== undefined) {
      answer(
        delayMs + (draw % 3) * 1_000,
        escalationId,
        second.name,
        say(second, escalationId, draw + 1, "b"),
        "console"
      )
    }
  }

  const attach = (run: PlannedRun, delayMs = 0, role: "author" | "reviewer" = "author") => {
    const session = sessionOf(run, role)
    if (session === undefined) return
    const { runtimeSessionId } = session
    const nth = prompts.size
    const promptId = promptIds(machine.nowMs, `human ${nth}`, 0)
    prompts.add(promptId.messageId)
    const { directory } = run
    act(delayMs, runtime.prompt({ runtimeSessionId, directory, promptId, text: `${byHand} look at this, ${nth}.` }))
  }

  const send = (command: Parameters<typeof messenger.send>[0]) => act(0, messenger.send(command))
  const doIn = (run: PlannedRun, deed: (typeof deeds)[number]) => {
    const orchestrator = to.orchestrator(run.runId)
    switch (deed) {
      case "pause":
        return send(orchestrator.PauseRun({ now: false }))
      case "pause-now":
        return send(orchestrator.PauseRun({ now: true }))
      case "resume":
        return send(orchestrator.ResumeRun())
      case "abort":
        return send(orchestrator.AbortRun({ reason: "enough" }))
      case "start-again":
        return send(startOf(run))
      case "attach":
        return attach(run)
      case "attach-answer":
        attachNext = true
        return
      case "hand-back": {
        const session = sessionOf(run, "author")
        return session === undefined ? undefined : send(to.sessionManager(SessionId.make(session.sessionId)).HandBack())
      }
    }
  }

  return {
    words,
    prompts,
    isBusy: () => busy > 0,
    start: () => {
      for (const run of world.runs) send(startOf(run))
    },
    do: (deed) => {
      const [first, second = first] = world.runs
      const run = chance(`${deed} ${machine.steps}`) % 2 === 0 ? first : second
      if (run !== undefined) doIn(run, deed)
    },
    hear: (stored) => {
      if (!minded.has(stored.type) || stored.kind !== "event" || heard.has(stored.id)) return
      heard.add(stored.id)
      const event = contentOf(stored)
      if (!isEvent(event)) return
      if (event._tag === "EscalationRaised") {
        const run = world.runs.find(({ runId }) => runId === event.runId)
        if (attachNext && run !== undefined) {
          attachNext = false
          const role = event.step === "REVIEW" ? "reviewer" : "author"
          attach(run, 1_000 + (chance(event.escalationId) % 20_000), role)
          return
        }
        asked(event.escalationId, event.options)
      }
      if (event._tag === "RunPaused" && resumed < 6) {
        resumed += 1
        act(
          10_000 + (chance(`resume ${resumed}`) % 60_000),
          messenger.send(to.orchestrator(RunId.make(event.runId)).ResumeRun())
        )
      }
    }
  }
}

const startOf = ({ directory, options, plan, runId }: PlannedRun) =>
  to.orchestrator(runId).StartRun({ plan, planPath, workspace: directory, options })
