/** The run whose lines the guide shows: it has no terminal, and its second phase asks a question. */
import { Effect } from "effect"
import { commits, complete, needsHuman, on, once, plan, ready, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import type { Called } from "./outputs.ts"

/** Each phase has a file of its own. */
const story = script(
  once({ role: "author", kind: "report", phase: 2 }, needsHuman("Which bases do numbers have?")),
  on({ role: "author", kind: "report" }, complete),
  on({ role: "reviewer", kind: "report" }, ready),
  on({ role: "author", phase: 1 }, commits("parser.js", "export const parse = (text) => text")),
  on({ role: "author", phase: 2 }, { text: "The plan does not say in which bases numbers are. I stop here and ask." })
)

/** Plays it. */
export const shownRunOutput = Effect.gen(function* () {
  const world = yield* makeWorld({ plan: plan("Parse words", "Parse numbers"), script: story })
  const { code, stderr, stdout } = yield* world.reprise("run", "PLAN.md")
  if (code !== 4) return yield* Effect.die(new Error(`the run ended with ${code}: ${stdout}${stderr}`))
  return { directory: world.root, output: stderr + stdout } satisfies Called
}).pipe(Effect.scoped)
