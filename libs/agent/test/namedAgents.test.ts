import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { agentOfCommand, installHint, namedAgents, runtimeNamed } from "../src/acp/namedAgents.ts"
import { commandProblem } from "../src/acp/process/command.ts"
import { agentPackages } from "../src/agentPackages.ts"

/** What `npm test -- agents` installs. */
const installedForTests = (): ReadonlyArray<string> => {
  const path = join(import.meta.dirname, "../../../test/agents/package.json")
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync(path, "utf8"))
  return Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)
}

describe("the agents that have a name", () => {
  it.each(namedAgents.map((agent) => [agent.name, agent] as const))("%s can be started and installed", (_, agent) => {
    assert.isUndefined(commandProblem(agent.command))
    assert.strictEqual(runtimeNamed(agent.name), `acp:${agent.command}`)
    assert.match(installHint(agent), /^npm install -g \S+@\d+\.\d+/)
  })

  it("are each named and started in one way", () => {
    for (const field of ["name", "command"] as const) {
      assert.strictEqual(new Set(namedAgents.map((agent) => agent[field])).size, namedAgents.length)
    }
  })

  it("are not names of runtimes, and proven only where a test runs on this version", () => {
    assert.isUndefined(namedAgents.find(({ name }) => name === "opencode" || name === "claude"))
    const proven = namedAgents.filter(({ state }) => state === "proven")
    const { name, version } = agentPackages.opencode
    const tested = [`${name}@${version}`, ...installedForTests()]
    assert.deepStrictEqual(new Set(proven.map(({ packages }) => packages[0])), new Set(tested))
  })

  it.each([
    ["opencode acp", "opencode-acp"],
    ["/usr/local/bin/copilot --acp", "copilot"],
    ["opencode", undefined],
    ["opencode acp --port 1", undefined]
  ])("'%s' is the agent %s", (command, name) => {
    assert.strictEqual(agentOfCommand(command)?.name, name)
  })

  it("knows no other name", () => {
    assert.isUndefined(runtimeNamed("cursor"))
  })
})
