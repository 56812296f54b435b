/**
 * The keys of a question, the same at the terminal and in the web console: which key takes which choice, and which do
 * something else at every question (docs/design/gate.md#the-gate-where-humans-answer). Pure.
 */
import type { EscalationView } from "./contracts/escalation.ts"
import type { EscalationOption } from "./model.ts"

export type GateAction =
  | "question"
  | "diff"
  | "log"
  | "transcript"
  | "attach"
  | "write"
  | "skip"
  | "filter"
  | "help"
  | "lineDown"
  | "lineUp"
  | "pageDown"

const actions: ReadonlyMap<string, GateAction> = new Map([
  ["1", "question"],
  ["2", "diff"],
  ["d", "diff"],
  ["3", "log"],
  ["l", "log"],
  ["4", "transcript"],
  ["t", "transcript"],
  ["a", "attach"],
  ["e", "write"],
  ["s", "skip"],
  ["/", "filter"],
  ["?", "help"],
  ["j", "lineDown"],
  ["k", "lineUp"],
  [" ", "pageDown"]
])

/** What a key does at every question; undefined: nothing, so that it may take a choice. */
export const gateAction = (key: string): GateAction | undefined => actions.get(key)

/** Takes an answer back, while that is possible. */
export const undoKey = "u"

/** Has another session try again from here; the question stays open. `R` leads elsewhere in the web console. */
export const forkKey = "F"

/** What a key says to whoever is asked whether a final choice is meant; undefined: nothing, so that no slip confirms. */
export const saidOfFinal = (key: string): "yes" | "no" | undefined => {
  if (key === "y" || key === "Y") return "yes"
  return key === "n" || key === "N" || key === "Escape" ? "no" : undefined
}

/** Keys and what they do, in the words of the help of both. */
export const gateKeysHelp = {
  enter: ["Enter", "takes the recommended choice, where there is one"],
  tabs: ["1 to 4", "question, diff, gate log, transcript; also d, l and t"],
  skip: ["s, ← →", "skip: the next question, the one before"],
  filter: ["/", "shows only the questions that contain a word; Esc shows all"],
  attach: ["a", "how to attach to the agent's session"],
  final: ["y, n", "whether a choice is meant that ends the work, or lets it pass unfinished"],
  fork: ["F", "another session tries again from here, in a worktree; the question stays open"]
} as const satisfies Readonly<Record<string, readonly [keys: string, does: string]>>

/** A choice and the key that takes it. */
export interface KeyedChoice {
  /** Empty: it has none. */
  readonly key: string
  readonly option: EscalationOption
}

const letters = [..."bcfghimnopqrvwxyz"]

/**
 * An option's own key; without one, the first letter of its name that is free. An option that finds none, of more than
 * there are letters, has no key.
 */
export const keyedChoices = ({ options }: Pick<EscalationView, "options">): ReadonlyArray<KeyedChoice> => {
  const own = options.map(({ keys }) => keys.find((key) => key.length === 1))
  const taken = new Set(own)
  return options.map((option, index) => {
    const given = own[index]
    if (given !== undefined) return { key: given, option }
    const wanted = [...option.name.toLowerCase(), ...letters]
    const key = wanted.find((letter) => letters.includes(letter) && !taken.has(letter)) ?? ""
    taken.add(key)
    return { key, option }
  })
}

const named = (
  { options }: Pick<EscalationView, "options">,
  ...names: ReadonlyArray<string>
): EscalationOption | undefined => names.flatMap((name) => options.filter((option) => option.name === name))[0]

/**
 * The choice that Enter takes: how the work goes on with the least loss, or what the agent recommends. Undefined: only
 * the human can know, as at a checkpoint.
 */
export const recommended = (question: EscalationView): EscalationOption | undefined => {
  const { checkpoint } = question.evidence
  switch (question.origin) {
    case "checkpoint": {
      const best = checkpoint?.options?.find((option) => option.recommended === true)
      return best === undefined ? undefined : named(question, best.id)
    }
    case "permission":
      return named(question, "once")
    case "question":
      return undefined
    case "continuation":
      return named(question, "retry")
    case "phase-gate":
      return named(question, "continue")
    default:
      return named(question, "continue-session", "fix")
  }
}

/** Why a key takes no choice here. The reason is an agent's or a runtime's words, not made safe to show. */
export const whyNoChoice = ({ evidence: { continueUnavailable } }: EscalationView, key: string): string =>
  key === "c" && continueUnavailable !== undefined
    ? `continue-session is not offered here: ${continueUnavailable}`
    : `'${key}' is not a key here; ? lists them.`

/** Whether the agent named the options: then one called `abort` need not end the run. */
export const hasAgentOptions = ({ evidence, origin }: EscalationView): boolean =>
  origin === "permission" || origin === "question" || evidence.checkpoint?.type === "decision"

/** Whether the choice ends the run for good, or lets unfinished work pass. */
export const isFinalChoice = (question: EscalationView, choice: string): boolean =>
  (choice === "abort" || choice === "override") && !hasAgentOptions(question)

/** Whether the filter lets a question through: by its run, plan, phase, who asks, or its words. */
export const matchesFilter = (question: EscalationView, filter: string): boolean => {
  const { evidence, origin, phase, reason, runId } = question
  return [runId, evidence.planPath ?? "", evidence.planTitle ?? "", phase ?? "", origin, reason].some((text) =>
    text.toLowerCase().includes(filter.toLowerCase())
  )
}
