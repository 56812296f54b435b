import { Array as Arr, Result } from "effect"
import type { Fault, Rule, Script, Step } from "../script/Script.ts"
import { captureFrom, type Values } from "../script/template.ts"
import { commonPrefixTokens, countTokens, latestToolResults, type ModelRequest } from "./ModelRequest.ts"
import { ruleMatches } from "./matchRule.ts"
import { makeReply, type Refusal, type Reply, type Usage } from "./Reply.ts"
import { type RecognisedCall, recogniseCall } from "./recogniseCall.ts"

/** The rule that answers a turn. It is chosen at the beginning of the turn; one with `afterTool` can take over later. */
interface ActiveRule {
  readonly turn: string
  readonly rule: Rule
  readonly ruleName: string
  /** The round in which the rule was chosen; step 0 answers it. */
  readonly firstRound: number
  /** The report that ends the turn, once it was given. */
  report?: Step | undefined
}

interface SessionMemory {
  readonly captures: Map<string, string>
  active: ActiveRule | undefined
  lastPrompt: string
}

/** How the script answers one call. */
export interface Played {
  readonly call: RecognisedCall
  readonly rule: string
  readonly step: number
  readonly usage: Usage
  readonly outcome: Result.Result<Reply, Refusal>
}

interface Chosen {
  readonly ruleName: string
  readonly index: number
  readonly step: Step
}

/** Answers the result of a tool call after which the rule has no step left. */
const closingStep: Step = { text: "Done." }
const housekeepingStep: Step = { text: "Scripted session" }

const stepsOf = (rule: Rule): ReadonlyArray<Step> => Arr.ensure(rule.reply)

/**
 * Plays a script. It remembers how often each rule and fault was used, and what was captured in each session.
 * `play` is synchronous, so calls never interleave.
 */
export class ScriptPlayer {
  readonly #script: Script
  readonly #uses = new Map<string, number>()
  readonly #faults = new Map<Fault, number>()
  readonly #sessions = new Map<string, SessionMemory>()

  constructor(script: Script) {
    this.#script = script
  }

  /** Decides the answer to a call. */
  play(request: ModelRequest): Played {
    const call = recogniseCall(this.#script, request)
    const memory = this.#memoryOf(request.session === "" ? `without session: ${call.firstUser}` : request.session)
    const turn = `${call.turn} ${call.lastUser}`
    this.#captureFromTools(memory, request, call, turn)
    const chosen = this.#withReport(memory, request, call, this.#choose(memory, request, call, turn))
    const counted = {
      inputTokens: countTokens(request.promptText),
      cachedTokens: commonPrefixTokens(memory.lastPrompt, request.promptText),
      outputTokens: 0
    }
    if (call.kind !== "title" && call.kind !== "summary") memory.lastPrompt = request.promptText
    const played = { call, rule: chosen?.ruleName ?? "", step: chosen?.index ?? 0 }
    const outcome =
      chosen === undefined
        ? Result.fail<Refusal>({ outcome: "unmatched", message: unmatchedMessage(request, call) })
        : this.#reply(memory, request, call, chosen, counted)
    return { ...played, outcome, usage: Result.isSuccess(outcome) ? outcome.success.usage : counted }
  }

  #memoryOf(session: string): SessionMemory {
    const memory = this.#sessions.get(session) ?? { captures: new Map(), active: undefined, lastPrompt: "" }
    this.#sessions.set(session, memory)
    return memory
  }

