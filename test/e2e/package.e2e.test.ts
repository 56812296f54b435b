// @module-tag long
/** The package that users install: built, installed by npm without a network, and used far from this repository. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { Effect } from "effect"
import { Command } from "../harness/Command.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const run = (program: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv) =>
  Effect.promise(() => promisify(execFile)(program, [...args], { env }))

const build = new URL("../../deploy/package/src/main.ts", import.meta.url).pathname

describe("the package", () => {
  it.live(
    "is installed by npm without anything else, and its command does the demo and what a newcomer does first",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ plan: plan("One"), script: script() })
        const base = join(world.root, "..")
        const prefix = join(base, "installed")
        const environment = { ...world.environment, REPRISE_OPENCODE: yield* locateOpenCode() }
        yield* run(process.execPath, [build, "--output", base], environment)
        const [file] = readdirSync(base).filter((name) => name.endsWith(".tgz"))
        const offline = ["--offline", "--no-audit", "--no-fund", "--global", "--prefix", prefix]
        yield* run("npm", ["install", ...offline, join(base, file ?? "")], environment)

        const installed = join(prefix, "lib/node_modules/reprise")
        assert.deepStrictEqual(readdirSync(join(prefix, "lib/node_modules")), ["reprise"])
        assert.isFalse(existsSync(join(installed, "node_modules")), "it brings no packages along")
        const notices = readFileSync(join(installed, "THIRD-PARTY-NOTICES.md"), "utf8")
        for (const name of ["effect", "pino", "undici", "@nats-io/jetstream", "react-dom"])
          assert.include(notices, `## ${name} `)

        const command = (directory: string, ...args: ReadonlyArray<string>) =>
          Effect.suspend(() => new Command(join(prefix, "bin/reprise"), directory, environment, args).ended)
        const start = (surroundings: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
          Effect.acquireRelease(
            Effect.sync(() => new Command(join(prefix, "bin/reprise"), world.root, surroundings, args)),
            (started) => started.kill("SIGKILL")
          )
        const elsewhere = join(base, "elsewhere")
        mkdirSync(elsewhere)
        assert.match((yield* command(elsewhere, "--version")).stdout, /^reprise v\d+\.\d+\.\d+/)
        assert.match((yield* command(elsewhere, "--help")).stdout, /run +Run a plan/)
        const fresh = join(base, "fresh")
        yield* run("git", ["init", "--quiet", fresh], environment)
        const init = yield* command(fresh, "init", "--plan")
        assert.strictEqual(init.code, 0, init.stderr)
        const validate = yield* command(fresh, "validate", "PLAN.md")
        assert.strictEqual(validate.code, 0, validate.stderr)
        const demo = yield* command(elsewhere, "demo", "--no-input", "--directory", join(base, "demo"))
        assert.strictEqual(demo.code, 0, demo.stderr)
        const status = yield* command(join(base, "demo/greeter"), "status")
        assert.match(status.stdout, /completed/)

        const completed = yield* command(world.root, "run", "PLAN.md", "--no-input")
        assert.strictEqual(completed.code, 0, completed.stderr)
        assert.strictEqual(world.git("log", "-1", "--format=%s"), "Write phase-1.txt")

        const serve = yield* start({ ...environment, REPRISE_NATS_URL: "nats://127.0.0.1:1" }, "serve", "gate")
        yield* serve.waitFor(/no NATS server answers/i)
        assert.strictEqual((yield* serve.kill("SIGTERM")).code, 0)

        const up = yield* start(environment, "up", "--web", "--port", "0")
        const [, address = ""] = yield* up.waitFor(/Web console .*: (\S+\/) /)
        const page = yield* Effect.promise(() => fetch(address).then((response) => response.text()))
        assert.include(page, "<title>Reprise</title>")
        const [, code = ""] = /src="\/(assets\/[^"]+\.js)"/.exec(page) ?? []
        assert.strictEqual((yield* Effect.promise(() => fetch(`${address}${code}`))).status, 200)
      })
  )
})
