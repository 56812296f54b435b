import { randomUUID } from "node:crypto"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { issueSession, noneEnded } from "../src/console/session.ts"
import { openEndedFile } from "../src/work/console/endedFile.ts"
import { signWith } from "../src/work/signing.ts"
import { openWith, world } from "./support/consoleOverMemory.ts"

const viewerToken = "the token of viewers"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-ended-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const opened = (endedFile: string, sessions = 64, answerKey?: Redacted.Redacted) => {
  const own = answerKey === undefined ? {} : { answerKey }
  const options = { endedFile, viewerToken: Redacted.make(viewerToken), limits: { sessions }, ...own }
  return Effect.map(openWith(options), (console) => ({
    ...console,
    statusOf: (session: string) =>
      Effect.map(console.send("GET", "/api/session", { "x-reprise-session": session }), ({ status }) => status),
    signOut: (session: string) =>
      Effect.map(
        console.send("DELETE", "/api/session", { ...console.own, "x-reprise-session": session }),
        ({ status }) => status
      )
  }))
}

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

    it.effect("is one, too, that whoever has a token made of it, without signing in", () =>
      Effect.gen(function* () {
        const answerKey = Redacted.make("a key that the console alone has")
        const { signInWith, statusOf } = yield* opened(join(yield* folder, "console-ended.json"), 64, answerKey)
        const forged = issueSession(randomUUID(), yield* Clock.currentTimeMillis, signWith(Redacted.make(viewerToken)))
        assert.strictEqual(yield* statusOf(forged), 401)
        assert.strictEqual(yield* statusOf(yield* signInWith(viewerToken)), 200)
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

    it.effect("is written down with all that end meanwhile, however many they are", () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "console-ended.json")
        const { save } = yield* openEndedFile(file, 0)
        const claims: Array<string> = []
        let written = 0
        const end = (n: number) =>
          Effect.suspend(() => {
            claims.push(`${n}.0`)
            return save(() => {
              written += 1
              return { answerer: noneEnded, viewer: { claims: [...claims], throughMs: 0 } }
            })
          })
        yield* Effect.forEach(
          Array.from({ length: 500 }, (_, n) => n),
          end,
          { concurrency: "unbounded" }
        )
        assert.strictEqual(written, 2)
        assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).viewer.claims.length, 500)
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
