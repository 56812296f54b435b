/** The manifests of deploy/kubernetes, rendered as kubectl applies them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { kubernetesFields } from "./fieldData.ts"
import { unknownFields } from "./fields.ts"
import { structsWithKeda, withKeda } from "./kedaSample.ts"
import { hasKubectl, overlays, render, workloadNames } from "./manifests.ts"
import { policiesOf } from "./policies.ts"
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
})
