/** git's store may have an object more than once, and reads now this copy, now that one: each must hold what its name says. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deflateSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { falseObjects } from "../src/falseObjects.ts"
import { nothingProven, tellsChanges, writeProven } from "../src/provenObjects.ts"
import { looseCopies, packSources } from "../src/storedCopies.ts"

const honest = "exit 1\n"
const forged = "exit 0\n"

/** Elsewhere nothing is remembered. */
const isTelling = await tellsChanges(tmpdir())

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-false-")))
    const root = join(folder, "repository")
    const user = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", root, ...user, ...args], { encoding: "utf8", stdio: "pipe" }).trim()
    mkdirSync(root)
    git("init", "--quiet")
    writeFileSync(join(root, "check.sh"), honest)
    writeFileSync(join(root, "other.sh"), "exit 2\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "begin")
    const objects = join(root, ".git/objects")
    return {
      folder,
      root,
      git,
      objects,
      memory: join(folder, "objects.json"),
      check: git("rev-parse", "HEAD:check.sh")
    }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
type Made = Effect.Success<typeof repository>

const sha1 = (bytes: Buffer) => createHash("sha1").update(bytes).digest()

const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A pack with one file of up to 15 bytes, whatever name its index gives it. */
const putPack = ({ objects }: Made, hash: string, content: string) => {
  const entry = Buffer.concat([Buffer.from([0x30 + content.length]), deflateSync(Buffer.from(content))])
  const body = Buffer.concat([Buffer.from("PACK"), number(2), number(1), entry])
  const pack = Buffer.concat([body, sha1(body)])
  const first = Number.parseInt(hash.slice(0, 2), 16)
  const counts = Array.from({ length: 256 }, (_, at) => number(at < first ? 0 : 1))
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    ...[number(2), ...counts, Buffer.from(hash, "hex"), number(0), number(12), sha1(body)]
  ])
  const path = join(objects, "pack", `pack-${sha1(body).toString("hex")}`)
  writeFileSync(`${path}.pack`, pack)
  writeFileSync(`${path}.idx`, Buffer.concat([index, sha1(index)]))
  // git reads newer packs first.
  utimesSync(`${path}.pack`, 1, 1)
}

const putLoose = (objects: string, hash: string, content: string) => {
  const path = join(objects, hash.slice(0, 2), hash.slice(2))
  mkdirSync(join(objects, hash.slice(0, 2)), { recursive: true })
  rmSync(path, { force: true })
  writeFileSync(path, deflateSync(Buffer.from(`blob ${content.length}\0${content}`)))
}

/** Has an index over several packs say where another object is. */
const exchangeInMany = ({ git, objects }: Made) => {
  git("repack", "-adq")
  git("multi-pack-index", "write")
  const path = join(objects, "pack/multi-pack-index")
  const bytes = readFileSync(path)
  const chunkAt = (name: string) => Number(bytes.readBigUInt64BE(bytes.indexOf(name, 12) + 4))
  const names = chunkAt("OIDL")
  const placeOf = (file: string) => {
    const hash = Buffer.from(git("rev-parse", `HEAD:${file}`), "hex")
    return chunkAt("OOFF") + ((bytes.indexOf(hash, names) - names) / 20) * 8
  }
  const [one, other] = [placeOf("check.sh"), placeOf("other.sh")]
  const kept = Buffer.from(bytes.subarray(one, one + 8))
  bytes.copy(bytes, one, other, other + 8)
  kept.copy(bytes, other)
  chmodSync(path, 0o644)
  writeFileSync(path, bytes)
}

