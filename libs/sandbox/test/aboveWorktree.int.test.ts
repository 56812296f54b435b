/**
 * A run in a worktree lies below the repository's own working tree, in which node, npm, cargo and others look for packages and
 * settings. Commands read what is there, as their user has left it, and cannot change it.
 */
import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canSandbox } from "../src/testing/index.ts"

const run = promisify(execFile)

const sandboxed = await canSandbox()

/** What tools read in folders above: some are there, the others a command would have to make. */
const present = ["package.json", ".npmrc", "node_modules/tool/index.js", ".cargo/config.toml"]
const absent = ["tsconfig.json", "conftest.py", ".yarnrc.yml", "node_modules/other/index.js", ".cargo/credentials.toml"]
const between = [".reprise/package.json", ".reprise/worktrees/package.json", ".reprise/node_modules/tool/index.js"]

const scene = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-above-")))
    const [home, main] = [join(root, "home"), join(root, "home", "main")]
    const worktree = join(main, ".reprise", "worktrees", "r1")
    mkdirSync(home)
    for (const path of present) {
      mkdirSync(dirname(join(main, path)), { recursive: true })
      writeFileSync(join(main, path), "of the user\n")
    }
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.invalid", ...args], { cwd: main, stdio: "pipe" })
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("worktree", "add", "-q", worktree)
    return { root, home, main, worktree }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe.skipIf(!sandboxed)("a command in a worktree", () => {
  it.live.each(["author", "reviewer", "gate"] as const)(
    "reads what lies above, and changes nothing there: of %s",
    (whose) =>
      Effect.gen(function* () {
        const { home, main, worktree } = yield* scene
        const layer = layerSandbox({
          mode: "required",
          settings: { write: [], read: [], deny: [], network: [] },
          gates: true,
          stateDirectory: join(main, ".reprise"),
          environment: { ...process.env, HOME: home }
        })
        const { stdout } = yield* Sandbox.use((sandbox) =>
          whose === "gate" ? sandbox.gateShell(worktree, RunId.make("r1")) : sandbox.shellFor(worktree, whose)
        ).pipe(
          Effect.flatMap((program) =>
            Effect.promise(() => {
              const writes = [...present, ...absent, ...between].map(
                (path) => `mkdir -p ${join(main, dirname(path))}; echo of a command > ${join(main, path)}`
              )
              const moves = [`mv ${main}/node_modules ${main}/gone`, `rm -rf ${main}/.cargo`, "echo x > own.txt"]
              const command = `( ${[...writes, ...moves].join("\n")} ) >/dev/null 2>&1; cat ${main}/package.json`
              return run(program, ["-c", command], {
                cwd: worktree,
                env: { ...process.env, HOME: home },
                timeout: 60_000
              })
            })
          ),
          Effect.provide(layer)
        )
        assert.strictEqual(stdout, "of the user\n")
        assert.isTrue(existsSync(join(worktree, "own.txt")), "the commands ran")
        assert.deepStrictEqual(
          present.map((path) => readFileSync(join(main, path), "utf8")),
          present.map(() => "of the user\n")
        )
        assert.deepStrictEqual(
          [...absent, ...between].filter((path) => existsSync(join(main, path))),
          []
        )
      })
  )
})
