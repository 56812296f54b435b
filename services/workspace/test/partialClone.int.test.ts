/** Runs in a clone of the user's that has not fetched every file of its history. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Git } from "../src/work/git/Git.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { workSince } from "../src/work/look/workSince.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { host, inMemory } from "./support/brokers.ts"
import { prepareIn } from "./support/commands.ts"
import { adapters, at, repository, temporaryDirectory } from "./support/repository.ts"

const clone = (root: string, into: string, ...more: ReadonlyArray<string>) =>
  execFileSync(
    "git",
    ["-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", ...more, `file://${root}`, into],
    { stdio: "pipe" }
  )

/** Of a repository with two commits of `file`, the older one on the branch `old`. */
const partialClone = (...more: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const made = yield* repository
    yield* made.git("config", "uploadpack.allowFilter", "true")
    yield* made.write("file", "one\n")
    yield* made.write("deep/er/file", "deep\n")
    yield* made.commit("one")
    yield* made.git("branch", "old")
    yield* made.write("file", "two\n")
    yield* made.commit("two")
    const folder = yield* temporaryDirectory
    const into = join(folder, "clone")
    clone(made.root, into, ...more)
    const contacted = join(folder, "contacted")
    const partial = at(into)
    yield* partial.git("config", "remote.origin.uploadpack", `touch ${contacted}; git-upload-pack`)
    return { partial, wasContacted: () => existsSync(contacted) }
  })

const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))

layer(services, { excludeTestServices: true })("a partial clone", (it) => {
  it.effect.each([{ more: [] }, { more: ["--sparse"] }])(
    "has all that a run from its HEAD needs, cloned with $more",
    ({ more }) =>
      Effect.gen(function* () {
        const { partial, wasContacted } = yield* partialClone(...more)
        const { event } = yield* prepare(prepareIn(partial.root, { worktree: true }), host, undefined, "l1")
        assert.strictEqual(event._tag, "WorkspacePrepared", JSON.stringify(event))
        if (event._tag !== "WorkspacePrepared") return
        const tree = at(event.directory)
        yield* tree.write("file", "three\n")
        yield* tree.commit("three")
        const git = yield* Git
        assert.deepStrictEqual(yield* git.differences(tree.root, join(partial.root, ".reprise", "tree"), "after"), [])
        assert.include((yield* workSince(tree.root, event.head)).files[0]?.text, "+three")
        assert.isFalse(wasContacted())
      })
  )

  it.effect("refuses a branch whose files were never fetched, and says how to get them", () =>
    Effect.gen(function* () {
      const { partial, wasContacted } = yield* partialClone()
      yield* partial.git("branch", "old", "origin/old")
      const begin = prepare(prepareIn(partial.root, { worktree: true, branch: "old" }), host, undefined, "l1")
      const { event } = yield* begin
      assert.strictEqual(event._tag, "WorkspaceRefused")
      if (event._tag !== "WorkspaceRefused") return
      assert.match(event.reason, /promisor remote.*git fetch --refetch --no-filter/s)
      assert.isFalse(wasContacted())
      yield* partial.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--refetch", "--no-filter", "origin")
      assert.strictEqual((yield* begin).event._tag, "WorkspacePrepared")
    })
  )
})
