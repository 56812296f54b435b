// @module-tag long
/** `podman play kube` as a stand-in for a cluster: it runs the Deployments of the overlay `local` as they are. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, layer } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Broker, hasContainerEngine, localBroker } from "@reprise/testing"
import { Effect, Layer } from "effect"
import { stringify } from "yaml"
import { hasKubectl, ofKind, render } from "../deploy/manifests.ts"
import { waitUntil } from "../harness/waitUntil.ts"
import { RepriseImage, repriseImage } from "./repriseImage.ts"

const run = promisify(execFile)

/** Docker has no such command. */
const hasPodman = await run("podman", ["info"]).then(
  () => true,
  () => false
)
const canPlay = hasPodman && (await Effect.runPromise(hasContainerEngine)) && (await Effect.runPromise(hasKubectl))

/** Through the engine of the tests, which has settings of its own. */
const podman = (...args: ReadonlyArray<string>) =>
  Effect.promise(() => run("podman", ["--remote", "--url", process.env["DOCKER_HOST"] ?? "", ...args]))

const isReady = (port: number) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => (ok ? true : undefined),
      () => undefined
    )
  )

/** The engine has one space of names for everybody on this machine. */
const suffix = `-test-${process.pid}`

/**
 * What the cluster would give: the content of the Secret, which podman 4.3 cannot read from its own store, and an address
 * for each pod, all of which have that of this machine here.
 */
const adapted = (manifests: ReadonlyArray<unknown>, image: string, ports: ReadonlyArray<number>, url: string) => {
  const deployments = ofKind(manifests, "Deployment").map((manifest, index) => {
    const copy = JSON.parse(JSON.stringify(manifest).replaceAll("localhost/reprise:latest", image))
    copy.metadata.name += suffix
    const pod = copy.spec.template.spec
    pod.hostNetwork = true
    const [container] = pod.containers
    container.env = [
      { name: "REPRISE_NATS_URL", value: url },
      { name: "REPRISE_HEALTH_ADDRESS", value: `127.0.0.1:${ports[index]}` }
    ]
    delete container.ports
    // Probes run only where systemd has timers; the test asks itself.
    delete container.startupProbe
    delete container.readinessProbe
    delete container.livenessProbe
    return copy
  })
  return [...ofKind(manifests, "ConfigMap"), ...deployments]
}

describe.skipIf(!canPlay)("the overlay 'local'", () => {
  layer(Layer.merge(repriseImage, localBroker), { excludeTestServices: true, timeout: "10 minutes" })((it) => {
    it.effect("brings the services up in pods, as uid 65532 on a read-only root, until they are ready", () =>
      Effect.gen(function* () {
        const { name } = yield* RepriseImage
        const { url } = yield* Broker
        const manifests = yield* render("local")
        const ports = yield* Effect.forEach(ofKind(manifests, "Deployment"), () => freePort)
        assert.strictEqual(ports.length, 3)
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-play-"))),
          (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
        )
        const file = join(folder, "local.yaml")
        writeFileSync(
          file,
          adapted(manifests, name, ports, url)
            .map((one) => stringify(one))
            .join("---\n")
        )
        // Also what a failed start has left behind.
        yield* Effect.addFinalizer(() => podman("play", "kube", "--down", file))
        yield* podman("play", "kube", file)
        for (const port of ports) yield* waitUntil(isReady(port))
      })
    )
  })
})
