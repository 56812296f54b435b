/** What an agent wrote that no git gets to the end of: the author is told once, and nothing waits for it. */
import { existsSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { GitLimits } from "@reprise/process"
import { hostileTrees } from "@reprise/process/testing"
import { Effect, Layer } from "effect"
import { doCommand } from "../src/work/doCommand.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { host, inMemory } from "./support/brokers.ts"
import { claims, prepareIn, runId, verify } from "./support/commands.ts"
import { adapters, at, repository } from "./support/repository.ts"

const limits = Layer.succeed(GitLimits, {
  ...{ largestMemoryBytes: 32 * 1024 * 1024, largestOutputBytes: 4 * 1024 * 1024, timeoutMs: 1_000 }
})
const services = Leases.layer.pipe(
  Layer.provideMerge(inMemory),
  Layer.provideMerge(adapters),
  Layer.provideMerge(limits)
)

const hostile = (name: string) => {
  const found = hostileTrees.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no tree called ${name}.`)
  return found
}

layer(services, { excludeTestServices: true })(
  "a workspace in which an agent wrote what no git reads to its end",
  (it) => {
    const inTheTree = hostileTrees.filter(({ ask }) => ask[0] === "status")
    it.effect.each(inTheTree)("rejects the commit, and names the file, for $name", ({ names, write }) =>
      Effect.gen(function* () {
        const made = yield* repository
        const base = yield* made.git("rev-parse", "HEAD")
        yield* made.write("a.ts", "1")
        yield* made.commit("work")
        write(made.root)
        const event = yield* verifyCommit(verify(yield* made.git("rev-parse", "HEAD"), base), made.place)
        assert.containSubset(event, { _tag: "CommitRejected", reason: "dirty-tree" })
        const detail = event._tag === "CommitRejected" ? event.detail : ""
        assert.match(detail, /^git \w+ cannot read the working tree or its commits: .*Remove what is too large/)
        if (names !== undefined) assert.match(detail, names)
      })
    )

    it.effect("rejects what an author claims where a commit between holds a billion files", () =>
      Effect.gen(function* () {
        const made = yield* repository
        const base = yield* made.git("rev-parse", "HEAD")
        hostile("a commit of a billion files").write(made.root)
        const bomb = yield* made.git("rev-parse", "HEAD")
        const work = yield* made.git("commit-tree", "-p", bomb, "-m", "clean", `${base}^{tree}`)
        yield* made.git("update-ref", "HEAD", work)
        const event = yield* verifyClaims(claims(base, [{ id: "T1", commit: bomb, files: [] }]), made.place)
        assert.containSubset(event, { _tag: "ClaimsRejected", reason: "dirty-tree" })
        assert.match(event._tag === "ClaimsRejected" ? event.detail : "", /^git diff cannot read/)
      })
    )

    it.effect("refuses to begin a run, with the reason", () =>
      Effect.gen(function* () {
        const made = yield* repository
        hostile("a pattern of ignored files with many asterisks").write(made.root)
        const { event } = yield* prepare(prepareIn(made.root), host, undefined, crypto.randomUUID())
        assert.containSubset(event, { _tag: "WorkspaceRefused", kind: "other" })
        assert.match(event._tag === "WorkspaceRefused" ? event.reason : "", /\.gitignore has more asterisks in line 1/)
      })
    )

    it.effect("frees a run's worktree that it cannot look at, and keeps it", () =>
      Effect.gen(function* () {
        const made = yield* repository
        const { place } = yield* prepare(prepareIn(made.root, { worktree: true }), host, undefined, "request")
        if (place === undefined) return assert.fail("The workspace was refused.")
        const tree = at(place.directory)
        yield* tree.write(".gitignore", `d/${"*a".repeat(24)}*b/f\n`)
        yield* tree.write(`d/${"a".repeat(60)}/f`, "")
        const released = yield* doCommand(
          { command: { _tag: "ReleaseWorkspace", runId, outcome: "completed" }, requestId: "q" },
          place
        )
        assert.strictEqual(released.event._tag, "WorkspaceReleased")
        assert.isTrue(existsSync(place.directory))
        const again = yield* prepare(prepareIn(made.root, { worktree: true }), host, undefined, "another")
        assert.notMatch(JSON.stringify(again.event), /in use by/)
      })
    )
  }
)
