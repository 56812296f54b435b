/** That what a command or an agent starts ends with it, also where it took over the first process that it sees. */
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { startOf } from "../src/command/bubblewrap.ts"
import { quoted } from "../src/command/shellWords.ts"
import { findUsability, type SandboxShape } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { takeover } from "../src/testing/takeover.ts"
import { during, environmentOf, run, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const commandLineOf = (pid: string) => {
  try {
    return readFileSync(join("/proc", pid, "cmdline"), "utf8")
  } catch {
    return ""
  }
}

/** How long its sleeping process sleeps tells a scene from others. */
const secondsOf = ({ port }: Scene) => `3598.${port}`

const goesOn = (here: Scene) =>
  readdirSync("/proc").some((pid) => /^\d+$/.test(pid) && commandLineOf(pid) === `sleep\0${secondsOf(here)}\0`)

const takesOver = (here: Scene) => `setsid sleep ${secondsOf(here)} >/dev/null 2>&1 </dev/null & sleep 0.1; ${takeover}`

const inSandbox = <A, E>(use: (sandbox: SandboxShape, here: Scene) => Effect.Effect<A, E>) =>
  Effect.flatMap(scene, (here) => during(here, (sandbox) => use(sandbox, here))).pipe(Effect.scoped)

/** The program as it is where bubblewrap does not start inside of itself. */
const withoutEnclosure = Effect.fnUntraced(function* (path: string) {
  const usability = yield* findUsability(process.env)
  const bubblewrap = usability._tag === "usable" ? usability.programs.bubblewrap : undefined
  assert.isTrue(bubblewrap?.isEnclosed, "bubblewrap does not start inside of itself here")
  if (bubblewrap === undefined) return
  const words = (isEnclosed: boolean) =>
    startOf({ ...bubblewrap, isEnclosed }, ["--json-status-fd", "4"])
      .map(quoted)
      .join(" ")
  const text = readFileSync(path, "utf8")
  assert.isTrue(text.includes(words(true)))
  writeFileSync(path, text.replace(words(true), words(false)))
})

/** Its exit code, or the signal that ended it. */
const ended = (program: string, words: ReadonlyArray<string>, here: Scene, shown?: string) =>
  Effect.callback<number | string>((resume) => {
    const child = spawn(program, words, {
      cwd: here.workspace,
      env: environmentOf(here),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"]
    })
    child.stdout.on("data", (text: Buffer) => {
      if (shown !== undefined && text.toString().includes(shown)) process.kill(-(child.pid ?? 0), "SIGKILL")
    })
    child.stderr.resume()
    child.once("close", (code, signal) => resume(Effect.succeed(code ?? signal ?? -1)))
  })

describe.skipIf(!sandboxed)("what a command leaves", () => {
  it.live("ends with it, though it took over the first process that it sees", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        yield* run(here, yield* sandbox.shellFor(here.workspace, "author"), takesOver(here))
        assert.isFalse(goesOn(here))
      })
    )
  )

  it.live("ends with it also where bubblewrap does not start inside of itself", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        yield* withoutEnclosure(shell)
        yield* run(here, shell, takesOver(here))
        assert.isFalse(goesOn(here))
      })
    )
  )

  it.live("ends when the command is killed with its group", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        const command = `${takesOver(here)}; echo begun; sleep 60`
        assert.strictEqual(yield* ended(shell, ["-c", command], here, "begun"), "SIGKILL")
        yield* until(() => !goesOn(here))
      })
    )
  )

  it.live("ends with an agent that runs inside as a whole", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const { agentProgram } = sandbox
        assert.isDefined(agentProgram)
        if (agentProgram === undefined) return
        const own = { write: [], read: [], kept: [], apart: [], network: [] }
        const agent = { name: "one", directory: here.workspace, role: "author" as const, own, variables: [] }
        const program = yield* agentProgram(agent)
        assert.strictEqual(yield* ended(program, ["/bin/sh", "-c", `${takesOver(here)}; exit 7`], here), 7)
        assert.isFalse(goesOn(here))
      })
    )
  )
})

describe.skipIf(!sandboxed)("how a command ends", () => {
  it.live("is told by its exit code, or by 128 and the number of its signal", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const shell = yield* sandbox.gateShell(here.workspace, RunId.make("r1"))
        const codes = yield* Effect.forEach(["exit 0", "exit 1", "exit 7", "kill -TERM $$", "kill -9 $$"], (command) =>
          ended(shell, ["-c", command], here)
        )
        assert.deepStrictEqual(codes, [0, 1, 7, 143, 137])
      })
    )
  )
})
