/** What must not compile: an input, a journal event or a late input that nobody handles, and a misspelt kind. */
import { assert, describe, it } from "@effect/vitest"
import { agentsEvolution } from "../src/agents/model.ts"
import { authorEvolution, authorReactions } from "../src/author/evolve.ts"
import { authorHandlers } from "../src/author/handlers.ts"
import { checkpointEvolution } from "../src/checkpoint/evolve.ts"
import { checkpointHandlers } from "../src/checkpoint/handlers.ts"
import { controlEvolution } from "../src/control/evolve.ts"
import { controlHandlers } from "../src/control/handlers.ts"
import { usageEvolution, usageHandlers } from "../src/limits/usage.ts"
import { handlers } from "../src/machine/handlers.ts"
import { type LateInputs, lateInputs } from "../src/machine/lateInputs.ts"
import { reactions } from "../src/machine/react.ts"
import { phaseEvolution, phaseReactions } from "../src/phase/evolve.ts"
import { phaseHandlers } from "../src/phase/handlers.ts"
import { qualityEvolution, qualityHandlers } from "../src/quality/gates.ts"
import { questionEvolution } from "../src/question/evolve.ts"
import { questionHandlers, questionReactions } from "../src/question/handlers.ts"
import { reviewHandlers, reviewReactions } from "../src/review/handlers.ts"
import { reviewEvolution } from "../src/review/review.ts"
import type { Evolution, Handlers, Reactions } from "../src/run/family.ts"
import { type RunInput, subscribed } from "../src/run/inputs.ts"

const allHandlers = [
  ...[authorHandlers, checkpointHandlers, controlHandlers, phaseHandlers, qualityHandlers, questionHandlers],
  ...[reviewHandlers, usageHandlers]
]
const allReactions = [authorReactions, phaseReactions, questionReactions, reviewReactions]
const allEvolutions = [
  ...[agentsEvolution, authorEvolution, checkpointEvolution, controlEvolution, phaseEvolution, qualityEvolution],
  ...[questionEvolution, reviewEvolution, usageEvolution]
]

describe("the tables of the run machine", () => {
  it("have a handler for every subscribed event", () => {
    for (const type of subscribed) assert.property(handlers, type)
    const { AgentGone: _, ...others } = handlers
    // @ts-expect-error: AgentGone is subscribed, and nothing handles it
    const incomplete: Handlers = others
    // @ts-expect-error: no such input
    const misspelt: Handlers = { ...handlers, AgentGon: handlers.AgentGone }
    assert.notProperty(incomplete, "AgentGone")
    assert.property(misspelt, "AgentGon")
  })

  it("say of every input whether it is ignored or refused after the end of a run", () => {
    const { TurnCompleted: _, ...others } = lateInputs
    // @ts-expect-error: nothing says what happens to a late TurnCompleted
    const incomplete: LateInputs = others
    assert.notProperty(incomplete, "TurnCompleted")
  })

  it("say of every journal event what it changes and what is sent for it", () => {
    const { WorkspaceAsked: _, ...others } = reactions
    // @ts-expect-error: nothing sends the command of WorkspaceAsked
    const incomplete: Reactions = others
    // @ts-expect-error: most events change nothing
    const unchanged: Evolution = authorEvolution
    assert.notProperty(incomplete, "WorkspaceAsked")
    assert.notProperty(unchanged, "PhaseStarted")
  })

  it.each([
    ["handlers", handlers, allHandlers],
    ["reactions", reactions, allReactions]
  ])("are put together from the families' %s, none of which replaces another's", (_, whole, families) => {
    const kinds = families.flatMap((family) => Object.keys(family))
    assert.deepStrictEqual(kinds.toSorted(), Object.keys(whole).toSorted())
  })

  it("have one fold for each event", () => {
    const kinds = allEvolutions.flatMap((family) => Object.keys(family))
    assert.deepStrictEqual(kinds, [...new Set(kinds)])
  })

  it("list only kinds that exist", () => {
    // @ts-expect-error: a misspelt type
    const types: ReadonlyArray<RunInput["_tag"]> = ["AgentGon"]
    assert.notInclude(subscribed, types[0])
  })
})
