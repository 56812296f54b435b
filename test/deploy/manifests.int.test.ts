/** The manifests of deploy/kubernetes, rendered as kubectl applies them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { kubernetesSamples } from "./fieldData.ts"
import { unknownFields } from "./fields.ts"
import { withKeda } from "./kedaSample.ts"
import { hasKubectl, overlays, render, workloadNames } from "./manifests.ts"
import { policiesOf } from "./policies.ts"

const canRender = await Effect.runPromise(hasKubectl)
const samples = canRender ? Option.getOrUndefined(await Effect.runPromise(kubernetesSamples)) : undefined

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
})

describe.skipIf(samples === undefined)("the fields of the manifests", () => {
  const sampleOf = withKeda(samples ?? (() => assert.fail("no data")))

  for (const overlay of overlays) {
    it.effect(`of '${overlay}' are all known to Kubernetes 1.36`, () =>
      Effect.gen(function* () {
        const manifests = yield* render(overlay)
        assert.deepStrictEqual(
          manifests.flatMap((manifest) => unknownFields(manifest, sampleOf)),
          []
        )
      })
    )
  }
})
