/** A commit can bring what its diff does not show: the name of a commit in another repository, or a merge that leaves one side out. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, verify } from "./support/commands.ts"
import { type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** A repository in the tree, with a commit, that the next commit takes for a submodule. */
const nested = (at: Scene, path: string) => {
  at.put(`${path}/run.sh`, "echo ok\n")
  at.git("-C", path, "init", "--quiet")
  at.git("-C", path, "add", "--all")
  at.git("-C", path, "commit", "--quiet", "-m", "unseen")
  return at.git("-C", path, "rev-parse", "HEAD")
}

const gitmodules = '[submodule "impl"]\n\tpath = lib/impl\n\turl = https://example.org/impl.git\n\tignore = all\n'

const notesOf = Effect.fnUntraced(function* (at: Scene, commit: string) {
  const event = yield* verifyCommit(verify(commit, at.base), at.place)
  return event._tag === "CommitVerified" ? (event.notes ?? []).join("\n") : assert.fail(JSON.stringify(event))
})

layer(adapters, { excludeTestServices: true })("what the diff of a commit does not show", (it) => {
  it.effect("refuses a commit, and claims, whose work is in a repository that exists here alone", () =>
    Effect.gen(function* () {
      const at = yield* scene
      nested(at, "lib/impl")
      const done = at.commit()
      assert.match(
        yield* at.detailOf(done),
        /^dirty-tree: Committed only as the name of a commit in another repository, .*: 'lib\/impl'\./
      )
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "dirty-tree" })
    })
  )

  it.effect("accepts a submodule with a url, though its setting hides changes of it, and says what it is", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.put(".gitmodules", gitmodules)
      const commit = nested(at, "lib/impl")
      const notes = yield* notesOf(at, at.commit())
      assert.include(notes, `'lib/impl' is new at ${commit.slice(0, 12)}, of 'https://example.org/impl.git'`)
    })
  )

  it.effect("accepts a submodule without a url of which nothing is here, as a merge may bring it", () =>
    Effect.gen(function* () {
      const at = yield* scene
      mkdirSync(join(at.root, "lib/impl"), { recursive: true })
      at.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib/impl`)
      at.git("commit", "--quiet", "-m", "work")
      assert.include(
        yield* notesOf(at, at.git("rev-parse", "HEAD")),
        "'lib/impl' is new at 111111111111, without a url"
      )
    })
  )

  const merging = (at: Scene, side: string, ...options: ReadonlyArray<string>) => {
    at.git("checkout", "--quiet", "-b", "other", at.base)
    at.put("pay.mjs", "mended\n")
    at.put("src/a.mjs", side)
    at.commit("mend a hole")
    at.git("checkout", "--quiet", "-")
    at.work()
    try {
      at.git("merge", "--quiet", "--no-edit", ...options, "other")
    } catch {
      at.put("src/a.mjs", "export const a = 'both'\n")
      at.commit("merge")
    }
    return at.git("rev-parse", "HEAD")
  }

  it.effect("names a merge that leaves out the other side, and the files", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const merge = merging(at, "export const a = 1\n", "--strategy=ours")
      assert.include(yield* notesOf(at, merge), `${merge.slice(0, 12)} in 'pay.mjs'. `)
    })
  )

  it.effect("names a merge whose conflict was resolved by hand, and accepts it", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const merge = merging(at, "export const a = 2\n")
      assert.include(yield* notesOf(at, merge), `${merge.slice(0, 12)} in 'src/a.mjs'. `)
    })
  )

  it.effect("says nothing of a merge that is what git makes of its parents", () =>
    Effect.gen(function* () {
      const at = yield* scene
      assert.strictEqual(yield* notesOf(at, merging(at, "export const a = 1\n")), "")
    })
  )

  it.effect("names such a merge on a branch that the work has merged, and one of three parents", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.git("checkout", "--quiet", "-b", "detour")
      const hidden = merging(at, "export const a = 1\n", "--strategy=ours")
      at.git("checkout", "--quiet", "main")
      at.git("merge", "--quiet", "--no-ff", "--no-edit", "detour")
      const tree = at.git("rev-parse", "HEAD^{tree}")
      const octopus = at.git("commit-tree", "-p", "HEAD", "-p", "other", "-p", at.base, "-m", "all", tree)
      at.git("update-ref", "HEAD", octopus)
      const notes = yield* notesOf(at, octopus)
      assert.include(notes, hidden.slice(0, 12))
      assert.include(notes, `cannot make again to compare them: ${octopus.slice(0, 12)}`)
    })
  )

  it.effect("starts no program to merge that the repository's configuration names", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.git("config", "merge.own.driver", "touch started; false")
      at.put(".gitattributes", "*.mjs merge=own\n")
      at.commit("attributes")
      at.git("config", "--unset", "merge.own.driver")
      const merge = merging(at, "export const a = 2\n")
      at.git("config", "merge.own.driver", "touch started; false")
      assert.include(yield* notesOf(at, merge), "'src/a.mjs'")
      assert.notInclude(at.git("status", "--porcelain"), "started")
    })
  )
})
