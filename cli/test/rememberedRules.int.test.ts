import { chmodSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heldBackOnly, ruleBook } from "../src/system/agents/ruleBook.ts"
import { trustedSettings } from "../src/trust/trustedSettings.ts"
import { untrusted } from "../src/trust/trustStore.ts"
import { configOf, layerOf, type Values } from "./support/layers.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()

const settingsOf = (values: Values = {}) => configOf(layerOf(values)).settings
/** As a process finds them that starts now. */
const remembered = (of = scratch.project) =>
  Effect.map(ruleBook({ project: of, settings: settingsOf() }).rules, ({ remembered }) =>
    remembered.map(({ kind, what }) => `${kind} ${what}`)
  )
const remember = (...whats: ReadonlyArray<string>) =>
  ruleBook({ project: scratch.project, settings: settingsOf() }).remember(
    whats.map((what) => ({ kind: "command", what }))
  )

const folder = () => join(scratch.userFolder, "permissions")
const file = () => join(folder(), readdirSync(folder())[0] ?? "")
describe("a rule that was written at the gate", () => {
  it.effect("holds for whoever works in the clone next, and is in no file of the repository", () =>
    Effect.gen(function* () {
      yield* remember("npm test")
      assert.deepStrictEqual(yield* remembered(), ["command npm test"])
      assert.deepStrictEqual(readdirSync(scratch.project.root), [".git"])
    })
  )

  it.effect("is in a file that only the user can read, in a folder that only the user can list", () =>
    Effect.gen(function* () {
      yield* remember("npm test")
      assert.strictEqual(statSync(file()).mode & 0o777, 0o600)
      assert.strictEqual(statSync(folder()).mode & 0o777, 0o700)
    })
  )

  it.effect("is written once, also when several are answered at the same moment", () =>
    Effect.gen(function* () {
      const book = ruleBook({ project: scratch.project, settings: settingsOf() })
      const all = ["a", "b", "a", "c"].map((what) => book.remember([{ kind: "command", what }]))
      yield* Effect.all(all, { concurrency: "unbounded" })
      assert.deepStrictEqual((yield* remembered()).toSorted(), ["command a", "command b", "command c"])
    })
  )

  it.effect("does not hold in a copy of the clone, nor when its file is damaged or writable by others", () =>
    Effect.gen(function* () {
      yield* remember("npm test")
      const copy = join(scratch.folder, "copy")
      cpSync(scratch.project.root, copy, { recursive: true })
      assert.deepStrictEqual(yield* remembered({ root: copy, directory: join(copy, ".reprise") }), [])
      chmodSync(file(), 0o666)
      assert.deepStrictEqual(yield* remembered(), [])
      chmodSync(file(), 0o600)
      writeFileSync(file(), "{")
      assert.deepStrictEqual(yield* remembered(), [])
    })
  )

  it.effect("allows nothing where a command only looks, which keeps to what is held back", () =>
    Effect.gen(function* () {
      yield* remember("npm test")
      const settings = settingsOf({ "permissions.allow.commands": ["ls"], "permissions.deny.commands": ["rm *"] })
      const rules = yield* heldBackOnly(settings).rules
      assert.deepStrictEqual([rules.remembered, rules.allow.commands, rules.deny.commands], [[], [], ["rm *"]])
    })
  )

  it.effect("cannot be remembered outside of a clone, where the others hold", () =>
    Effect.gen(function* () {
      const root = join(scratch.folder, "elsewhere")
      mkdirSync(root)
      const settings = settingsOf({ "permissions.allow.commands": ["ls"] })
      const book = ruleBook({ project: { root, directory: join(root, ".reprise") }, settings })
      yield* book.remember([{ kind: "command", what: "npm test" }])
      const rules = yield* book.rules
      assert.deepStrictEqual([rules.remembered, rules.allow.commands], [[], ["ls"]])
    })
  )
})

describe("rules of a file that git tracks", () => {
  it.effect("need trust if they allow something, and none if they hold back", () =>
    Effect.gen(function* () {
      scratch.track("reprise.toml", "")
      const lists = { commands: ["ls *"], files: ["docs/**"], addresses: ["example.org"] }
      const of = (verdict: string) =>
        Object.fromEntries(Object.entries(lists).map(([kind, list]) => [`permissions.${verdict}.${kind}`, list]))
      const config = configOf(layerOf({ ...of("allow"), ...of("ask"), ...of("deny") }))
      const { settings } = yield* untrusted(scratch.project, trustedSettings(config))
      assert.deepStrictEqual(
        settings.map(({ setting }) => setting),
        ["permissions.allow.commands", "permissions.allow.files", "permissions.allow.addresses"]
      )
    })
  )
})
