/** What a command can do to git's own folder: one answer each, none of which is about another repository. */
import { execFileSync } from "node:child_process"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { doCommand } from "../src/work/doCommand.ts"
import { GitFault } from "../src/work/faults.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { host, inMemory } from "./support/brokers.ts"
import { finish, prepareIn, verify } from "./support/commands.ts"
import { adapters, at, repository } from "./support/repository.ts"

const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))

const review = "docs/reviews/plan-phase-1-review.md"

/** `$git`: the directory of the working tree; `$common`: that of its repository. */
const acts = [
  ["removes HEAD", "rm $git/HEAD"],
  ["writes something else into HEAD", "echo nothing > $git/HEAD"],
  ["makes HEAD a folder", "rm $git/HEAD; mkdir $git/HEAD"],
  ["removes .git", "rm -rf .git"],
  ["makes .git another file", "rm -rf .git; echo hello > .git"],
  ["makes .git a link to another folder", "rm -rf .git; ln -s /etc .git"],
  ["cuts the index", "echo cut > $git/index"],
  ["makes the index a folder", "rm $git/index; mkdir $git/index"],
  ["removes the objects", "rm -rf $common/objects"],
  ["breaks the configuration", "echo '[[[' > $common/config"],
  ["breaks the packed refs", "echo '[[[' > $common/packed-refs"]
] as const

layer(services, { excludeTestServices: true })("a workspace", (it) => {
  const cases = [false, true].flatMap((worktree) =>
    acts.map(([what, script]) => ({ what, script, worktree, where: worktree ? "in a worktree" : "in the repository" }))
  )
  it.effect.each(cases)(
    "tells the author once, and finishes nothing, when a command $what $where",
    ({ script, worktree }) =>
      Effect.gen(function* () {
        const made = yield* repository
        const base = yield* made.git("rev-parse", "HEAD")
        const { place } = yield* prepare(prepareIn(made.root, { worktree }), host, undefined, "request")
        if (place === undefined) return assert.fail("The workspace was refused.")
        const tree = at(place.directory)
        yield* tree.write("a.ts", "1")
        const work = yield* tree.commit("work")
        yield* tree.write(review, "# Review\n")
        const find = "git=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --git-common-dir)"
        execFileSync("/bin/sh", ["-c", `${find}; ${script}`], { cwd: place.directory, stdio: "pipe" })

        const event = yield* verifyCommit(verify(work, base, review), place)
        assert.containSubset(event, { _tag: "CommitRejected", reason: "dirty-tree" })
        const detail = event._tag === "CommitRejected" ? event.detail : ""
        assert.match(detail, /^git [a-z-]+ failed \(128\): .*\. Repair git's own files/s)

        const fault = yield* Effect.flip(doCommand({ command: finish(review), requestId: "q" }, place))
        assert.instanceOf(fault, GitFault)
        if (fault instanceof GitFault) assert.isFalse(fault.transient, "nobody tries again")
        assert.include(fault.message, "Repair git's own files")
      })
  )

  it.effect("commits nothing into the repository around a worktree without its pointer", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(".gitignore", "")
      const head = yield* made.commit("around")
      const { place } = yield* prepare(prepareIn(made.root, { worktree: true }), host, undefined, "request")
      if (place === undefined) return assert.fail("The workspace was refused.")
      const tree = at(place.directory)
      yield* tree.write(review, "# Review\n")
      yield* tree.remove(".git")
      yield* Effect.flip(doCommand({ command: finish(review, head), requestId: "q" }, place))
      assert.strictEqual(yield* made.git("rev-parse", "HEAD"), head)
      assert.strictEqual(yield* made.git("status", "--porcelain"), "")
    })
  )
})
