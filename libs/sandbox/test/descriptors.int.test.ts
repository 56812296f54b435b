/** Which open files of its program a command has. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import type { SandboxShape } from "../src/index.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, environmentOf } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** Starts a program with the home folder open under these numbers, as a person's shell may have it. */
const startedWith = (descriptors: ReadonlyArray<number>, program: string, words: ReadonlyArray<string>, here: Scene) =>
  Effect.callback<string>((resume) => {
    const opening = descriptors.map((at) => `${at}<"$HOME"`).join(" ")
    const all = ["-c", `exec ${opening}; exec "$0" "$@"`, program, ...words]
    const where = { cwd: here.workspace, env: environmentOf(here) }
    execFile("bash", all, where, (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr)))
  })

const reading = 'for at in /proc/self/fd/*; do cat "$at/.ssh/id_ed25519"; done; ls /proc/self/fd | tr "\\n" " "; echo'

const programs: ReadonlyArray<
  readonly [
    string,
    (sandbox: SandboxShape, here: Scene) => Effect.Effect<readonly [string, ReadonlyArray<string>], unknown>
  ]
> = [
  [
    "a command of an author",
    (sandbox, here) => Effect.map(sandbox.shellFor(here.workspace, "author"), (shell) => [shell, ["-c", reading]])
  ],
  [
    "a quality gate",
    (sandbox, here) =>
      Effect.map(sandbox.gateShell(here.workspace, RunId.make("r1")), (shell) => [shell, ["-c", reading]])
  ],
  [
    "an agent that runs inside as a whole",
    (sandbox, here) => {
      const own = { write: [], read: [], kept: [], apart: [], network: [] }
      const agent = { name: "one", directory: here.workspace, role: "author" as const, own, variables: [] }
      return Effect.map(sandbox.agentProgram?.(agent) ?? Effect.succeed("none"), (program) => [
        program,
        ["/bin/sh", "-c", reading]
      ])
    }
  ],
  [
    "the git of an agent's program",
    (sandbox, here) =>
      Effect.map(sandbox.programsFor(here.workspace, "author"), ({ git: folder }) => [
        join(folder, "git"),
        ["-c", `alias.look=!${reading}`, "look"]
      ])
  ]
]

describe.skipIf(!sandboxed)("what its program was started with", () => {
  it.live.each(programs)("%s does not have, but for input and output", ([, program]) =>
    Effect.flatMap(scene, (here) =>
      during(here, (sandbox) =>
        Effect.gen(function* () {
          const [path, words] = yield* program(sandbox, here)
          for (const descriptors of [[], [0], [3, 5, 9], [10, 63, 200]]) {
            const said = yield* startedWith(descriptors, path, words, here)
            assert.notInclude(said, canary, descriptors.join())
            // The list itself is open as 3.
            assert.match(said, /^0 1 2 3 $/m, descriptors.join())
          }
        })
      )
    ).pipe(Effect.scoped)
  )

  it.live("is a pipe or nothing where a command reads and writes", () =>
    Effect.flatMap(scene, (here) =>
      during(here, (sandbox) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const kinds = 'for at in 0 1 2; do stat -L -c %F "/proc/self/fd/$at"; done'
          const said = yield* startedWith([0], shell, ["-c", kinds], here)
          assert.strictEqual(said, "character special file\nfifo\nfifo\n")
        })
      )
    ).pipe(Effect.scoped)
  )
})
