import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
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
  readonly environment?: (world: World) => Readonly<Record<string, string>>
  readonly args: ReadonlyArray<string>
  /** Default: the shared server, which no case reaches. */
  readonly openCode?: "own"
  readonly code: number
  readonly says: RegExp
}

const write = (name: string, text: string) => (world: World) => writeFileSync(join(world.root, name), text)
const commit = (name: string, text: string) => (world: World) => {
  write(name, text)(world)
  world.git("add", "--all")
  world.git("commit", "--quiet", "--message", name)
}

const references = (count: number): string =>
  Array.from({ length: count }, (_, n) => `[a${n}]: b\n\n[a${n}]\n\n`).join("")

const cases: ReadonlyArray<Case> = [
  { what: "no plan given", args: ["run"], code: 2, says: /PLAN/ },
  { what: "a plan that is not there", args: ["run", "NO.md"], code: 2, says: /no plan at NO\.md/i },
  {
    what: "a named pipe as the plan",
    prepare: (world) => {
      execFileSync("mkfifo", [join(world.root, "PIPE.md")])
    },
    args: ["run", "PIPE.md"],
    code: 2,
    says: /PIPE\.md is a named pipe/
  },
  {
    what: "a device as the manifest that init looks into",
    prepare: ({ root }) => {
      rmSync(join(root, "reprise.toml"))
      symlinkSync("/dev/zero", join(root, "package.json"))
    },
    args: ["init"],
    code: 3,
    says: /package\.json is a device\./
  },
  {
    what: "a named pipe for which git would wait forever",
    prepare: ({ root }) => {
      writeFileSync(join(root, "new.txt"), "")
      execFileSync("mkfifo", [join(root, ".gitignore")])
    },
    args: ["run", "PLAN.md"],
    code: 3,
    says: /\.gitignore is a named pipe\. Move it out of the way\.\nGit would wait for it forever\./
  },
  {
    what: "a plan that is too large",
    prepare: commit("LARGE.md", `${plan("One")}${"A line of prose.\n\n".repeat(20_000)}`),
    args: ["run", "LARGE.md"],
    code: 2,
    says: /LARGE\.md:1:1 the plan has \d+ characters, more than the 262144 allowed/
  },
  {
    what: "a plan with a megabyte of references",
    prepare: commit("LARGE.md", `${plan("One")}${references(45_000)}`),
    args: ["run", "LARGE.md"],
    code: 2,
    says: /LARGE\.md is larger than the 256 KB that a plan may have/
  },
  { what: "an empty plan", prepare: commit("EMPTY.md", ""), args: ["run", "EMPTY.md"], code: 2, says: /EMPTY\.md:1:1/ },
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
  { what: "a flag with a typo", args: ["run", "PLAN.md", "--atuo"], code: 2, says: /--atuo[\s\S]*mean '--auto'/ },
  {
    what: "an unknown command, and nothing else wrong with it",
    args: ["rnu", "PLAN.md", "--auto"],
    code: 2,
    says: /^reprise: There is no command 'reprise rnu'\.\nDid you mean 'reprise run'\? 'reprise --help' lists the commands\.\n$/
  },
  {
    what: "an unknown subcommand",
    args: ["gate", "lst"],
    code: 2,
    says: /no command 'reprise gate lst'\.\nDid you mean 'reprise gate list'/
  },
  {
    what: "a broken reprise.toml, with line and column",
    prepare: commit("reprise.toml", "permissions = = 1\n"),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /line 1, column \d+/
  },
  {
    what: "an unknown key in reprise.toml, with a suggestion",
    prepare: commit("reprise.toml", '[gates]\nqualty = ["true"]\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /gates\.qualty[\s\S]*gates\.quality/
  },
  {
    what: "a value where reprise.toml has a section, with its line",
    prepare: commit("reprise.toml", 'permissions = "ask"\ngates = 3\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /reprise\.toml, line 2: 'gates' is a section/
  },
  {
    what: "a wrong type in reprise.toml, with its line",
    prepare: commit("reprise.toml", '[gates]\nquality = "npm test"\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /reprise\.toml, line 2: gates\.quality is not valid: Expected array, got "npm test"/
  },
  {
    what: "a negative number in the environment",
    environment: () => ({ REPRISE_LIMITS_MAX_STEP_VISITS: "-1" }),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /REPRISE_LIMITS_MAX_STEP_VISITS is not valid: .*got -1/
  },
  {
    what: "permissions of a tracked file that nobody trusted",
    prepare: commit("reprise.toml", 'permissions = "workspace"\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /reprise\.toml, permissions:\n {2}workspace[\s\S]*reprise trust/
  },
  {
    what: "rules of a tracked file that allow something, which nobody trusted",
    prepare: commit("reprise.toml", '[permissions.allow]\ncommands = ["*"]\n[permissions.deny]\ncommands = ["rm *"]\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /reprise\.toml, permissions\.allow\.commands:\n {2}\*\n[\s\S]*reprise trust/
  },
  {
    what: "a rule with a chain of commands, saying what it expects",
    prepare: commit("reprise.toml", '[permissions.allow]\ncommands = ["git status; rm -rf /"]\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /line 2: permissions\.allow\.commands is not valid: Expected a pattern for one command[\s\S]*A chain needs a rule/
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
    what: "an agent server of a tracked file that nobody trusted",
    prepare: commit("reprise.toml", '[opencode]\nurl = "http://nowhere.invalid"\n'),
    args: ["up"],
    openCode: "own",
    code: 3,
    says: /reprise\.toml, opencode\.url[\s\S]*reprise trust/
  },
  {
    what: "no nats-server to be had",
    environment: () => ({ REPRISE_NATS_SERVER: "/nowhere/nats-server" }),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /nats-server/
  },
  {
    what: "no OpenCode",
    environment: () => ({ REPRISE_OPENCODE: "/nowhere/opencode" }),
    openCode: "own",
    args: ["run", "PLAN.md"],
    code: 3,
    says: /OpenCode/
  },
  {
    what: "an OpenCode that does not start",
    prepare: (world) => {
      const path = join(world.root, "..", "broken-opencode")
      writeFileSync(path, "#!/bin/sh\necho 'cannot find my brain' >&2\nexit 7\n")
      chmodSync(path, 0o755)
    },
    environment: (world) => ({ REPRISE_OPENCODE: join(world.root, "..", "broken-opencode") }),
    openCode: "own",
    args: ["run", "PLAN.md"],
    code: 3,
    says: /cannot find my brain/
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
    what: "a .reprise that this machine did not make",
    prepare: (world) => {
      mkdirSync(join(world.root, ".reprise"), { recursive: true })
      writeFileSync(join(world.root, ".reprise", "endpoint.json"), "{}")
    },
    args: ["status"],
    code: 3,
    says: /\.reprise is not used: it has no signature of this machine[\s\S]*reprise trust --state/
  },
  {
    what: "a tracked .reprise",
    prepare: (world) => {
      mkdirSync(join(world.root, ".reprise"), { recursive: true })
      commit(".reprise/endpoint.json", "{}")(world)
    },
    args: ["run", "PLAN.md"],
    code: 3,
    says: /\.reprise is not used: git tracks files in it[\s\S]*git rm -r --cached \.reprise/
  },
  {
    what: "two things asked of trust at once",
    args: ["trust", "--list", "--revoke"],
    code: 2,
    says: /one thing at a time/
  },
  {
    what: "a model without its provider",
    args: ["run", "PLAN.md", "--model", "sonnet"],
    code: 2,
    says: /Expected provider\/model, got "sonnet"/
  },
  { what: "an unknown question", args: ["gate", "answer", "nobody-e1", "c"], code: 2, says: /no question/i },
  { what: "a hostile id", args: ["gate", "show", "a.b.*.>"], code: 2, says: /no question/i },
  { what: "an unknown run", args: ["status", "nobody"], code: 2, says: /no run/i },
  {
    what: "untrusted commands without a terminal",
    prepare: commit("reprise.toml", '[gates]\nquality = ["echo hi"]\n'),
    args: ["run", "PLAN.md"],
    code: 3,
    says: /reprise trust/
  }
]

describe("bad input is answered with the next step and the documented exit code", () => {
  for (const { args, code, environment, first, openCode = "shared", prepare, says, what } of cases) {
    it.live(what, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode, plan: plan("One"), config: "", script: script() })
        if (first !== undefined) assert.strictEqual((yield* world.reprise(...first)).code, 0)
        prepare?.(world)
        const ended = yield* world.repriseIn({ environment: environment?.(world) ?? {} }, ...args, "--json")
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

  it.live("a port that is taken is refused", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const taken = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(taken)))
        }),
        (taken) => Effect.sync(() => taken.close())
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const ended = yield* world.repriseIn({ environment: { REPRISE_NATS_PORT: `${port}` } }, "run", "PLAN.md")
      assert.strictEqual(ended.code, 3, ended.stderr)
      assert.match(ended.stderr, new RegExp(`${port}`))
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