  #captureFromTools(memory: SessionMemory, request: ModelRequest, call: RecognisedCall, turn: string): void {
    const results = latestToolResults(request).join("\n")
    const hash = results.match(/\b[0-9a-f]{40}\b/g)?.at(-1)
    if (hash !== undefined) memory.captures.set("lastCommit", hash)
    const { active } = memory
    if (active?.turn !== turn) return
    const step = stepsOf(active.rule)[call.round - active.firstRound - 1]
    for (const [name, value] of captureFrom(step?.capture, results)) memory.captures.set(name, value)
  }

  /** A turn that is to end with its report ends with what the rule for reports says. */
  #withReport(
    memory: SessionMemory,
    request: ModelRequest,
    call: RecognisedCall,
    chosen: Chosen | undefined
  ): Chosen | undefined {
    const { active } = memory
    if (chosen === undefined || active === undefined || !call.reportsAtEnd || !endsTurn(chosen.step)) return chosen
    active.report ??= this.#takeReport(request, call)
    const { report } = active
    if (report === undefined) return chosen
    const text = [chosen.step.text, report.text].filter((part) => part !== undefined).join("\n\n")
    return { ...chosen, step: { ...chosen.step, ...report, ...(text === "" ? {} : { text }) } }
  }

  /** The only step of the rule that would answer a prompt for the report. */
  #takeReport(request: ModelRequest, call: RecognisedCall): Step | undefined {
    const prompted = { ...request, messages: request.messages.slice(0, lastPromptOf(request) + 1) }
    const found = this.#findRule(prompted, { ...call, kind: "report" }, ({ match }) => match.kind !== undefined)
    const [step, ...more] = found === undefined ? [] : stepsOf(found.rule)
    if (found === undefined || step === undefined || more.length > 0 || !isSaid(step)) return undefined
    this.#uses.set(found.ruleName, (this.#uses.get(found.ruleName) ?? 0) + 1)
    return step
  }

  /** The first rule that matches and may still be used. */
  #findRule(
    request: ModelRequest,
    call: RecognisedCall,
    isWanted = (_: Rule) => true
  ): { rule: Rule; ruleName: string } | undefined {
    const index = this.#script.rules.findIndex((rule, i) => {
      const left = (rule.times ?? Number.POSITIVE_INFINITY) > (this.#uses.get(nameOf(rule, i)) ?? 0)
      return left && isWanted(rule) && ruleMatches(rule.match, request, call, new Set(this.#uses.keys()))
    })
    const rule = this.#script.rules[index]
    return rule === undefined ? undefined : { rule, ruleName: nameOf(rule, index) }
  }

  #choose(memory: SessionMemory, request: ModelRequest, call: RecognisedCall, turn: string): Chosen | undefined {
    const active = memory.active?.turn === turn ? memory.active : undefined
    // A repeated call, after a dropped stream or a killed client, gets the same step again and uses nothing up.
    if (active !== undefined && (active.firstRound === call.round || request.messages.at(-1)?.role !== "tool")) {
      return stepOf(active, call.round)
    }
    const found = this.#findRule(request, call)
    if (found === undefined) {
      if (active !== undefined) return stepOf(active, call.round)
      const isHousekeeping = call.kind === "title" || call.kind === "summary"
      return isHousekeeping ? { ruleName: `default ${call.kind}`, index: 0, step: housekeepingStep } : undefined
    }
    const { rule, ruleName } = found
    this.#uses.set(ruleName, (this.#uses.get(ruleName) ?? 0) + 1)
    for (const [name, value] of captureFrom(rule.captureUser, call.lastUser)) memory.captures.set(name, value)
    const chosen: ActiveRule = { turn, rule, ruleName, firstRound: call.round }
    if (call.kind !== "title" && call.kind !== "summary") memory.active = chosen
    return stepOf(chosen, call.round)
  }

  #reply(
    memory: SessionMemory,
    request: ModelRequest,
    call: RecognisedCall,
    chosen: Chosen,
    counted: Usage
  ): Result.Result<Reply, Refusal> {
    const made = makeReply(chosen.step, request, valuesOf(memory, request, call), counted)
    return Result.isSuccess(made)
      ? Result.succeed({ ...made.success, fault: this.#takeFault(chosen.step.fault) })
      : Result.fail({
          outcome: "invalid",
          message: `Scripted model: step ${chosen.index} of ${chosen.ruleName} cannot be played: ${made.failure}`
        })
  }

  #takeFault(fault: Fault | undefined): Fault | undefined {
    if (fault === undefined) return undefined
    const taken = this.#faults.get(fault) ?? 0
    this.#faults.set(fault, taken + 1)
    return taken < fault.times ? fault : undefined
  }
}

/** Nothing but words: no tool is called. */
const isSaid = ({ bash, edit, read, toolCalls, write }: Step): boolean =>
  [bash, edit, read, toolCalls, write].every((call) => call === undefined)

const endsTurn = (step: Step): boolean => isSaid(step) && step.report === undefined && step.cutOff !== true

const lastPromptOf = ({ messages }: ModelRequest): number => messages.findLastIndex(({ role }) => role === "user")

const nameOf = (rule: Rule, index: number): string => rule.name ?? `rule ${index}`

const stepOf = (active: ActiveRule, round: number): Chosen => {
  const index = round - active.firstRound
  return { ruleName: active.ruleName, index, step: stepsOf(active.rule)[index] ?? closingStep }
}

const valuesOf = (memory: SessionMemory, request: ModelRequest, call: RecognisedCall): Values => {
  const cwd = /[Ww]orking directory: (\S+)/.exec(request.system)?.[1]
  return new Map<string, string>([
    ["role", call.role],
    ["phase", call.phase],
    ["cycle", String(call.cycle)],
    ["turn", String(call.turn)],
    ["session", request.session],
    ["model", request.model],
    ...(cwd === undefined ? [] : [["cwd", cwd] as const]),
    ...memory.captures
  ])
}

const unmatchedMessage = (request: ModelRequest, call: RecognisedCall): string =>
  `Scripted model: no rule matches this call: role ${call.role || "unknown"}, kind ${call.kind}, ` +
  `phase ${call.phase || "unknown"}, cycle ${call.cycle}, turn ${call.turn}, round ${call.round}, ` +
  `session ${request.session || "none"}, last user message: ${JSON.stringify(call.lastUser.slice(0, 300))}`
