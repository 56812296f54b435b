/** Many repositories in a workspace, or what only looks like them: they keep no other workspace waiting, and fill no log. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeConfigurationReader } from "../src/nested/configurationReader.ts"
import { makeNestedWatch, NotAllLookedAt } from "../src/nested/NestedWatch.ts"
import { nestedRepositories } from "../src/nested/nestedRepositories.ts"
import { type Place, TooManyRepositories } from "../src/nested/treeSearch.ts"
import { attend } from "../src/refused/refusalReports.ts"

const scene = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-many-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const placeIn = (folder: string, name: string): Place => {
  const workspace = join(folder, name)
  const stateDirectory = join(workspace, ".reprise")
  mkdirSync(stateDirectory, { recursive: true })
  return { workspace, stateDirectory, search: "/usr/bin:/bin", git: undefined, hooks: [], namedIn: async () => [] }
}

/** Each with another configuration that names a program. */
const makeRepositories = ({ workspace }: Place, count: number) => {
  const first = join(workspace, "r0")
  execFileSync("git", ["init", "--quiet", first])
  const configuration = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = ./run"
  for (let at = 0; at < count; at++) {
    const git = join(workspace, `r${at}`, ".git")
    for (const name of ["objects", "refs"]) mkdirSync(join(git, name), { recursive: true })
    writeFileSync(join(git, "HEAD"), "ref: refs/heads/main\n")
    writeFileSync(join(git, "config"), `${configuration}${at}\n`)
  }
}

const watchIn = (folder: string) => makeNestedWatch(join(folder, "known"), join(folder, "refused"))

describe("many repositories in a workspace", () => {
  it.live("are all moved away, and told in a few sentences", () =>
    Effect.gen(function* () {
      const folder = yield* scene
      const place = placeIn(folder, "one")
      const { check } = yield* watchIn(folder)
      yield* check(place.workspace, Effect.succeed(place))
      makeRepositories(place, 40)
      const sentences = yield* check(place.workspace, Effect.succeed(place))
      assert.strictEqual(sentences.length, 6)
      assert.match(sentences.at(-1) ?? "", /35 more/)
      assert.strictEqual(readdirSync(join(folder, "refused")).length, 40, "nothing is lost")
      assert.isFalse(existsSync(join(place.workspace, "r0", ".git")))
    })
  )

  it.live("keep no other workspace waiting", () =>
    Effect.gen(function* () {
      const folder = yield* scene
      const [one, other] = [placeIn(folder, "one"), placeIn(folder, "other")]
      makeRepositories(one, 150)
      makeRepositories(other, 1)
      const { check } = yield* watchIn(folder)
      const first = yield* Effect.raceFirst(
        Effect.as(check(one.workspace, Effect.succeed(one)), "one"),
        Effect.as(check(other.workspace, Effect.succeed(other)), "other")
      )
      assert.strictEqual(first, "other")
    })
  )

  it.live("are asked about once while they say the same", () =>
    Effect.gen(function* () {
      const folder = yield* scene
      const settingsIn = makeConfigurationReader()
      const text = Buffer.from("[core]\n\tpager = less\n")
      const before = yield* settingsIn(folder, text)
      assert.deepStrictEqual(before, [["core.pager", "less"]])
      // No git can start there.
      assert.strictEqual(yield* settingsIn(join(folder, "missing"), text), before)
      assert.isUndefined(yield* settingsIn(join(folder, "missing"), Buffer.from("[core]\n\teditor = vi\n")))
    })
  )

  it.live.each(["HEAD", ".git"])(
    "are refused where more are called %s than can be looked at, with where they are",
    (name) =>
      Effect.gen(function* () {
        const folder = yield* scene
        const place = placeIn(folder, "one")
        for (let at = 0; at < 30; at++) {
          mkdirSync(join(place.workspace, "made", `${at}`), { recursive: true })
          writeFileSync(join(place.workspace, "made", `${at}`, name), "")
        }
        const { fault } = yield* nestedRepositories(place, makeConfigurationReader(), { mostPlaces: 20 })
        assert.instanceOf(fault, TooManyRepositories)
        assert.match(fault.message, /more than 20 .*, most of them in .*\/one\/made\..*Remove them\./)
      })
  )

  it.live("are moved as far as they are looked at, those beside a heap first, and nothing goes on", () =>
    Effect.gen(function* () {
      const folder = yield* scene
      const place = placeIn(folder, "one")
      const { check } = yield* makeNestedWatch(join(folder, "known"), join(folder, "refused"), { mostPlaces: 20 })
      yield* check(place.workspace, Effect.succeed(place))
      makeRepositories(place, 3)
      execFileSync("/bin/sh", ["-c", "mkdir m; cd m; for n in $(seq 30); do echo d$n/HEAD; done | xargs mkdir -p"], {
        cwd: place.workspace
      })
      const failure = yield* Effect.flip(check(place.workspace, Effect.succeed(place)))
      assert.instanceOf(failure, NotAllLookedAt)
      assert.match(failure.message, /more than 20 .*\/one\/m\. .*Remove them\. .*r\d\/\.git was moved/)
      for (const name of ["r0", "r1", "r2"]) assert.isFalse(existsSync(join(place.workspace, name, ".git")), name)
    })
  )

  it.live("are told to the agent whose command made more than can be looked at", () =>
    Effect.promise(async () => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-reports-")))
      const reports = {
        look: async () => undefined,
        decider: () => undefined,
        putAsideNested: () => Promise.reject(new Error("/w has more than 20000 files called HEAD. Remove them."))
      }
      const server = createServer({ allowHalfOpen: true }, (client) => attend(client, reports))
      await new Promise<void>((resolve) => server.listen(join(folder, "reports"), resolve))
      const words = await new Promise<string>((resolve) => {
        let text = ""
        const client = connect(join(folder, "reports"))
        client.on("data", (chunk) => {
          text += chunk.toString()
        })
        client.once("close", () => resolve(text))
        client.end("repository\n0\n")
      })
      server.close()
      rmSync(folder, { recursive: true, force: true })
      assert.strictEqual(words, "reprise: /w has more than 20000 files called HEAD. Remove them.\n")
    })
  )
})
