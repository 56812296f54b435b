/** What the record of a killed command says that is too large to be read, or cannot be read for another reason. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { largestRecord, workspaceOf } from "../src/command/records.ts"
import { putAsideLeft } from "../src/replaced/leftovers.ts"
import { canSandbox, scene } from "../src/testing/index.ts"
import { during } from "./support/sandboxedScene.ts"

// No process has this number: the largest one is smaller.
const ofKilled = "begun-99999999"

let sandboxFolder = ""
let heard = ""
let settings = ""
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-records-")))
  sandboxFolder = join(folder, "sandbox")
  heard = join(sandboxFolder, "hosts", "1", "heard")
  settings = join(folder, "mise.toml")
  for (const path of [heard, join(sandboxFolder, "refused")]) mkdirSync(path, { recursive: true })
  writeFileSync(settings, "[hooks]\n")
})
afterEach(() => rmSync(join(sandboxFolder, ".."), { recursive: true, force: true }))

const unreadable: ReadonlyArray<readonly [title: string, make: (record: string) => void]> = [
  [
    "is too large",
    (record) => {
      writeFileSync(record, `workspace=/w\n${settings}\n`)
      truncateSync(record, largestRecord + 1)
    }
  ],
  ["is no file", (record) => mkdirSync(record)]
]

describe("a record of a killed command", () => {
  it.each(unreadable)("fails with a sentence that names it, and stays, where it %s", async (_, make) => {
    const record = join(heard, ofKilled)
    make(record)
    const failure = await putAsideLeft(sandboxFolder).catch((error) => error)
    assert.include(failure.message, `${record} says which files a command may not make, and cannot be read`)
    assert.isTrue(existsSync(record))
  })

  it("is settled beside one that cannot be read", async () => {
    mkdirSync(join(heard, "begun-99999998"))
    writeFileSync(join(heard, ofKilled), `workspace=/w\n${settings}\n`)
    const failure = await putAsideLeft(sandboxFolder).catch((error) => error)
    assert.instanceOf(failure, Error)
    assert.isFalse(existsSync(settings))
  })

  it("says in which workspace its command ran, however large it is", async () => {
    const record = join(heard, ofKilled)
    writeFileSync(record, `workspace=/w\n${settings}\n`)
    truncateSync(record, largestRecord + 1)
    assert.strictEqual(await workspaceOf(record), "/w")
    writeFileSync(record, "workspace=/w")
    assert.isUndefined(await workspaceOf(record), "it is not whole yet")
  })
})

describe.skipIf(!(await canSandbox()))("the folder of a process", () => {
  it.live("stays when the process ends and a record in it could not be settled", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const hosts = join(here.stateDirectory, "sandbox", "hosts")
      const failure = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* sandbox.shellFor(here.workspace, "author")
          const [own = ""] = readdirSync(hosts)
          mkdirSync(join(hosts, own, "heard", ofKilled))
          return yield* Effect.flip(sandbox.tidy(here.workspace))
        })
      )
      assert.include(failure.message, `${ofKilled} says which files a command may not make`)
      const [own = ""] = readdirSync(hosts)
      assert.isTrue(existsSync(join(hosts, own, "heard", ofKilled)))
    })
  )
})
