// @module-tag long
/** A machine on which the agent of a run is not installed: the package of Reprise, and nothing beside it. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { agentPackages, locateOpenCode } from "@reprise/agent"
import { Effect } from "effect"
import { Command } from "../harness/Command.ts"
import { plan, script } from "../harness/modelScript.ts"
import { packageRegistry } from "../harness/packageRegistry.ts"
import { makeWorld } from "../harness/World.ts"

const build = new URL("../../deploy/package/src/main.ts", import.meta.url).pathname
const folders = (folder: string): ReadonlyArray<string> => (existsSync(folder) ? readdirSync(folder) : [])

describe("an agent that is not installed", () => {
  it.live(
    "is named with the command that installs it, or is installed at a terminal that says yes, and then runs",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ plan: plan("One"), script: script() })
        const base = join(world.root, "..")
        execFileSync(process.execPath, [build, "--output", base])
        const cache = join(base, "cache")
        const { name, version } = agentPackages.opencode
        const program = yield* locateOpenCode()
        const registry = yield* packageRegistry(join(base, "registry"), {
          ...{ name, version, program },
          bin: { opencode: "bin/opencode.exe" }
        })
        // Only git, npm and a shell: no `opencode`.
        const path = [join(process.execPath, ".."), "/usr/local/bin", "/usr/bin", "/bin"].join(":")
        const environment = {
          ...world.environment,
          PATH: path,
          XDG_CACHE_HOME: cache,
          npm_config_registry: registry,
          npm_config_cache: join(base, "npm-cache"),
          npm_config_userconfig: "/dev/null"
        }
        const reprise = join(base, "package/bin/reprise.js")
        const alone = yield* new Command(reprise, world.root, environment, ["run", "PLAN.md"]).ended
        assert.strictEqual(alone.code, 3)
        assert.match(alone.stderr, /OpenCode is not installed.*npm i -g opencode-ai/s)

        const declined = new Command(reprise, world.root, environment, ["run", "PLAN.md"], "terminal")
        yield* declined.waitFor(/opencode-ai 1\.\d+\.\d+ \(about \d+ MB\)/)
        yield* declined.waitFor(/Install it for you, with npm\? \[y\/N\] /)
        declined.type("n\r")
        assert.strictEqual((yield* declined.ended).code, 3)
        assert.deepStrictEqual(folders(join(cache, "reprise/agents")), [])

        const accepted = new Command(reprise, world.root, environment, ["run", "PLAN.md"], "terminal")
        yield* accepted.waitFor(/\[y\/N\] /)
        accepted.type("y\r")
        const ended = yield* accepted.ended
        assert.strictEqual(ended.code, 0, ended.stdout)
        assert.match(folders(join(cache, "reprise/agents")).join(), /^opencode-ai@1\.\d+\.\d+$/)
      })
  )
})
