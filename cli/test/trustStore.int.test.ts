import {
  chmodSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { beforeEach } from "vitest"
import type { Source } from "../src/config/layers.ts"
import { type TrustedSetting, trustedSettings } from "../src/trust/trustedSettings.ts"
import { readTrust, removeTrust } from "../src/trust/trustFile.ts"
import { forgetOutdated, trust, untrusted } from "../src/trust/trustStore.ts"
import { configOf, layerOf, type Values } from "./support/layers.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()
const { git, track, write } = scratch

beforeEach(() => track("reprise.toml", ""))

const wants = (values: Values, source: Source = "reprise.toml"): ReadonlyArray<TrustedSetting> =>
  trustedSettings(configOf(layerOf(values, source)))

const gates = (...quality: ReadonlyArray<string>) => wants({ "gates.quality": quality })

const asked = (wanted: ReadonlyArray<TrustedSetting>) =>
  Effect.map(untrusted(scratch.project, wanted), ({ settings }) => settings.flatMap(({ values }) => values))

/** The only file in the folder of trust. */
const trustFile = () => {
  const folder = join(scratch.userFolder, "trust")
  return join(folder, readdirSync(folder)[0] ?? "")
}

describe("trust in the commands of a tracked reprise.toml", () => {
  it.effect("is missing until it is given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
      yield* trust(scratch.project, gates("make"))
      assert.deepStrictEqual(yield* asked(gates("make")), [])
    })
  )

  it.effect("ends when a command changes, is added or removed", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make", "make test"))
      assert.deepStrictEqual(yield* asked(gates("make", "make test; evil")), ["make", "make test; evil"])
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
      assert.deepStrictEqual(yield* asked(gates("make test", "make")), ["make test", "make"])
    })
  )

  it.effect("is not needed without commands", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(gates()), [])
    })
  )

  it.effect("is not needed for the user's own commands", () =>
    Effect.gen(function* () {
      const own = wants({ "gates.quality": ["make"] }, "environment")
      assert.deepStrictEqual(yield* asked(own), [])
    })
  )

  it.effect("is not needed for a file that git does not track", () =>
    Effect.gen(function* () {
      git("rm", "--quiet", "--cached", "reprise.toml")
      write("reprise.toml", "# mine")
      assert.deepStrictEqual(yield* asked(gates("make")), [])
    })
  )

  it.effect(
    "is needed for a tracked reprise.local.toml, which is the user's own only while git does not track it",
    () =>
      Effect.gen(function* () {
        const local = wants({ "gates.quality": ["make"] }, "reprise.local.toml")
        write("reprise.local.toml", "# mine")
        assert.deepStrictEqual(yield* asked(local), [])
        git("add", "reprise.local.toml")
        assert.deepStrictEqual(yield* asked(local), ["make"])
      })
  )

  it.effect("is needed for a file that a command took out of the index, as long as git knows what it says", () =>
    Effect.gen(function* () {
      track("reprise.toml", "# theirs")
      git("rm", "--quiet", "--cached", "reprise.toml")
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )

  it.effect("is needed for the commands of a plan, tracked or not", () =>
    Effect.gen(function* () {
      const plan = wants({ "gates.quality": ["make evil"] }, "plan")
      yield* trust(scratch.project, gates("make"))
      assert.deepStrictEqual(yield* asked(plan), ["make evil"])
      yield* trust(scratch.project, plan)
      assert.deepStrictEqual(yield* asked(plan), [])
      assert.deepStrictEqual(yield* asked(gates("make")), [], "what was trusted before is trusted still")
    })
  )

  it.effect("is given once for the same commands, wherever they are read", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make"))
      assert.deepStrictEqual(yield* asked(wants({ "gates.quality": ["make"] }, "plan")), [])
    })
  )

  it.effect("in quality gates does not extend to the same commands for a new worktree", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make"))
      assert.deepStrictEqual(yield* asked(wants({ "gates.quality": ["make"], "workspace.postCreate": ["make"] })), [
        "make"
      ])
    })
  )

  for (const [setting, value] of [
    ["permissions", "all"],
    ["permissions", "workspace"],
    ["nats.url", "nats://example.org"],
    ["nats.credentials", "/home/me/team.creds"],
    ["nats.nkeySeedFile", "/home/me/person.nk"],
    ["nats.caFile", "/home/me/ca.crt"],
    ["opencode.url", "http://example.org"]
  ] as const) {
    it.effect(`is needed for ${setting} = ${value}, which grants permissions or sends secrets elsewhere`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value })), [value])
        yield* trust(scratch.project, wants({ [setting]: value }))
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value })), [])
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value }, "environment")), [])
      })
    )
  }

  it.effect("is not needed while agents ask for every permission", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(wants({ permissions: "ask", runtime: "claude", model: "a/b" })), [])
    })
  )

  it.effect("is kept in a file that only the user can read, in a folder that only the user can list", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make"))
      assert.strictEqual(statSync(trustFile()).mode & 0o777, 0o600)
      assert.strictEqual(statSync(dirname(trustFile())).mode & 0o777, 0o700)
    })
  )

  it.effect("is missing, and said to be, when its file is damaged, a link, or writable by others", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make"))
      const file = trustFile()
      const good = readFileSync(file, "utf8")
      const doubt = Effect.gen(function* () {
        const { settings, trouble } = yield* untrusted(scratch.project, gates("make"))
        assert.strictEqual(settings.length, 1)
        assert.match(trouble ?? "", /Nothing is trusted here/)
      })
      for (const damaged of ["{", "[]", '{"a":1}', good.replace('"format": 1', '"format": 2'), good.slice(0, 99)]) {
        writeFileSync(file, damaged)
        yield* doubt
      }
      writeFileSync(file, good)
      chmodSync(file, 0o666)
      yield* doubt
      chmodSync(file, 0o600)
      assert.deepStrictEqual(yield* asked(gates("make")), [])
      renameSync(file, `${file}.elsewhere`)
      symlinkSync(`${file}.elsewhere`, file)
      yield* doubt
    })
  )

  it.effect("is missing in another clone at the same path, and in a copy of the clone at another", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make"))
      const copy = join(scratch.folder, "copy")
      cpSync(scratch.project.root, copy, { recursive: true })
      const copied = yield* untrusted({ root: copy, directory: join(copy, ".reprise") }, gates("make"))
      assert.strictEqual(copied.settings.length, 1)
      assert.match(copied.trouble ?? "", /stored for the clone at .*repository/)
      rmSync(join(scratch.project.root, ".git"), { recursive: true })
      git("init", "--quiet")
      git("add", "reprise.toml")
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )

  it.effect("is needed when git cannot say who wrote the file", () =>
    Effect.gen(function* () {
      git("rm", "--quiet", "--cached", "reprise.toml")
      write("reprise.toml", "# mine")
      assert.deepStrictEqual(yield* asked(gates("make")), [])
      writeFileSync(join(scratch.project.root, ".git", "index"), "damaged")
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )

  it.effect("is needed for a tracked Reprise.toml, which some file systems find under the name of the user's own", () =>
    Effect.gen(function* () {
      git("mv", "reprise.toml", "Reprise.toml")
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )

  it.effect("ends with its file's next content, so that turning back asks again", () =>
    Effect.gen(function* () {
      const now = (values: Values) => forgetOutdated(scratch.project, configOf(layerOf(values)))
      yield* trust(scratch.project, wants({ permissions: "all" }))
      yield* now({ permissions: "all" })
      assert.deepStrictEqual(yield* asked(wants({ permissions: "all" })), [])
      yield* now({ permissions: "ask" })
      assert.deepStrictEqual(yield* asked(wants({ permissions: "all" })), ["all"])
      yield* trust(scratch.project, wants({ permissions: "all" }))
      yield* now({})
      assert.deepStrictEqual(yield* asked(wants({ permissions: "all" })), ["all"])
      yield* trust(scratch.project, wants({ permissions: "all" }))
      yield* trust(scratch.project, wants({ permissions: "workspace" }))
      assert.deepStrictEqual(yield* asked(wants({ permissions: "all" })), ["all"])
    })
  )

  it.effect("stays while another place overrides its file", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, wants({ permissions: "all" }))
      const overridden = configOf(
        layerOf({ permissions: "all" }, "reprise.toml"),
        layerOf({ permissions: "ask" }, "environment")
      )
      yield* forgetOutdated(scratch.project, overridden)
      assert.deepStrictEqual(yield* asked(wants({ permissions: "all" })), [])
    })
  )

  it.effect("is listed with its values, and revoked as a whole", () =>
    Effect.gen(function* () {
      yield* trust(scratch.project, gates("make", "make test"))
      const { entries } = yield* readTrust(scratch.project)
      assert.deepStrictEqual(
        entries.map(({ from, values, what }) => ({ from, values, what })),
        [{ from: "reprise.toml", values: ["make", "make test"], what: "gates.quality" }]
      )
      yield* removeTrust(scratch.project)
      assert.deepStrictEqual(yield* readTrust(scratch.project), { entries: [] })
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )
})
