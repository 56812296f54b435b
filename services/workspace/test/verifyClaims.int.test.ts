import { assert, layer } from "@effect/vitest"
import type { CompletedTask } from "@reprise/protocol"
import { Effect } from "effect"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { claims } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

/** A phase that began at `base`, with a commit for each of two tasks. */
const withTasks = Effect.gen(function* () {
  const made = yield* repository
  const base = yield* made.git("rev-parse", "HEAD")
  yield* made.write("a.ts", "1")
  const first = yield* made.commit("T1")
  yield* made.write("b.ts", "1")
  yield* made.write("c.ts", "1")
  return { ...made, base, first, second: yield* made.commit("T2") }
})
type WithTasks = Effect.Success<typeof withTasks>

const task = (id: string, commit: string, ...files: ReadonlyArray<string>): CompletedTask => ({ id, commit, files })

const verified = (made: Repository, ...command: Parameters<typeof claims>) =>
  verifyClaims(claims(...command), made.place)

layer(adapters, { excludeTestServices: true })("verifying what is claimed at a checkpoint", (it) => {
  it.effect("gives whole hashes, and takes the files of a task from its commit", () =>
    Effect.gen(function* () {
      const made = yield* withTasks
      yield* made.git("rm", "--quiet", "a.ts")
      const third = yield* made.commit("T3")
      const tasks = [
        task("T1", made.first.slice(0, 8), "made-up.ts"),
        task("T2", made.second),
        task("T3", third, "a.ts")
      ]
      const event = yield* verified(made, made.base, tasks, { commit: third })
      assert.containSubset(event, {
        _tag: "ClaimsVerified",
        tasks: [task("T1", made.first, "a.ts"), task("T2", made.second, "b.ts", "c.ts"), task("T3", third, "a.ts")]
      })
    })
  )

  it.effect("accepts that nothing is claimed, in a clean tree", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const base = yield* made.git("rev-parse", "HEAD")
      assert.strictEqual((yield* verified(made, base, []))._tag, "ClaimsVerified")
    })
  )

  const rejections: ReadonlyArray<
    readonly [string, string, string | undefined, (made: WithTasks) => Effect.Effect<Parameters<typeof claims>>]
  > = [
    [
      "a task with the commit that the phase began from",
      "not-new",
      "T1",
      ({ base }) => Effect.succeed([base, [task("T1", base)]])
    ],
    [
      "a task with a commit that is older than the phase",
      "not-new",
      "T2",
      ({ base, first, second }) => Effect.succeed([first, [task("T1", second), task("T2", base)]])
    ],
    [
      "a task with a made-up commit",
      "missing",
      "T1",
      ({ base }) => Effect.succeed([base, [task("T1", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef")]])
    ],
    [
      "a made-up newest commit",
      "missing",
      undefined,
      ({ base }) => Effect.succeed([base, [], { commit: "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef" }])
    ],
    [
      "two tasks with the same commit",
      "shared",
      "T2",
      ({ base, first }) => Effect.succeed([base, [task("T1", first), task("T2", first.slice(0, 9))]])
    ],
    [
      "a task with the commit of one that was done before",
      "shared",
      "T2",
      ({ base, first }) => Effect.succeed([base, [task("T2", first)], { earlier: [task("T1", first.slice(0, 9))] }])
    ],
    [
      "a commit of another branch",
      "unreachable",
      "T2",
      (made) =>
        Effect.gen(function* () {
          yield* made.git("checkout", "--quiet", "-b", "other")
          yield* made.write("e.ts", "1")
          const elsewhere = yield* made.commit("elsewhere")
          yield* made.git("checkout", "--quiet", "main")
          return [made.base, [task("T1", made.first), task("T2", elsewhere)]] as const
        })
    ],
    [
      "work that is not committed",
      "dirty-tree",
      undefined,
      (made) => Effect.as(made.write("left.ts", "1"), [made.base, [task("T1", made.first, "left.ts")]] as const)
    ]
  ]
  for (const [what, reason, of, prepare] of rejections) {
    it.effect(`refuses ${what}: ${reason}`, () =>
      Effect.gen(function* () {
        const made = yield* withTasks
        const event = yield* verified(made, ...(yield* prepare(made)))
        assert.containSubset(event, { _tag: "ClaimsRejected", reason })
        assert.strictEqual(event._tag === "ClaimsRejected" ? event.task : "none", of)
      })
    )
  }

  it.effect("accepts a task that is claimed again, with its own earlier commit or a new one", () =>
    Effect.gen(function* () {
      const made = yield* withTasks
      const earlier = [task("T1", made.first)]
      for (const commit of [made.first, made.second]) {
        const event = yield* verified(made, made.base, [task("T1", commit)], { earlier })
        assert.strictEqual(event._tag, "ClaimsVerified")
      }
    })
  )
})
