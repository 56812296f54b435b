/**
 * The five services, two replicas of each, on a real broker in trouble (docs/design/proof.md#on-a-real-broker). Other seeds:
 * `npm run nightly -- broker-faults --from 100 --count 50`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Deed, type Plan, planOf, planText } from "./plan.ts"
import { tell } from "./story.ts"

/** A story of this seed in which nothing goes wrong but what is said. */
const only = (seed: number, otherwise: Partial<Plan>): Plan => ({
  ...planOf(seed),
  ...{ faultsInThousand: 0, deeds: [], authors: new Map(), reviewers: new Map(), failedGates: new Set() },
  ...otherwise
})

const tellsNothingWrong = (plan: Plan) =>
  Effect.gen(function* () {
    const { violations } = yield* tell(plan)
    assert.deepStrictEqual(violations, [], planText(plan))
  }).pipe(Effect.scoped)

describe("five services on a broker", { concurrent: true }, () => {
  const deeds: ReadonlyArray<Deed> = ["kill", "retire", "lose consumers"]
  for (const deed of deeds) {
    it.live(`lose nothing and do nothing twice when things go wrong with it in mid-run: ${deed}`, () =>
      tellsNothingWrong(only(1, { deeds: [{ after: 8, deed }] }))
    )
  }

  // 4: the last piece of a conversation that is read to be archived is lost on the way.
  for (const seed of [4, 6, 9]) {
    const plan = planOf(seed)
    it.live(`lose nothing and do nothing twice through a storm: ${planText(plan)}`, () => tellsNothingWrong(plan))
  }
})
