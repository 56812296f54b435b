/**
 * What may go wrong in a story, as a list: a story is run again with fewer of them to find those that matter. A fault that
 * nothing triggers does nothing.
 */
import type { ServiceName } from "@reprise/protocol"
import type { Random } from "../machine/Random.ts"

export const services = [
  "orchestrator",
  "gate",
  "session-manager",
  "reviewer",
  "workspace"
] as const satisfies ReadonlyArray<ServiceName>

/** What an agent does instead of its work, at the n-th prompt of the story. */
export const misbehaviours = [
  "needs-human",
  "reports-failure",
  "keeps-failing",
  "no-report",
  "invalid-report",
  "never-reports",
  "no-commit",
  "unknown-commit",
  "leaves-files",
  "stuck",
  "slow",
  "rate-limited",
  "no-internet",
  "vendor-fails",
  "session-lost",
  "asks-permission",
  "asks-question",
  "retries",
  "passes-checkpoint",
  "architecture"
] as const
export const misjudgements = [
  "finds-something",
  "never-satisfied",
  "needs-decision",
  "invalid-report",
  "no-report",
  "stuck",
  "slow",
  "vendor-fails",
  "rate-limited",
  "asks-permission",
  "asks-question",
  "commits-meanwhile"
] as const

/** What a human does besides answering each question once. `attach-answer`: works in the session instead of answering. */
export const deeds = [
  "pause",
  "pause-now",
  "resume",
  "abort",
  "attach",
  "attach-answer",
  "hand-back",
  "start-again"
] as const

export type Fault =
  | {
      readonly _tag: "Kill"
      readonly service: ServiceName
      readonly call: number
      readonly when: "before" | "after"
      readonly downMs: number
    }
  | { readonly _tag: "KillAt"; readonly service: ServiceName | "all"; readonly step: number; readonly downMs: number }
  /** A moment after the n-th question was asked. */
  | { readonly _tag: "KillAsked"; readonly service: ServiceName; readonly question: number; readonly downMs: number }
  | { readonly _tag: "RequestLost"; readonly service: ServiceName; readonly call: number }
  | { readonly _tag: "AnswerLost"; readonly service: ServiceName; readonly call: number }
  | { readonly _tag: "Slow"; readonly service: ServiceName; readonly call: number; readonly ms: number }
  | { readonly _tag: "Twice"; readonly service: ServiceName; readonly delivery: number }
  | { readonly _tag: "AckLost"; readonly service: ServiceName; readonly delivery: number }
  | { readonly _tag: "Late"; readonly service: ServiceName; readonly delivery: number; readonly ms: number }
  | { readonly _tag: "Freeze"; readonly service: ServiceName; readonly step: number; readonly ms: number }
  | { readonly _tag: "ClockJump"; readonly service: ServiceName; readonly step: number; readonly ms: number }
  | { readonly _tag: "RuntimeCrash"; readonly step: number; readonly downMs: number }
  | { readonly _tag: "Author"; readonly prompt: number; readonly does: (typeof misbehaviours)[number] }
  | { readonly _tag: "Reviewer"; readonly prompt: number; readonly does: (typeof misjudgements)[number] }
  | { readonly _tag: "GateFails"; readonly run: number; readonly times: number }
  /** Git fails from one of its calls on, so often. */
  | { readonly _tag: "GitFails"; readonly call: number; readonly times: number }
  | { readonly _tag: "Human"; readonly step: number; readonly does: (typeof deeds)[number] }
  /** The n-th question: answered twice, hours later, or with what is not offered. */
  | { readonly _tag: "Answer"; readonly question: number; readonly how: "twice" | "late" | "unknown" | "elsewhere" }

const kinds = [
  "Kill",
  "Kill",
  "Kill",
  "KillAt",
  "KillAsked",
  "KillAsked",
  "RequestLost",
  "AnswerLost",
  "AnswerLost",
  "Slow",
  "Twice",
  "AckLost",
  "Late",
  "Freeze",
  "ClockJump",
  "RuntimeCrash",
  "Author",
  "Author",
  "Author",
  "Author",
  "Reviewer",
  "Reviewer",
  "Reviewer",
  "GateFails",
  "GitFails",
  "Human",
  "Human",
  "Answer",
  "Answer"
] as const

/** Calls, deliveries and steps of a story without faults are about this many. */
const usual = { calls: 220, deliveries: 40, steps: 4_000, prompts: 8, gitCalls: 60 }

const durationOf = (random: Random): number => random.pick(50, 2_000, 10_000, 60_000, 700_000)

const faultOf = (random: Random): Fault => {
  const service = random.pick(
    "orchestrator",
    "orchestrator",
    "session-manager",
    "session-manager",
    "gate",
    "reviewer",
    "workspace"
  )
  const kind = random.pick(kinds[0], ...kinds.slice(1))
  const call = random.below(usual.calls)
  const delivery = random.below(usual.deliveries)
  const step = random.below(usual.steps)
  // Most stories have two or three prompts, some many.
  const prompt = random.below(random.pick(2, 4, usual.prompts))
  switch (kind) {
    case "Kill":
      return { _tag: kind, service, call, when: random.pick("before", "after"), downMs: durationOf(random) }
    case "KillAt":
      return { _tag: kind, service: random.pick(service, "all"), step, downMs: durationOf(random) }
    case "KillAsked": {
      const asked = random.pick("session-manager", "session-manager", service)
      return { _tag: kind, service: asked, question: random.below(2), downMs: durationOf(random) }
    }
    case "RequestLost":
    case "AnswerLost":
      return { _tag: kind, service, call }
    case "Slow":
      return { _tag: kind, service, call, ms: random.pick(100, 3_000, 20_000, 90_000) }
    case "Twice":
    case "AckLost":
      return { _tag: kind, service, delivery }
    case "Late":
      return { _tag: kind, service, delivery, ms: random.pick(100, 3_000, 20_000) }
    case "Freeze":
      return { _tag: kind, service, step, ms: random.pick(2_000, 40_000, 120_000, 900_000) }
    case "ClockJump":
      return { _tag: kind, service, step, ms: random.pick(-3_600_000, -60_000, -1_000, 1_000, 60_000, 3_600_000) }
    case "RuntimeCrash":
      return { _tag: kind, step, downMs: random.pick(100, 5_000, 90_000) }
    case "Author":
      return { _tag: kind, prompt, does: random.pick(...misbehaviours) }
    case "Reviewer":
      return { _tag: kind, prompt: random.below(random.pick(1, 3)), does: random.pick(...misjudgements) }
    case "GateFails":
      return { _tag: kind, run: random.below(4), times: random.pick(1, 1, 4) }
    case "GitFails":
      return { _tag: kind, call: random.below(usual.gitCalls), times: random.pick(1, 10, 80) }
    case "Human":
      return { _tag: kind, step, does: random.chance(0.3) ? "attach-answer" : random.pick(...deeds) }
    case "Answer":
      return { _tag: kind, question: random.below(3), how: random.pick("twice", "late", "unknown", "elsewhere") }
  }
}

/** Some stories have no fault at all, most have a few. */
export const faultsOf = (random: Random): ReadonlyArray<Fault> => {
  const count = random.pick(0, 1, 2, 3, 4, 6, 8, 12)
  return Array.from({ length: count }, () => faultOf(random))
}

/** A fault on one line. */
export const faultText = ({ _tag, ...fields }: Fault): string =>
  `${_tag} ${Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")}`
