/** Where the file of an exported conversation is written. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { topFor, writeSessionFile } from "../src/flows/sessions/sessionFile.ts"

const places = Effect.acquireRelease(
  Effect.sync(() => {
    const top = realpathSync(mkdtempSync(join(tmpdir(), "reprise-export-")))
    const [root, elsewhere] = [join(top, "repository"), join(top, "elsewhere")]
    for (const folder of [root, elsewhere, join(elsewhere, "agent-sessions", "s1")])
      mkdirSync(folder, { recursive: true })
    return { top, root, elsewhere }
  }),
  ({ top }) => Effect.sync(() => rmSync(top, { recursive: true }))
)

const exported = (root: string, directory: string) =>
  writeSessionFile(topFor(directory, root), directory, "s1", "said\n")

describe("an exported conversation", () => {
  it.effect("is written for its owner alone, in folders that are made", () =>
    Effect.gen(function* () {
      const { root, top } = yield* places
      for (const directory of [root, join(root, "new", "folder"), join(top, "another", "folder")]) {
        const path = yield* exported(root, directory)
        assert.strictEqual(path, join(directory, "agent-sessions", "s1", "session.json"))
        assert.strictEqual(readFileSync(path, "utf8"), "said\n")
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      }
    })
  )

  it.effect.each(["agent-sessions", "agent-sessions/s1", "out", "out/agent-sessions"])(
    "goes nowhere else by a link that an agent made in the repository: %s",
    (link) =>
      Effect.gen(function* () {
        const { elsewhere, root } = yield* places
        mkdirSync(join(root, link, ".."), { recursive: true })
        symlinkSync(
          link === "agent-sessions/s1" ? join(elsewhere, "agent-sessions", "s1") : elsewhere,
          join(root, link)
        )
        const failure = yield* Effect.flip(exported(root, link.startsWith("out") ? join(root, "out") : root))
        assert.include(failure.message, `${link} is a link, and Reprise writes through none`)
        assert.isUndefined(statSync(join(elsewhere, "agent-sessions", "s1", "session.json"), { throwIfNoEntry: false }))
      })
  )

  it.effect("replaces a link of its own name, and follows the links of a folder that is not the repository's", () =>
    Effect.gen(function* () {
      const { elsewhere, root, top } = yield* places
      symlinkSync(join(elsewhere, "kept"), join(elsewhere, "agent-sessions", "s1", "session.json"))
      symlinkSync(elsewhere, join(top, "link"))
      yield* exported(root, join(top, "link"))
      assert.strictEqual(readFileSync(join(elsewhere, "agent-sessions", "s1", "session.json"), "utf8"), "said\n")
      assert.isUndefined(statSync(join(elsewhere, "kept"), { throwIfNoEntry: false }))
    })
  )
})
