/** Sockets of the machine's programs that the kernel does not list by their path, and those that a command moves. */
import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, run, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const server = `require("node:net").createServer((client) => client.on("error", () => {}).end("${canary}\\n")).listen(process.argv[1], () => console.log("listening"))`

/** Whoever connects is answered with the canary, until the scope closes. `by`: the program that starts the server. */
const listening = (path: string, cwd: string, by: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof spawn>>((resume) => {
      const [program = "", ...args] = [...by, process.execPath, "-e", server, path]
      const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] })
      child.stdout.once("data", () => resume(Effect.succeed(child)))
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const asInContainer = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--unshare-net", "--die-with-parent", "--"]

const knock = (path: string) => `socat -T 3 - UNIX-CONNECT:${path} </dev/null`

const folderIn = (root: string, path: string) => {
  mkdirSync(join(root, path), { recursive: true })
  return join(root, path)
}

const saidOf = (here: Scene, command: string) => during(here, (sandbox) => runIn(here, sandbox, command))

describe.skipIf(!sandboxed)("a command does not reach a socket", () => {
  it.live.each(["home", "workspace"] as const)("that was bound by its name alone, in the %s", (where) =>
    Effect.gen(function* () {
      const here = yield* scene
      const folder = folderIn(here[where], "srv/deep")
      yield* listening("s", folder)
      assert.include(yield* run(here, "/bin/sh", knock(`${folder}/s`)), canary, "somebody answers there")
      assert.notInclude(yield* saidOf(here, knock(`${folder}/s`)), canary)
    })
  )

  it.live.each(["home", "workspace"] as const)("of a container, in the %s", (where) =>
    Effect.gen(function* () {
      const here = yield* scene
      const folder = folderIn(here[where], "srv/deep")
      yield* listening(join(folder, "s"), folder, asInContainer)
      assert.include(yield* run(here, "/bin/sh", knock(`${folder}/s`)), canary, "somebody answers there")
      assert.notInclude(yield* saidOf(here, knock(`${folder}/s`)), canary)
    })
  )

  it.live("whose folder an earlier command of the program moved", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const folder = folderIn(here.workspace, "state/db")
      yield* listening(join(folder, "s"), folder)
      const said = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const program = yield* sandbox.shellFor(here.workspace, "author")
          yield* run(here, program, "mv state/db state/out; mv state out-state")
          return yield* run(
            here,
            program,
            ["out-state/out/s", "out-state/db/s", "state/out/s", "state/db/s"].map(knock).join("; ")
          )
        })
      )
      assert.notInclude(said, canary)
    })
  )
})

describe.skipIf(!sandboxed)("a command", () => {
  it.live("removes the socket that an earlier one left behind", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const make =
        "socat UNIX-LISTEN:left EXEC:true & until [ -S left ]; do :; done; kill -9 $!; wait; [ -S left ] && echo made"
      assert.include(yield* saidOf(here, make), "made")
      assert.include(yield* saidOf(here, "rm left && echo removed"), "removed")
    })
  )
})
