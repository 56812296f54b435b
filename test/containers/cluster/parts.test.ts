import { assert, describe, it } from "@effect/vitest"
import { partsOf } from "./parts.ts"

const release = { now: "now", next: "next" }
const parts = partsOf({ nats: "nats", service: release, host: release }, { publicKeys: {} }, "http://model.invalid")

const keysOf = (kind: string) =>
  parts
    .filter((part) => part.kind === kind)
    .map(({ spec }) => [
      spec.name,
      Object.values({ ...spec.volumes, ...spec.files }).filter((volume) => volume.startsWith("key-of-"))
    ])

describe("the containers of the cluster", () => {
  it("have the key of their own identity and no other", () => {
    assert.deepStrictEqual(Object.fromEntries([...keysOf("service"), ...keysOf("host")]), {
      "orchestrator-1": ["key-of-orchestrator"],
      "orchestrator-2": ["key-of-orchestrator"],
      "reviewer-1": ["key-of-reviewer"],
      "reviewer-2": ["key-of-reviewer"],
      "gate-1": ["key-of-gate"],
      "gate-2": ["key-of-gate"],
      "session-manager-1": ["key-of-session-manager"],
      "session-manager-2": ["key-of-session-manager"],
      "workspace-1": ["key-of-workspace"],
      "workspace-2": ["key-of-workspace"]
    })
    for (const [name, keys] of [...keysOf("nats"), ...keysOf("agent")]) assert.deepStrictEqual(keys, [], String(name))
  })

  it("are three NATS servers, with the private key of their certificate, which nobody else has", () => {
    const withTls = parts.filter(({ spec }) => Object.values(spec.files ?? {}).includes("nats-tls"))
    assert.deepStrictEqual(
      withTls.map(({ spec }) => spec.name),
      ["nats-0", "nats-1", "nats-2"]
    )
    assert.deepStrictEqual(
      withTls.map(({ preStop }) => preStop),
      Array.from({ length: 3 }, () => ["/nats-server", "-sl=ldm=/run/nats/nats.pid"])
    )
  })
})
