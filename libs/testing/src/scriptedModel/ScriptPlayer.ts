import { Array as Arr, Result } from "effect"
import { latestToolResults, type ModelRequest } from "./ModelRequest.ts"
import { makeReply } from "./makeReply.ts"
import { ruleMatches } from "./matchRule.ts"
import { commonPrefixTokens, countTokens } from "./promptText.ts"
import type { Refusal, Reply, Usage } from "./Reply.ts"
import { type Recognised, recognise } from "./recognise.ts"
import type { Fault, Rule, Script, Step } from "./Script.ts"
import { captureFrom, type Values } from "./template.ts"

/** The rule that answers a turn: chosen at its beginning, or in mid-turn by a rule with `afterTool`. */
interface ActiveRule {
  readonly turn: string
  readonly rule: Rule
  readonly ruleName: string
  /** The round the rule was chosen in: its step 0. */
  readonly base: number
}

interface SessionMemory {
  readonly captures: Map<string, string>
  active: ActiveRule | undefined
  lastPrompt: string
}

/** What a script makes of one call. */
export interface Played {
  readonly call: Recognised
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

/** Follows a step whose tool calls ended the script's part of a turn. */
const closing: Step = { text: "Done." }
const housekeeping: Step = { text: "Scripted session" }

const stepsOf = (rule: Rule): ReadonlyArray<Step> => Arr.ensure(rule.reply)

/**
 * Plays a script: the state is what was used of it and what each session's tools have answered. Not concurrent: a
 * call is played from beginning to end before the next.
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
    const call = recognise(this.#script, request)
    const memory = this.#memoryOf(request.session === "" ? `without session: ${call.firstUser}` : request.session)
    const turn = `${call.turn} ${call.lastUser}`
    this.#captureFromTools(memory, request, call, turn)
    const chosen = this.#choose(memory, request, call, turn)
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

  #captureFromTools(memory: SessionMemory, request: ModelRequest, call: Recognised, turn: string): void {
    const results = latestToolResults(request).join("\n")
    const hash = results.match(/\b[0-9a-f]{40}\b/g)?.at(-1)
    if (hash !== undefined) memory.captures.set("lastCommit", hash)
    const { active } = memory
    if (active?.turn !== turn) return
    const step = stepsOf(active.rule)[call.round - active.base - 1]
    for (const [name, value] of captureFrom(step?.capture, results)) memory.captures.set(name, value)
  }

  #choose(memory: SessionMemory, request: ModelRequest, call: Recognised, turn: string): Chosen | undefined {
    const active = memory.active?.turn === turn ? memory.active : undefined
    // The same call again (a dropped stream, a client that was killed): the same step, nothing used up.
    if (active !== undefined && (active.base === call.round || request.messages.at(-1)?.role !== "tool")) {
      return stepOf(active, call.round)
    }
    const index = this.#script.rules.findIndex((rule, i) => {
      const left = (rule.times ?? Number.POSITIVE_INFINITY) > (this.#uses.get(nameOf(rule, i)) ?? 0)
      return left && ruleMatches(rule.match, request, call, new Set(this.#uses.keys()))
    })
    const rule = this.#script.rules[index]
    if (rule === undefined) {
      if (active !== undefined) return stepOf(active, call.round)
      const isHousekeeping = call.kind === "title" || call.kind === "summary"
      return isHousekeeping ? { ruleName: `default ${call.kind}`, index: 0, step: housekeeping } : undefined
    }
    const ruleName = nameOf(rule, index)
    this.#uses.set(ruleName, (this.#uses.get(ruleName) ?? 0) + 1)
    for (const [name, value] of captureFrom(rule.captureUser, call.lastUser)) memory.captures.set(name, value)
    const chosen = { turn, rule, ruleName, base: call.round }
    if (call.kind !== "title" && call.kind !== "summary") memory.active = chosen
    return stepOf(chosen, call.round)
  }

  #reply(
    memory: SessionMemory,
    request: ModelRequest,
    call: Recognised,
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

const nameOf = (rule: Rule, index: number): string => rule.name ?? `rule ${index}`

const stepOf = (active: ActiveRule, round: number): Chosen => {
  const index = round - active.base
  return { ruleName: active.ruleName, index, step: stepsOf(active.rule)[index] ?? closing }
}

const valuesOf = (memory: SessionMemory, request: ModelRequest, call: Recognised): Values => {
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

const unmatchedMessage = (request: ModelRequest, call: Recognised): string =>
  `Scripted model: no rule matches this call: role ${call.role || "unknown"}, kind ${call.kind}, ` +
  `phase ${call.phase || "unknown"}, cycle ${call.cycle}, turn ${call.turn}, round ${call.round}, ` +
  `session ${request.session || "none"}, last user message: ${JSON.stringify(call.lastUser.slice(0, 300))}`
