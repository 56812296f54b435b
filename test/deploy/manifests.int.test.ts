/** The manifests of deploy/kubernetes, rendered as kubectl applies them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { change, without } from "./change.ts"
import { kubernetesFields } from "./fieldData.ts"
import { unknownFields } from "./fields.ts"
import { structsWithKeda, withKeda } from "./kedaSample.ts"
import { hasKubectl, overlays, render } from "./manifests.ts"
import { mutations, scalingMutations, scalingUnknowns, unknowns, workloadNames } from "./mutations.ts"
import { omissions, scalingOmissions } from "./omissions.ts"
import { policiesOf, scalingPolicies } from "./policies.ts"
import type { Policy } from "./policy.ts"
import { missingFields } from "./requiredFields.ts"

const canRender = await Effect.runPromise(hasKubectl)
const fields = canRender ? Option.getOrUndefined(await Effect.runPromise(kubernetesFields)) : undefined

const services = ["gate", "orchestrator", "reviewer"].map((name) => `Deployment reprise-${name}`)
const expected = {
  local: [...services, "StatefulSet reprise-host"],
  production: [...services, "StatefulSet nats", "StatefulSet reprise-host"],
  console: ["Deployment reprise-console", ...services, "StatefulSet nats", "StatefulSet reprise-host"],
  nats: ["StatefulSet nats"],
  keda: [...services, "StatefulSet nats", "StatefulSet reprise-host"]
} as const

describe.skipIf(!canRender)("the manifests", () => {
  for (const overlay of overlays) {
    it.effect(`of '${overlay}' keep every policy`, () =>
      Effect.gen(function* () {
        const manifests = yield* render(overlay)
        assert.deepStrictEqual(workloadNames(manifests), expected[overlay])
        assert.deepStrictEqual(
          policiesOf[overlay].flatMap(({ check }) => check(manifests)),
          []
        )
      })
    )
  }

  it("have a mutation for no rule that is not theirs", () => {
    const rulesOf = (policies: ReadonlyArray<Policy>) => policies.map(({ rule }) => rule)
    assert.sameMembers(Object.keys(mutations), rulesOf(policiesOf.console))
    assert.sameMembers(Object.keys(scalingMutations), rulesOf(scalingPolicies))
  })

  for (const { check, rule } of policiesOf.console) {
    it.effect(`are refused when this does not hold: ${rule}`, () =>
      Effect.gen(function* () {
        const changes = mutations[rule] ?? assert.fail("no mutation breaks this rule")
        const manifests = yield* render("console")
        assert.deepStrictEqual(check(manifests), [])
        for (const mutate of changes) assert.isNotEmpty(check(mutate(manifests)), String(changes.indexOf(mutate)))
      })
    )
  }

  for (const { check, rule } of scalingPolicies) {
    it.effect(`that scale by a metric are refused when this does not hold: ${rule}`, () =>
      Effect.gen(function* () {
        const changes = scalingMutations[rule] ?? assert.fail("no mutation breaks this rule")
        const manifests = yield* render("keda")
        assert.deepStrictEqual(check(manifests), [])
        for (const mutate of changes) assert.lengthOf(check(mutate(manifests)), 1, String(changes.indexOf(mutate)))
      })
    )
  }
})

describe.skipIf(fields === undefined)("the fields of the manifests", () => {
  const { sampleOf, structOf } = fields ?? {
    sampleOf: () => assert.fail("no data"),
    structOf: () => assert.fail("no data")
  }
  const problems = (manifests: ReadonlyArray<unknown>) =>
    manifests.flatMap((manifest) => unknownFields(manifest, withKeda(sampleOf)))
  const missing = (manifests: ReadonlyArray<unknown>) =>
    manifests.flatMap((manifest) => missingFields(manifest, structsWithKeda(structOf)))

  for (const overlay of overlays) {
    it.effect(`of '${overlay}' are all known to Kubernetes 1.36`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(problems(yield* render(overlay)), [])
      })
    )

    it.effect(`of '${overlay}' are all there that Kubernetes 1.36 requires`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(missing(yield* render(overlay)), [])
      })
    )
  }

  for (const [overlay, mistakes] of [
    ["console", unknowns],
    ["keda", scalingUnknowns]
  ] as const) {
    for (const [what, says, mutate] of mistakes) {
      it.effect(`are refused with ${what}`, () =>
        Effect.gen(function* () {
          const found = problems(mutate(yield* render(overlay)))
          assert.strictEqual(found.length, 1, found.join("\n"))
          assert.match(found[0] ?? "", says)
        })
      )
    }
  }

  for (const [overlay, left] of [
    ["console", omissions],
    ["keda", scalingOmissions]
  ] as const) {
    for (const [name, path, field] of left) {
      const place = [...path, field].join(".")
      it.effect(`are refused without ${place} of the ${name}`, () =>
        Effect.gen(function* () {
          const mutate = change(name, path, without(field))
          const written = [...path, field].map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")
          assert.deepStrictEqual(missing(mutate(yield* render(overlay))), [
            `${name.split(" ")[0]}${written} is missing`
          ])
        })
      )
    }
  }
})
