/** Objects of git that hold something else than their names say: a reviewer would be shown other work than gates run on. */
import { execFileSync } from "node:child_process"
import { renameSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, finish, gates, verify } from "./support/commands.ts"
import { check, exchange, forged, honest, putObject, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const falseObject = /^missing: git's object [0-9a-f]{40} does not hold what its name says/

/** What has git show other work than that of the commits. */
const falsified: ReadonlyArray<{
  readonly name: string
  readonly falsify: (scene: Scene) => string
  readonly told?: RegExp
}> = [
  {
    name: "a commit-graph that names another tree",
    falsify: (at) => {
      const done = at.work()
      at.git("commit-graph", "write", "--reachable")
      exchange(
        join(at.root, ".git/objects/info/commit-graph"),
        at.git("rev-parse", `${done}^{tree}`),
        at.git("rev-parse", `${at.base}^{tree}`)
      )
      assert.strictEqual(at.git("diff", at.base, done), "", "git shows nothing")
      return done
    },
    told: /^missing: git's objects\/info\/commit-graph does not say what the commits hold/
  },
  {
    name: "a false object in the place of a file of the work",
    falsify: (at) => {
      at.put(check, forged)
      const done = at.commit()
      putObject(at, at.git("rev-parse", `HEAD:${check}`), "blob", Buffer.from(honest))
      return done
    }
  },
  {
    name: "a false object in the place of a file as it was before",
    falsify: (at) => {
      const before = at.git("rev-parse", `HEAD:${check}`)
      at.put(check, forged)
      const done = at.commit()
      putObject(at, before, "blob", Buffer.from(forged))
      return done
    }
  },
  {
    name: "a false object in the place of a commit",
    falsify: (at) => {
      const done = at.work()
      const text = execFileSync("git", ["cat-file", "commit", done], { cwd: at.root, encoding: "utf8" })
      putObject(at, done, "commit", Buffer.from(text.replace("work", "harmless")))
      return done
    }
  }
]

layer(adapters, { excludeTestServices: true })("the work that a reviewer reads", (it) => {
  it.effect.each(falsified)("is refused if git shows other work: $name", ({ falsify, told = falseObject }) =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = falsify(at)
      assert.match(yield* at.detailOf(done), told)
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "missing" })
    })
  )

  it.effect(
    "is refused if git's store has another content of a file that it leaves as it was, when a phase ends too",
    () =>
      Effect.gen(function* () {
        const at = yield* scene
        const done = at.work()
        assert.strictEqual(yield* at.detailOf(done), "verified")
        putObject(at, at.git("rev-parse", `HEAD:${check}`), "blob", Buffer.from(forged))
        assert.strictEqual(at.git("status", "--porcelain"), "", "git sees nothing")
        assert.match(
          yield* at.detailOf(done),
          /^dirty-tree: Not committed: git's object [0-9a-f]{40} \(does not hold what its name says\)/
        )
        const finished = yield* finishPhase(finish(undefined, done), at.place)
        assert.containSubset(finished, { _tag: "PhaseBlocked", falsified: true })
        assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag, /^git's object /)
      })
  )

  it.effect(
    "keeps the phase from ending if git shows a file as it was before differently from when it was verified",
    () =>
      Effect.gen(function* () {
        const at = yield* scene
        const before = at.git("rev-parse", `HEAD:${check}`)
        at.put(check, forged)
        const done = at.commit()
        assert.strictEqual(yield* at.detailOf(done), "verified")
        putObject(at, before, "blob", Buffer.from(forged))
        const finished = yield* finishPhase(finish(undefined, done), at.place)
        assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag, /^git's object /)
      })
  )

  it.effect("is refused if a file as it was before the phase is a false object by the second verification", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const before = at.git("rev-parse", `HEAD:${check}`)
      at.put(check, forged)
      const first = at.commit()
      assert.strictEqual(yield* at.detailOf(first), "verified")
      putObject(at, before, "blob", Buffer.from(forged))
      const second = at.work()
      const again = { base: first, phaseBase: at.base }
      const verified = yield* verifyCommit({ ...verify(second, first), ...again }, at.place)
      assert.containSubset(verified, { _tag: "CommitRejected", reason: "missing" })
      const claimed = yield* verifyClaims(claims(first, [], { commit: second, ...again }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "missing" })
    })
  )

  it.effect.each(["commit", "claim"] as const)(
    "reaches no reviewer if a gate has git show other work than was verified of a %s",
    (by) =>
      Effect.gen(function* () {
        const at = yield* scene
        at.put(check, forged)
        const done = at.commit()
        const blob = at.git("rev-parse", `HEAD:${check}`)
        const place = join(".git/objects", blob.slice(0, 2), blob.slice(2))
        if (by === "commit") assert.strictEqual(yield* at.detailOf(done), "verified")
        else yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
        const run = (gate: string) => qualityGates(gates(["true", gate]), at.place)
        assert.containSubset(yield* run("true"), { _tag: "QualityPassed" })
        putObject(at, blob, "blob", Buffer.from(honest))
        at.git("cat-file", "-e", blob)
        renameSync(join(at.root, place), join(at.root, ".git/false"))
        putObject(at, blob, "blob", Buffer.from(forged))
        const failed = yield* run(`mv -f .git/false ${place}`)
        assert.strictEqual(failed._tag, "QualityFailed")
        const [, , last] = "results" in failed ? failed.results : []
        assert.include(last?.head, `git's object ${blob} does not hold what its name says`)
      })
  )

  it.effect("keeps the phase from ending if a commit-graph tells of other work since it was verified", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = at.work()
      assert.strictEqual(yield* at.detailOf(done), "verified")
      at.git("commit-graph", "write", "--reachable")
      exchange(
        join(at.root, ".git/objects/info/commit-graph"),
        at.git("rev-parse", `${done}^{tree}`),
        at.git("rev-parse", `${at.base}^{tree}`)
      )
      const finished = yield* finishPhase(finish(undefined, done), at.place)
      assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag, /commit-graph/)
    })
  )

  it.effect("is refused if a folder that it leaves as it was is a false object", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = at.work()
      at.put(check, forged)
      const hash = at.git("hash-object", "-w", check)
      const tree = Buffer.concat([Buffer.from("100644 check.mjs\0"), Buffer.from(hash, "hex")])
      putObject(at, at.git("rev-parse", "HEAD:tools"), "tree", tree)
      at.git("read-tree", "HEAD")
      assert.strictEqual(at.git("status", "--porcelain"), "", "git sees nothing")
      assert.match(
        yield* at.detailOf(done),
        /^dirty-tree: Not committed: git's object [0-9a-f]{40} \(does not hold what its name says\)/
      )
    })
  )
})
