// @module-tag long
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

/** Writes each notice to a file: what it was called with, one argument a line. */
const recorder = '#!/bin/sh\nprintf "%s\\n" "$@" >> "$0.calls"\n'

/** `reprise up --web` on a port that is known beforehand. Another program may take it first: then on another one. */
const startOnKnownPort = Effect.fnUntraced(function* (world: World, environment: Readonly<Record<string, string>>) {
  while (true) {
    const port = yield* freePort
    const up = yield* world.startIn({ environment }, "up", "--web", "--port", `${port}`)
    const [said] = yield* up.waitFor(/Web console on|The console cannot listen/)
    if (said === "Web console on") return { up, port }
  }
})

describe("a notice on the desktop, under up --web", () => {
  it.live("ends with a link to its question in the console of this machine, which answers there", () =>
    Effect.gen(function* () {
      const config = 'permissions = "all"\n[notify.channels.here]\npreset = "desktop"\n'
      const world = yield* makeWorld({ ...oneQuestion, config })
      const programs = join(world.root, "..", "programs")
      mkdirSync(programs)
      for (const name of ["notify-send", "osascript"]) {
        writeFileSync(join(programs, name), recorder)
        chmodSync(join(programs, name), 0o700)
      }
      const { port, up } = yield* startOnKnownPort(world, { PATH: `${programs}:${world.environment["PATH"]}` })
      yield* up.waitFor(/Serving/)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      const [question] = yield* world.questions
      const calls = `${join(programs, process.platform === "darwin" ? "osascript" : "notify-send")}.calls`
      const link = `http://127.0.0.1:${port}/questions/${question?.escalationId}`
      const text = yield* waitUntil(
        Effect.sync(() =>
          existsSync(calls) && readFileSync(calls, "utf8").includes(link) ? readFileSync(calls, "utf8") : undefined
        )
      )
      const lines = text.trimEnd().split("\n")
      assert.match(lines.find((line) => line.startsWith("Reprise needs you")) ?? "", /A plan, phase 1/)
      assert.strictEqual(lines.at(-1), link, "the link is its last line")
      const page = yield* Effect.promise(() => fetch(link, { headers: { accept: "text/html" } }))
      assert.strictEqual(page.status, 200)
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
      assert.notInclude(text, readFileSync(join(world.root, ".reprise", "console.token"), "utf8").trim())
    })
  )
})
