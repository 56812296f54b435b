// @module-tag long
/** The clock of the machine is set by a day, either way, while a run is under way: as Reprise's own processes see it. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heldInMidTurn, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

/** Lets a test set the clock of every Node process that it starts: by the milliseconds in the file. */
const clockModule = (file: string): string => `import { readFileSync } from "node:fs"
const RealDate = Date
const offset = () => {
  try { return Number(readFileSync(${JSON.stringify(file)}, "utf8")) } catch { return 0 }
}
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length === 0 ? [RealDate.now() + offset()] : args)) }
  static now() { return RealDate.now() + offset() }
}
`

const clockFile = (folder: string) => join(folder, "clock.txt")

/** The environment of processes whose clock the test sets. */
const withClock = (folder: string): Readonly<Record<string, string>> => {
  const path = join(folder, "clock.mjs")
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, clockModule(clockFile(folder)))
  return { NODE_OPTIONS: `--import=${pathToFileURL(path).href}` }
}

const dayMs = 86_400_000

describe("a clock that is set in the middle of a turn", () => {
  it.live.each([
    ["forward by a day", dayMs],
    ["back by a day", -dayMs]
  ] as const)("%s costs the run nothing: it completes, with every commit and every model call once", ([, byMs]) =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: heldInMidTurn,
        environment: withClock
      })
      const set = (ms: number) => Effect.sync(() => writeFileSync(clockFile(join(world.root, "..")), `${ms}`))
      const run = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      yield* set(byMs)
      const status = yield* world.reprise("status")
      assert.match(status.stdout, /running/)
      yield* world.model.release("mid-turn")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual(world.git("log", "--format=%s"), "Write it\nStart")
      const calls = (yield* world.model.calls).filter(({ kind }) => kind !== "title" && kind !== "summary")
      assert.deepStrictEqual(
        calls.map(({ role, round }) => `${role} ${round}`),
        ["author 0", "author 1", "reviewer 0"],
        "as the script has it"
      )
      yield* set(0)
      const [completed, ...others] = yield* world.runs
      assert.deepStrictEqual([completed?.status, others.length], ["completed", 0])
    }).pipe(Effect.scoped)
  )
})
