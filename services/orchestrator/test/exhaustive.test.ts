/** What must not compile: an input, a journal event or a late input that nobody handles, and a misspelt kind. */
import { assert, describe, it } from "@effect/vitest"
import { authorEvolution } from "../src/author/evolve.ts"
import { type Handlers, handlers } from "../src/machine/handlers.ts"
import { type LateInputs, lateInputs } from "../src/machine/lateInputs.ts"
import { type Reactions, reactions } from "../src/machine/react.ts"
import { type RunInput, subscribed } from "../src/run/inputs.ts"
import type { Evolution } from "../src/run/state.ts"

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

  it("list only kinds that exist", () => {
    // @ts-expect-error: a misspelt type
    const types: ReadonlyArray<RunInput["_tag"]> = ["AgentGon"]
    assert.notInclude(subscribed, types[0])
  })
})
