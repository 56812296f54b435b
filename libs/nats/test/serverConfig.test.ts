import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { Redacted } from "effect"
import { renderServerConfig, type ServerSettings } from "../src/embedded/serverConfig.ts"

const template = readFileSync(new URL("../../../nats.conf", import.meta.url), "utf8")

const settings: ServerSettings = {
  host: "127.0.0.1",
  port: -1,
  runDirectory: '/a path/with "quotes"',
  storeDirectory: "/store",
  logFile: "/log",
  tenant: { prefix: "acme", hosts: [Host.make("local")] },
  person: { user: "person", password: Redacted.make("12e4$x") },
  system: { user: "system", password: Redacted.make("s") },
  publicKey: (holder) => `U-${holder}`,
  monitoring: false
}
const old = { major: 2, minor: 9, patch: 10 }
const good = { major: 2, minor: 10, patch: 27 }
const setting = (text: string, name: string) => new RegExp(`^\\s*${name}:`, "m").test(text)

describe("renderServerConfig", () => {
  it("writes to disk before acknowledging where the server can", () => {
    assert.match(renderServerConfig(template, good, settings), /^\s*sync_interval: always/m)
  })

  it("leaves out what an older server would refuse", () => {
    const text = renderServerConfig(template, old, settings)
    assert.isFalse(setting(text, "sync_interval"))
    assert.isFalse(setting(text, "logfile_max_num"))
    assert.isTrue(setting(text, "logfile_size_limit"))
  })

  it("offers statistics over HTTP only when asked", () => {
    assert.isFalse(setting(renderServerConfig(template, good, settings), "http"))
    const text = renderServerConfig(template, good, { ...settings, monitoring: true })
    assert.isTrue(setting(text, "http"))
    assert.include(text, 'REPRISE_MONITOR: "127.0.0.1:-1"')
  })

  it("quotes values, and defines no variable that nothing uses", () => {
    const text = renderServerConfig(template, good, settings)
    assert.include(text, String.raw`REPRISE_RUN_DIR: "/a path/with \"quotes\""`)
    assert.include(text, 'REPRISE_PERSON_PASSWORD: "12e4$x"')
    assert.include(text, "REPRISE_PORT: -1\n")
    assert.isFalse(setting(text, "REPRISE_MONITOR"))
  })

  it("lets each identity do its job with the data of this prefix, and the services log in by key", () => {
    const text = renderServerConfig(template, good, settings)
    assert.include(text, 'REPRISE_NKEY_SESSION_MANAGER: "U-session-manager"')
    assert.include(text, '"acme.command.gate.*"')
    assert.notInclude(text, '"reprise.')
  })

  it("gives every variable of the template a value", () => {
    const text = renderServerConfig(template, good, { ...settings, monitoring: true })
    const used = new Set([...text.matchAll(/^[^#\n]*?\$(REPRISE_[A-Z_]+)/gm)].map((match) => match[1] ?? ""))
    assert.isTrue(used.size > 5)
    for (const name of used) assert.isTrue(setting(text, name), name)
  })
})
