import { execFile } from "node:child_process"
import { mkdir, readdir, readFile, symlink, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import type { StateFileProblem, WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { excludePatterns } from "../src/work/files/ownFiles.ts"
import { writeContinuationState } from "../src/work/phase/writeContinuationState.ts"
import { phase, runId } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

type Write = Extract<WorkspaceCommand, { readonly _tag: "WriteContinuationState" }>

const folder = ".planning/phases/01-auth"
const path = `${folder}/.continuation-state.json`

const reached: Write = {
  _tag: "WriteContinuationState",
  runId,
  phase,
  planId: "02-01",
  slug: "auth",
  completedTasks: [{ id: "02-01-T1", commit: "abc1234", files: ["src/auth/discord.ts"] }],
  checkpoint: { task: "02-01-T3", type: "human-verify", description: "Look" },
  resumeAt: "02-01-T3"
}
const resolved: Write = { ...reached, resolution: "passed", resumeAt: "02-01-T4" }

const readState = (made: Repository) =>
  Effect.promise(async (): Promise<unknown> => JSON.parse(await readFile(join(made.root, path), "utf8")))

const resolvedState = {
  plan_id: "02-01",
  completed_tasks: [{ id: "02-01-T1", commit: "abc1234", files: ["src/auth/discord.ts"] }],
  checkpoint: { task: "02-01-T3", type: "human-verify", resolution: "passed" },
  resume_at: "02-01-T4"
}

layer(adapters, { excludeTestServices: true })("writing the continuation state", (it) => {
  it.effect("writes the fields of the contract, and leaves no temporary file", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const first = yield* writeContinuationState(reached, made.place)
      assert.containSubset(first, { _tag: "ContinuationStateWritten", path })
      assert.notProperty(first, "replaced")
      const second = yield* writeContinuationState({ ...resolved, ...expecting(first) }, made.place)
      assert.notProperty(second, "replaced")
      assert.deepStrictEqual(yield* readState(made), resolvedState)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(made.root, folder))), [
        ".continuation-state.json"
      ])
    })
  )

  it.effect("reports no damage when it is repeated after a crash", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const first = yield* writeContinuationState(reached, made.place)
      const again = { ...resolved, ...expecting(first) }
      assert.deepStrictEqual(
        yield* writeContinuationState(again, made.place),
        yield* writeContinuationState(again, made.place)
      )
    })
  )

  const damage: ReadonlyArray<readonly [StateFileProblem["code"], (text: string) => string | undefined]> = [
    ["lost", () => undefined],
    ["edited", (text) => text.replace("abc1234", "fff1234")],
    ["truncated", (text) => text.slice(0, 80)],
    ["truncated", () => ""],
    ["corrupt", (text) => text.replace(":", ";")],
    ["invalid", (text) => text.replace('"02-01-T1"', "7")],
    ["another-plan", (text) => text.replace('"02-01"', '"03-01"')],
    ["newer-version", (text) => text.replace("{", '{ "version": 2,')]
  ]
  for (const [code, spoil] of damage) {
    it.effect(`reports a file that is ${code} with the reason, and writes it again without losing anything`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        const first = yield* writeContinuationState(reached, made.place)
        const text = yield* Effect.promise(() => readFile(join(made.root, path), "utf8"))
        const spoilt = spoil(text)
        if (spoilt === undefined) yield* made.remove(path)
        else yield* Effect.promise(() => writeFile(join(made.root, path), spoilt))
        const event = yield* writeContinuationState({ ...resolved, ...expecting(first) }, made.place)
        assert.strictEqual(event.replaced?.code, code)
        assert.isNotEmpty(event.replaced?.detail)
        assert.deepStrictEqual(yield* readState(made), resolvedState)
      })
    )
  }

  const odd: ReadonlyArray<readonly [string, (made: Repository) => Promise<unknown>]> = [
    ["a link that leads out of the workspace", (made) => symlink("/etc/passwd", join(made.root, path))],
    ["a link to itself", (made) => symlink(".continuation-state.json", join(made.root, path))],
    ["a pipe", (made) => promisify(execFile)("mkfifo", [join(made.root, path)])],
    ["a huge file", (made) => writeFile(join(made.root, path), "").then(() => truncate(join(made.root, path), 5e9))],
    ["JSON without end", (made) => writeFile(join(made.root, path), `{"a":${"[".repeat(1_000_000)}}`)],
    ["an empty directory", (made) => mkdir(join(made.root, path))]
  ]
  for (const [name, put] of odd) {
    it.effect(`reports ${name} in the place of the file with the reason, and writes the file`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        const first = yield* writeContinuationState(reached, made.place)
        yield* made.remove(path)
        yield* Effect.promise(() => put(made))
        const event = yield* writeContinuationState({ ...resolved, ...expecting(first) }, made.place)
        assert.isNotEmpty(event.replaced?.detail)
        assert.deepStrictEqual(yield* readState(made), resolvedState)
      })
    )
  }

  it.effect("fails when a directory with something in it is in the place of the file, and keeps that", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(`${path}/notes.md`, "mine")
      const failure = yield* Effect.flip(writeContinuationState(reached, made.place))
      assert.match(failure.message, /continuation-state\.json is a directory/)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(made.root, folder))), [
        ".continuation-state.json"
      ])
    })
  )

  it.effect("replaces the state that an earlier run of the same plan left, and reports that of another plan", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* writeContinuationState(resolved, made.place)
      assert.notProperty(yield* writeContinuationState(reached, made.place), "replaced")
      const other = yield* writeContinuationState({ ...reached, planId: "03-01" }, made.place)
      assert.strictEqual(other.replaced?.code, "another-plan")
    })
  )

  it.effect("writes a file that an agent's git add --all does not stage, and neither is a summary", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(".git/info/exclude", `${excludePatterns.join("\n")}\n`)
      yield* writeContinuationState(reached, made.place)
      yield* made.write(`${folder}/SUMMARY.md`, "# Summary\n")
      yield* made.write(`${folder}/PLAN.md`, "# Not ours\n")
      yield* made.git("add", "--all")
      assert.strictEqual(yield* made.git("status", "--porcelain"), `A  ${folder}/PLAN.md`)
    })
  )
})

const expecting = ({ digest }: { readonly digest: string }) => ({ expected: digest })
