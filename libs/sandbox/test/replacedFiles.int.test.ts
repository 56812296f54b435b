/** A mount of a single file ends when somebody outside replaces the file: what a command can do then. */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, environmentOf, meanwhile, run, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()
/** As git, npm and editors write a file. */
const replace = (path: string, text: string) => {
  writeFileSync(`${path}.lock`, text)
  renameSync(`${path}.lock`, path)
}

const git = (here: Scene, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, { cwd: here.workspace, env: environmentOf(here), stdio: "pipe", encoding: "utf8" })

const refusedIn = ({ stateDirectory }: Scene) => {
  const folder = join(stateDirectory, "sandbox", "refused")
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))
}

describe.skipIf(!sandboxed)("a protected file that the user replaces while a command goes on", () => {
  it.live.each([
    ["opencode.json", ({ workspace }: Scene) => replace(join(workspace, "opencode.json"), "{ }")],
    ["tools/clean.js", ({ workspace }: Scene) => replace(join(workspace, "tools/clean.js"), "mine()")]
  ] as const)("is the one from before when the command has ended, and nothing is lost: %s", ([path, happens]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, path)
      const before = existsSync(place) ? readFileSync(place, "utf8") : ""
      const said = yield* during(here, ({ shellFor }) =>
        Effect.flatMap(shellFor(here.workspace, "author"), (shell) =>
          meanwhile(here, shell, () => happens(here), `echo '# ${canary}' >> ${path}`)
        )
      )
      assert.strictEqual(readFileSync(place, "utf8"), before)
      assert.isTrue(refusedIn(here).some((text) => text.includes(canary)))
      assert.match(said, /reprise: .*replaced while a command ran/)
    })
  )

  it.live("is the one from before when the command was killed", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, "opencode.json")
      const before = readFileSync(place, "utf8")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const wait = "touch out-begun; until [ -e out-happened ]; do sleep 0.02; done"
          const command = `${wait}; echo '# ${canary}' >> opencode.json; sleep 3600`
          const child = spawn(shell, ["-c", command], {
            cwd: here.workspace,
            env: environmentOf(here),
            detached: true,
            stdio: ["ignore", "pipe", "pipe"]
          })
          const said: Array<string> = []
          for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => said.push(String(text)))
          const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
          const tooSoon = Effect.flatMap(
            Effect.promise(() => ended),
            () => Effect.die(new Error(`The command ended: ${said.join("")}`))
          )
          yield* Effect.raceFirst(
            Effect.gen(function* () {
              yield* until(() => existsSync(join(here.workspace, "out-begun")))
              replace(place, "{ }")
              writeFileSync(join(here.workspace, "out-happened"), "")
              yield* until(() => readFileSync(place, "utf8").includes(canary))
            }),
            tooSoon
          )
          process.kill(-(child.pid ?? 0), "SIGKILL")
          yield* Effect.promise(() => ended)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(readFileSync(place, "utf8"), before, "at the end of the turn")
        })
      )
    })
  )

  it.live("is the user's between two commands, and the second one cannot change it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, "shared.gitconfig")
      yield* during(here, ({ shellFor }) =>
        Effect.gen(function* () {
          const shell = yield* shellFor(here.workspace, "author")
          yield* run(here, shell, "true")
          git(here, "config", "--file", "shared.gitconfig", "core.pager", "mine")
          yield* run(here, shell, `echo '# ${canary}' >> shared.gitconfig`)
          assert.include(readFileSync(place, "utf8"), "mine")
          yield* meanwhile(
            here,
            shell,
            () => git(here, "config", "--file", "shared.gitconfig", "user.name", "Ada"),
            `echo '# ${canary}' >> shared.gitconfig`
          )
        })
      )
      const text = readFileSync(place, "utf8")
      assert.include(text, "mine")
      assert.notInclude(text, canary)
    })
  )
})

describe.skipIf(!sandboxed)("a key that a program of the user writes anew while a command goes on", () => {
  it.live.each([".netrc", ".npmrc", ".git-credentials", ".claude/.credentials.json", ".docker/config.json", ".pgpass"])(
    "cannot be read: %s",
    (path) =>
      Effect.gen(function* () {
        const here = yield* scene
        const place = join(here.home, path)
        mkdirSync(dirname(place), { recursive: true })
        // The last one is not there when the command begins.
        if (path !== ".pgpass") writeFileSync(place, canary)
        const said = yield* during(here, ({ shellFor }) =>
          Effect.flatMap(shellFor(here.workspace, "author"), (shell) =>
            meanwhile(
              here,
              shell,
              () => replace(place, canary),
              `cat ${place}; grep -r ${canary.slice(0, 8)} ${here.home}`
            )
          )
        )
        assert.notInclude(said, canary)
      })
  )
})
