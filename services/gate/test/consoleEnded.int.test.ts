import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { openWith, world } from "./support/consoleOverMemory.ts"

const viewerToken = "the token of viewers"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-ended-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const opened = (endedFile: string, sessions = 64) =>
  Effect.map(openWith({ endedFile, viewerToken: Redacted.make(viewerToken), limits: { sessions } }), (console) => ({
    ...console,
    statusOf: (session: string) =>
      Effect.map(console.send("GET", "/api/session", { "x-reprise-session": session }), ({ status }) => status),
    signOut: (session: string) =>
      Effect.map(
        console.send("DELETE", "/api/session", { ...console.own, "x-reprise-session": session }),
        ({ status }) => status
      )
  }))

describe("a session that has ended", () => {
  layer(world, { excludeTestServices: true, timeout: "1 minute" })("over a broker in memory", (it) => {
    it.effect("stays ended when the console starts again, of whatever role, and others go on", () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "console-ended.json")
        const sessions = yield* Effect.gen(function* () {
          const { signIn, signInWith, signOut, statusOf } = yield* opened(file)
          const [out, on, viewerOut, viewerOn] = [
            yield* signIn,
            yield* signIn,
            yield* signInWith(viewerToken),
            yield* signInWith(viewerToken)
          ]
          assert.deepStrictEqual([yield* signOut(out), yield* signOut(viewerOut)], [204, 204])
          const all = [out, on, viewerOut, viewerOn]
          assert.deepStrictEqual(yield* Effect.forEach(all, statusOf), [401, 200, 401, 200])
          return all
        }).pipe(Effect.scoped)
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        for (const session of sessions) assert.notInclude(readFileSync(file, "utf8"), session)
        const { statusOf } = yield* opened(file)
        assert.deepStrictEqual(yield* Effect.forEach(sessions, statusOf), [401, 200, 401, 200])
      })
    )

    it.effect("for which another one took the place stays ended, too", () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "console-ended.json")
        const sessions = yield* Effect.gen(function* () {
          const { signIn, statusOf } = yield* opened(file, 1)
          const all = [yield* signIn, yield* signIn]
          assert.deepStrictEqual(yield* Effect.forEach(all, statusOf), [200, 200])
          return all
        }).pipe(Effect.scoped)
        const { statusOf } = yield* opened(file)
        assert.deepStrictEqual(yield* Effect.forEach(sessions, statusOf), [401, 200])
      })
    )

    it.effect.each([
      ["is damaged", (file: string) => writeFileSync(file, "{", { mode: 0o600 })],
      [
        "can be written by others",
        (file: string) => {
          writeFileSync(file, '{"version":1}')
          chmodSync(file, 0o666)
        }
      ]
    ] as const)("is every one when the file of them %s, and a new one counts", ([, spoil]) =>
      Effect.gen(function* () {
        const file = join(yield* folder, "console-ended.json")
        const session = yield* opened(file).pipe(
          Effect.flatMap(({ signIn }) => signIn),
          Effect.scoped
        )
        spoil(file)
        const { signIn, statusOf } = yield* opened(file)
        assert.strictEqual(yield* statusOf(session), 401)
        assert.strictEqual(yield* statusOf(yield* signIn), 200)
      })
    )
  })
})
