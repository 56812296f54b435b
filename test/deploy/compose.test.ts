import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { at, list } from "./manifests.ts"
import { natsLimits, settingIn } from "./natsPolicies.ts"

const folder = new URL("../../deploy/", import.meta.url)
const text = readFileSync(new URL("compose.yaml", folder), "utf8")
const compose: unknown = parse(text, { merge: true })
const services = Object.entries<unknown>(Object(at(compose, "services")))
/** They prepare what the others need, and end. */
const brief = ["prepare", "streams"]
const lasting = services.filter(([name]) => !brief.includes(name))
const named = (name: string) => services.find(([one]) => one === name)?.[1]

describe("deploy/compose.yaml", () => {
  it("has NATS, the five services and an agent", () => {
    const commands = services.flatMap(([, one]) => {
      const [verb, service] = list(at(one, "command"))
      return verb === "serve" ? [service] : []
    })
    assert.sameMembers(commands, ["orchestrator", "reviewer", "gate", "workspace", "session-manager"])
    assert.sameMembers(
      lasting.map(([name]) => name),
      [...commands.map(String), "nats", "agent"]
    )
  })

  for (const [name, service] of lasting) {
    it(`runs ${name} on a read-only root without capabilities, restarts it, and asks for its health`, () => {
      assert.strictEqual(at(service, "read_only"), true)
      assert.deepStrictEqual(at(service, "cap_drop"), ["ALL"])
      assert.deepStrictEqual(at(service, "security_opt"), ["no-new-privileges:true"])
      assert.strictEqual(at(service, "restart"), "unless-stopped")
      assert.strictEqual(list(at(service, "healthcheck", "test"))[0], "CMD", "there may be no shell")
      assert.isUndefined(at(service, "ports"), "nothing is opened to other machines")
      assert.isUndefined(at(service, "privileged"))
    })

    it(`has no password of ${name} in it`, () => {
      for (const [variable, value] of Object.entries(Object(at(service, "environment")))) {
        if (/PASSWORD/.test(variable)) assert.match(String(value), /\$\{[A-Z_]+PASSWORD:\?/)
        if (/NATS_URL/.test(variable)) assert.strictEqual(value, "nats://nats:4222")
      }
    })

    it(`gives ${name} no key but its own`, () => {
      const own = list(at(service, "command"))[0] === "serve" ? [{ source: name, target: "key" }] : []
      assert.deepStrictEqual(list(at(service, "secrets")), own)
    })
  }

  it("gives the operator's key only to what makes the streams before the services start, and ends", () => {
    assert.deepStrictEqual(at(named("streams"), "secrets"), [{ source: "operator", target: "key" }])
    for (const name of ["orchestrator", "reviewer", "gate", "workspace", "session-manager"]) {
      const condition = at(named(name), "depends_on", "streams", "condition")
      assert.strictEqual(condition, "service_completed_successfully")
    }
  })

  it("puts only files into containers, since Compose can put nothing else into one whose root is read-only", () => {
    for (const kind of ["configs", "secrets"]) {
      const sources = Object.entries<unknown>(Object(at(compose, kind)))
      assert.isNotEmpty(sources)
      for (const [name, source] of sources) assert.deepStrictEqual(Object.keys(Object(source)), ["file"], name)
    }
  })

  it("gives the NATS server the limits that it has in a cluster, and has it write before it acknowledges", () => {
    const configuration = readFileSync(new URL(String(at(compose, "configs", "nats", "file")), folder), "utf8")
    const wanted = { ...natsLimits, max_file_store: "20GB", max_memory_store: "64MB", sync_interval: "always" }
    for (const [name, value] of Object.entries(wanted)) {
      assert.strictEqual(settingIn(configuration, name), value, name)
      assert.strictEqual(settingIn(configuration.replace(`${name}: ${value}`, ""), name), "")
    }
  })

  it("gives the agent, the session-manager and the workspace the same files", () => {
    for (const name of ["agent", "session-manager", "workspace"]) {
      assert.deepStrictEqual(at(named(name), "volumes"), ["workspace:/workspace"])
    }
  })
})