const attacks: ReadonlyArray<{ readonly name: string; readonly falsify: (made: Made) => void }> = [
  { name: "a file of its own", falsify: (made) => putLoose(made.objects, made.check, forged) },
  {
    name: "a file of its own beside a pack that has the right one",
    falsify: (made) => {
      made.git("repack", "-adq")
      putLoose(made.objects, made.check, forged)
      assert.strictEqual(made.git("cat-file", "blob", made.check), honest.trim(), "git reads the pack")
    }
  },
  {
    name: "a second pack, which git reads only where it read from it before",
    falsify: (made) => {
      made.git("repack", "-adq")
      putPack(made, made.check, forged)
      assert.strictEqual(made.git("cat-file", "blob", made.check), honest.trim(), "git reads the newer pack")
    }
  },
  { name: "an index over several packs", falsify: exchangeInMany },
  {
    name: "another repository that it borrows from",
    falsify: (made) => {
      const lender = join(made.folder, "lender")
      made.git("clone", "--quiet", "--bare", "--no-local", made.root, lender)
      writeFileSync(join(made.objects, "info/alternates"), `${lender}/objects\n`)
      putLoose(join(lender, "objects"), made.check, forged)
    }
  }
]

describe("objects of git's store", () => {
  it.effect.each(attacks)("are false if $name holds something else under the name, also the next time", ({ falsify }) =>
    Effect.gen(function* () {
      const made = yield* repository
      const all = made.git("rev-list", "--objects", "--no-object-names", "HEAD").split("\n")
      assert.deepStrictEqual(yield* falseObjects(made.root, all, made), { wrong: [], missing: [] })
      falsify(made)
      assert.include((yield* falseObjects(made.root, all, { memory: made.memory })).wrong, made.check)
      assert.include((yield* falseObjects(made.root, all, { memory: made.memory })).wrong, made.check)
    })
  )

  it.effect("are told apart from those that are missing", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const absent = "1".repeat(40)
      putLoose(made.objects, made.check, forged)
      const found = yield* falseObjects(made.root, [absent, made.check, made.git("rev-parse", "HEAD")], {
        memory: made.memory
      })
      assert.deepStrictEqual(found, { wrong: [made.check], missing: [absent] })
    })
  )

  it.effect.each(["", "{", '{"sources":[],"packed":"x y","loose":"\\u0000"}'])(
    "are hashed again where what is remembered of them is damaged: %j",
    (text) =>
      Effect.gen(function* () {
        const made = yield* repository
        writeFileSync(made.memory, text)
        putLoose(made.objects, made.check, forged)
        assert.deepStrictEqual((yield* falseObjects(made.root, [made.check], { memory: made.memory })).wrong, [
          made.check
        ])
      })
  )

  it.effect.skipIf(!isTelling)(
    "are believed as long as the pack that they were found in does not change, and no longer",
    () =>
      Effect.gen(function* () {
        const made = yield* repository
        made.git("repack", "-adq")
        rmSync(join(made.objects, made.check.slice(0, 2)), { recursive: true, force: true })
        for (const name of readdirSync(join(made.objects, "pack"))) rmSync(join(made.objects, "pack", name))
        putPack(made, made.check, forged)
        const sources = (yield* Effect.promise(() => packSources(made.objects))).map(({ id }) => id)
        assert.lengthOf(sources, 1)
        const record = writeProven({ ...nothingProven, sources: new Set(sources), packed: new Set([made.check]) })
        writeFileSync(made.memory, record)
        assert.deepStrictEqual((yield* falseObjects(made.root, [made.check], { memory: made.memory })).wrong, [])
        const [pack = ""] = readdirSync(join(made.objects, "pack")).filter((name) => name.endsWith(".pack"))
        chmodSync(join(made.objects, "pack", pack), 0o400)
        assert.deepStrictEqual((yield* falseObjects(made.root, [made.check], { memory: made.memory })).wrong, [
          made.check
        ])
      })
  )

  it.effect.skipIf(!isTelling)("are believed as long as a file of their own does not change, and no longer", () =>
    Effect.gen(function* () {
      const made = yield* repository
      putLoose(made.objects, made.check, forged)
      const copies = yield* Effect.promise(() => looseCopies(made.objects, new Set([made.check])))
      const loose = new Map(copies.map(({ hash, state }) => [hash, [state]]))
      writeFileSync(made.memory, writeProven({ ...nothingProven, loose }))
      assert.deepStrictEqual((yield* falseObjects(made.root, [made.check], { memory: made.memory })).wrong, [])
      putLoose(made.objects, made.check, forged)
      assert.deepStrictEqual((yield* falseObjects(made.root, [made.check], { memory: made.memory })).wrong, [
        made.check
      ])
    })
  )
})
