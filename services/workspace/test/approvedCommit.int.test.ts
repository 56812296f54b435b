/** Where a run begins, nobody may have left commits that no reviewer has seen: its first phase is counted from before them. */
import { assert, layer } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { inMemory } from "./support/brokers.ts"
import { finish } from "./support/commands.ts"
import { done, type Prepare, prepared, r2, refused, services } from "./support/preparing.ts"
import { at, type Repository, repository } from "./support/repository.ts"

const inWorktree = (made: Repository, more: Partial<Prepare> = {}) => prepared(made.root, { worktree: true, ...more })

const work = Effect.fnUntraced(function* (root: string, path: string) {
  const tree = at(root)
  yield* tree.write(path, path)
  return yield* tree.commit(path)
})

const countedFrom = ({ event }: Effect.Success<ReturnType<typeof prepared>>) =>
  event._tag === "WorkspacePrepared" ? [event.head, event.base] : event._tag

layer(services, { excludeTestServices: true })("the first phase of a run is counted", (it) => {
  it.effect("from before the commits of a run that was aborted, in the worktree that it left", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const begin = yield* made.git("rev-parse", "HEAD")
      const first = yield* inWorktree(made)
      assert.deepStrictEqual(countedFrom(first), [begin, undefined])
      const unseen = yield* work(first.place.directory, "backdoor")
      yield* done(first.place, "failed")
      assert.deepStrictEqual(countedFrom(yield* inWorktree(made, { runId: r2 })), [unseen, begin])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("from there also where its worktree was removed, and only its branch is left", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const begin = yield* made.git("rev-parse", "HEAD")
      const { place } = yield* inWorktree(made)
      const unseen = yield* work(place.directory, "backdoor")
      yield* done(place, "failed")
      yield* made.git("worktree", "remove", "--force", place.directory)
      assert.deepStrictEqual(countedFrom(yield* inWorktree(made, { runId: r2 })), [unseen, begin])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("from the last commit with which a phase was finished", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      const approved = yield* work(place.directory, "phase 1")
      yield* finishPhase(finish(undefined, approved), place)
      const unseen = yield* work(place.directory, "phase 2")
      yield* done(place, "failed")
      assert.deepStrictEqual(countedFrom(yield* inWorktree(made, { runId: r2 })), [unseen, approved])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("from where a branch parted from HEAD that another run has made under the name of this one", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const begin = yield* made.git("rev-parse", "HEAD")
      const { place } = yield* inWorktree(made, { planPath: "PLAN.md", branch: "reprise/other" })
      const unseen = yield* work(place.directory, "backdoor")
      yield* made.git("update-ref", "refs/heads/reprise/plan", unseen)
      yield* work(made.root, "mine")
      assert.deepStrictEqual(countedFrom(yield* inWorktree(made, { runId: r2 })), [unseen, begin])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("not at all on such a branch that has no commit in common with HEAD", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const other = yield* made.git("commit-tree", "-m", "other", "HEAD^{tree}")
      yield* made.git("update-ref", "refs/heads/reprise/plan", other)
      assert.match(
        yield* refused(made.root, { worktree: true }),
        /^other: The branch 'reprise\/plan' exists, has no commit in common with HEAD of /
      )
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("from the end of a branch that the user has named", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.git("checkout", "--quiet", "-b", "feature")
      const own = yield* work(made.root, "mine")
      yield* made.git("checkout", "--quiet", "main")
      assert.deepStrictEqual(countedFrom(yield* inWorktree(made, { branch: "feature" })), [own, undefined])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("in the user's own tree from before the commits of an aborted run, unless the user has added some", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const begin = yield* made.git("rev-parse", "HEAD")
      const first = yield* prepared(made.root)
      const unseen = yield* work(made.root, "backdoor")
      yield* done(first.place, "failed")
      const second = yield* prepared(made.root, { runId: r2 })
      assert.deepStrictEqual(countedFrom(second), [unseen, begin])
      yield* done(second.place, "failed", r2)
      const own = yield* work(made.root, "mine")
      const third = yield* prepared(made.root, { runId: RunId.make("r3") })
      assert.deepStrictEqual(countedFrom(third), [own, undefined])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )

  it.effect("in the user's own tree from HEAD after a run that was completed", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* prepared(made.root)
      const approved = yield* work(made.root, "phase 1")
      yield* finishPhase(finish(undefined, approved), place)
      yield* done(place)
      assert.deepStrictEqual(countedFrom(yield* prepared(made.root, { runId: r2 })), [approved, undefined])
    }).pipe(Effect.provide(Layer.fresh(inMemory)))
  )
})
