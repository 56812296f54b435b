// @module-tag long
/** The identities of one machine: the services, a person and the operator on the broker that a command runs for itself. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const worldOf = (model = script()) => makeWorld({ openCode: "shared", plan: plan("One"), script: model })

/** What the server refused to anybody since it was first started. */
const violations = ({ root }: World): ReadonlyArray<string> => {
  const folder = join(root, ".reprise", "nats")
  const logs = readdirSync(folder).filter((name) => name.startsWith("server.log"))
  assert.isAbove(logs.length, 0)
  return logs.flatMap((name) => readFileSync(join(folder, name), "utf8").match(/.*Permissions? Violation.*/gi) ?? [])
}

/** A command that must succeed. */
const does = (world: World, ...args: ReadonlyArray<string>) =>
  Effect.map(world.reprise(...args), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, `${args.join(" ")}: ${stdout}${stderr}`)
    return stdout
  })

/** A command that must fail, with a sentence and the next step. */
const fails = (world: World, environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.map(world.repriseIn({ environment }, ...args, "--json"), ({ code, stderr, stdout }) => {
    const line = stdout.split("\n").find((one) => one.startsWith("{")) ?? assert.fail(`${stdout}${stderr}`)
    return { exitCode: code, ...JSON.parse(line).error }
  })

/** Everything that a person and the operator do with a run that has been asked something and answered. */
const lookAtAll = Effect.fnUntraced(function* (world: World, runId: string) {
  yield* does(world, "status", runId)
  yield* does(world, "summary", runId)
  yield* does(world, "logs", runId)
  yield* does(world, "dead-letters", "list")
  yield* does(world, "worktree", "list")
  const [session] = yield* world.sessions
  yield* does(world, "sessions", "show", session?.sessionId ?? "")
  yield* does(
    world,
    "sessions",
    "export",
    session?.sessionId ?? "",
    join(world.root, "..", `exported-${Math.random()}`)
  )
  const checked = yield* world.reprise("doctor", "--json")
  assert.match(checked.stdout, /writes to disk before it acknowledges/)
  yield* does(world, "doctor", "--replay", runId)
})

describe("on the broker that a command runs for itself", () => {
  it.live("nobody is refused anything, whether the run asks, is answered from another process, or is pruned", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const up = yield* world.start("up")
      yield* up.waitFor(/Ctrl-C stops/)
      const [question] = yield* world.questions
      const { escalationId = "", runId = "" } = question ?? {}
      yield* does(world, "gate", "show", escalationId)
      yield* does(world, "gate", "answer", escalationId, "continue-session", "--guidance", "Blue")
      yield* up.waitFor(/Run completed/)
      yield* lookAtAll(world, runId)
      yield* up.kill("SIGTERM")
      // The same without a process that runs the broker: each command runs it for itself.
      yield* lookAtAll(world, runId)
      yield* does(world, "prune", "--days", "0", "--yes")
      assert.deepStrictEqual(yield* world.runs, [])
      assert.deepStrictEqual(violations(world), [])
    })
  )

  it.live("other settings than those of its owner are named, with what to do", () =>
    Effect.gen(function* () {
      const world = yield* worldOf()
      const watch = yield* world.start("watch")
      yield* watch.waitFor(/Watching every run/)
      const prefix = yield* fails(world, { REPRISE_NATS_PREFIX: "other" }, "status")
      assert.deepInclude(prefix, { exitCode: 3, code: "other-prefix" })
      assert.match(prefix.message, /'reprise'.*'other'/)
      const host = yield* fails(world, { REPRISE_HOST: "elsewhere" }, "up")
      assert.deepInclude(host, { exitCode: 3, code: "other-host" })
      assert.match(host.message, /for the hosts local, .*'elsewhere'/)
      assert.match(host.hint, new RegExp(`end process ${watch.pid}`))
      assert.isTrue(existsSync(join(world.root, ".reprise", "endpoint.json")))
    })
  )
})
