import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const decodeFailure = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      ok: Schema.Literal(false),
      error: Schema.Struct({ code: Schema.String, message: Schema.NonEmptyString, hint: Schema.NonEmptyString })
    })
  )
)

interface Case {
  readonly what: string
  /** A command that comes before. */
  readonly first?: ReadonlyArray<string>
  readonly prepare?: (world: World) => void
  readonly args: ReadonlyArray<string>
  readonly code: number
  readonly says: RegExp
}

const write = (name: string, text: string) => (world: World) => writeFileSync(join(world.root, name), text)
const commit = (name: string, text: string) => (world: World) => {
  write(name, text)(world)
  world.git("add", "--all")
  world.git("commit", "--quiet", "--message", name)
}

const cases: ReadonlyArray<Case> = [
  { what: "no plan given", args: ["run"], code: 2, says: /PLAN/ },
  { what: "a plan that is not there", args: ["run", "NO.md"], code: 2, says: /no plan at NO\.md/i },
  {
    what: "an invalid plan, with line and column",
    prepare: commit("BAD.md", "# T\n\n## Phase 1: A\n\n- [ ] x\n\n## Phase 1: B\n\n- [ ] y\n"),
    args: ["run", "BAD.md"],
    code: 2,
    says: /BAD\.md:7:\d+/
  },
  {
    what: "a dirty tree",
    prepare: write("left.txt", "over"),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /not clean[\s\S]*left\.txt/
  },
  { what: "an unknown flag", args: ["run", "PLAN.md", "--frobnicate"], code: 2, says: /no flag --frobnicate/ },
  {
    what: "an unknown command, and nothing else wrong with it",
    args: ["rnu", "PLAN.md", "--auto"],
    code: 2,
    says: /^reprise: There is no command 'reprise rnu'\.\nDid you mean 'reprise run'\? 'reprise --help' lists the commands\.\n$/
  },
  {
    what: "a broken reprise.toml, with line and column",
    prepare: commit("reprise.toml", "permissions = = 1\n"),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /line 1, column \d+/
  },
  {
    what: "removing a rule that is not there, with where to look",
    args: ["permissions", "remove", "12345678"],
    code: 2,
    says: /No rule that was written at the gate has the id 12345678[\s\S]*'reprise permissions' lists them/
  },
  {
    what: "a server of a tracked file that nobody trusted, before anything is sent to it",
    prepare: commit("reprise.toml", '[nats]\nurl = "nats://user:secret@nowhere.invalid"\n'),
    args: ["status"],
    code: 3,
    says: /reprise\.toml, nats\.url[\s\S]*reprise trust/
  },
  {
    what: "a .reprise of a newer version",
    first: ["prompts", "eject", "work"],
    prepare: (world) => {
      writeFileSync(join(world.root, ".reprise", "version.json"), '{ "format": 999 }')
      world.git("config", "core.excludesFile", "/dev/null")
    },
    args: ["run", "PLAN.md"],
    code: 3,
    says: /newer/
  },
  {
    what: "two things asked of trust at once",
    args: ["trust", "--list", "--revoke"],
    code: 2,
    says: /one thing at a time/
  },
  { what: "a service without the address of a server", args: ["serve", "gate"], code: 2, says: /REPRISE_NATS_URL/ },
  { what: "an unknown question", args: ["gate", "answer", "nobody-e1", "c"], code: 2, says: /no question/i },
  { what: "a hostile id", args: ["gate", "show", "a.b.*.>"], code: 2, says: /no question/i },
  { what: "an unknown run", args: ["status", "nobody"], code: 2, says: /no run/i }
]

describe("bad input is answered with the next step and the documented exit code", () => {
  for (const { args, code, first, prepare, says, what } of cases) {
    it.live(what, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), config: "", script: script() })
        if (first !== undefined) assert.strictEqual((yield* world.reprise(...first)).code, 0)
        prepare?.(world)
        const ended = yield* world.reprise(...args, "--json")
        assert.strictEqual(ended.code, code, `${ended.stdout}\n${ended.stderr}`)
        assert.match(ended.stderr, says)
        assert.notMatch(ended.stderr, /\n\s+at .*\.[jt]s:\d+/, "no stack trace")
        decodeFailure(ended.stdout.trim().split("\n").at(-1))
        assert.deepStrictEqual(yield* world.model.calls, [], "nothing is spent")
      })
    )
  }

  it.live("commands outside of a git repository are refused", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      rmSync(join(world.root, ".git"), { recursive: true })
      const ended = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(ended.code, 3)
      assert.match(ended.stderr, /not in a git repository[\s\S]*git init/)
      assert.isFalse(existsSync(join(world.root, ".reprise", "nats")))
    })
  )

  it.live("a bare repository, a repository without a commit and a plan of a nested repository are refused", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const at = (directory: string, ...args: ReadonlyArray<string>) =>
        world.repriseIn({ directory: join(world.root, "..", directory) }, ...args)
      world.git("clone", "--quiet", "--bare", ".", "../bare.git")
      const bare = yield* at("bare.git", "run", "PLAN.md")
      assert.strictEqual(bare.code, 3)
      assert.match(bare.stderr, /bare\.git has no working tree: it is a bare repository[\s\S]*clone/)

      world.git("clone", "--quiet", ".", "nested")
      const inside = yield* at("repository", "run", "nested/PLAN.md", "--allow-dirty")
      assert.strictEqual(inside.code, 2)
      assert.match(inside.stderr, /another repository, .*nested[\s\S]*cd /)

      world.git("init", "--quiet", "../unborn")
      writeFileSync(join(world.root, "..", "unborn", "PLAN.md"), plan("One"))
      const unborn = yield* at("unborn", "run", "PLAN.md", "--allow-dirty")
      assert.strictEqual(unborn.code, 3)
      assert.match(unborn.stderr, /no commit yet[\s\S]*git commit/)
      assert.deepStrictEqual(yield* world.model.calls, [], "nothing is spent")
    })
  )

  it.live("nothing starts while the storage quota is used up (10077), and the run starts once there is room", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const small = { environment: { REPRISE_NATS_STORE_MAX_BYTES: "20000" } }
      const full = yield* world.repriseIn(small, "run", "PLAN.md")
      assert.strictEqual(full.code, 3, full.stderr)
      assert.match(full.stderr, /space|storage|quota/i)
      assert.deepStrictEqual(yield* world.model.calls, [], "nothing is spent")
      for (const looking of [["status"], ["prune", "--days", "0", "--yes"]]) {
        const looked = yield* world.reprise(...looking)
        assert.strictEqual(looked.code, 0, looked.stderr)
      }
      const roomy = { environment: { REPRISE_NATS_STORE_MAX_BYTES: "500000000" } }
      const ended = yield* world.repriseIn(roomy, "run", "PLAN.md")
      assert.strictEqual(ended.code, 0, ended.stderr)
    })
  )
})
