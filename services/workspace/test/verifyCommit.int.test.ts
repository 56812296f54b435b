import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { verify } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

/** A repository with a base commit and one commit of work after it. */
const withWork = Effect.gen(function* () {
  const made = yield* repository
  const base = yield* made.git("rev-parse", "HEAD")
  yield* made.write("src/a.ts", "export const a = 1\n")
  return { ...made, base, work: yield* made.commit("work") }
})
type WithWork = Effect.Success<typeof withWork>

const outcome = (made: Repository, commit: string, base: string, reviewPath?: string) =>
  Effect.map(verifyCommit(verify(commit, base, reviewPath), made.place), (event) =>
    event._tag === "CommitRejected" ? event.reason : event.commit
  )

layer(adapters, { excludeTestServices: true })("verifying a commit", (it) => {
  it.effect("accepts new work by its full or its short hash, and returns the full one with a diff stat", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      const event = yield* verifyCommit(verify(made.work, made.base), made.place)
      assert.containSubset(event, { _tag: "CommitVerified", commit: made.work })
      assert.match(event._tag === "CommitVerified" ? (event.diffStat ?? "") : "", /src\/a\.ts \| 1 \+/)
      assert.strictEqual(yield* outcome(made, made.work.slice(0, 7), made.base), made.work)
      assert.strictEqual(yield* outcome(made, made.work.slice(0, 9).toUpperCase(), made.base), made.work)
      assert.strictEqual(yield* outcome(made, ` ${made.work}\n`, made.base), made.work)
    })
  )

  it.effect("tells what was changed since the phase began, not since the last verified commit alone", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("src/b.ts", "1")
      const fix = yield* made.commit("fix")
      const diffStat = (phaseBase: string) =>
        Effect.map(verifyCommit({ ...verify(fix, made.work), phaseBase }, made.place), (event) =>
          event._tag === "CommitVerified" ? (event.diffStat ?? "") : event.detail
        )
      assert.match(yield* diffStat(made.base), /src\/a\.ts [\s\S]*src\/b\.ts/)
      const gone = yield* diffStat("deadbeefdeadbeefdeadbeefdeadbeefdeadbeef")
      assert.match(gone, /^ src\/b\.ts/)
    })
  )

  it.effect.each(["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"])(
    "refuses a clean tree in which git has unfinished work: %s",
    (name) =>
      Effect.gen(function* () {
        const made = yield* withWork
        yield* made.write(`.git/${name}${name.startsWith("rebase") ? "/done" : ""}`, `${made.base}\n`)
        const event = yield* verifyCommit(verify(made.work, made.base), made.place)
        assert.containSubset(event, { _tag: "CommitRejected", reason: "dirty-tree" })
        assert.include(event._tag === "CommitRejected" ? event.detail : "", `git's ${name} (says that a`)
      })
  )

  it.effect("tells what a history that goes back behind the phase took away", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.git("reset", "--hard", made.base)
      yield* made.write("src/b.ts", "1")
      const other = yield* made.commit("without the approved work")
      const event = yield* verifyCommit({ ...verify(other, made.base), phaseBase: made.work }, made.place)
      assert.match(event._tag === "CommitVerified" ? (event.diffStat ?? "") : event.detail, /src\/a\.ts \| 1 -/)
    })
  )

  it.effect("refuses an earlier commit when more work follows it, on whose files gates would run", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("src/b.ts", "1")
      const more = yield* made.commit("more")
      const event = yield* verifyCommit(verify(made.work, made.base), made.place)
      assert.containSubset(event, { _tag: "CommitRejected", reason: "dirty-tree" })
      const detail = event._tag === "CommitRejected" ? event.detail : ""
      assert.include(detail, `HEAD is ${more}, and ${made.work} was reported`)
      assert.include(detail, "Report HEAD, or take what comes after")
      assert.strictEqual(yield* outcome(made, more, made.base), more)
    })
  )

  const rejections: ReadonlyArray<
    readonly [string, string, (made: WithWork) => Effect.Effect<{ readonly commit: string; readonly base?: string }>]
  > = [
    ["no name", "missing", () => Effect.succeed({ commit: " " })],
    ["a made-up hash", "missing", () => Effect.succeed({ commit: "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef" })],
    [
      "a branch that looks like a hash",
      "missing",
      (made) => Effect.as(made.git("branch", "abcdef1"), { commit: "abcdef1" })
    ],
    ["a tree", "not-a-commit", (made) => Effect.map(made.git("rev-parse", "HEAD^{tree}"), (commit) => ({ commit }))],
    ["a file", "not-a-commit", (made) => Effect.map(made.git("rev-parse", "HEAD:PLAN.md"), (commit) => ({ commit }))],
    [
      "a tag object",
      "not-a-commit",
      (made) =>
        Effect.map(Effect.andThen(made.git("tag", "-am", "v1", "v1"), made.git("rev-parse", "v1")), (commit) => ({
          commit
        }))
    ],
    [
      "a commit on another branch",
      "unreachable",
      (made) =>
        Effect.gen(function* () {
          yield* made.git("checkout", "--quiet", "-b", "other", made.base)
          yield* made.write("c.ts", "1")
          const commit = yield* made.commit("elsewhere")
          yield* made.git("checkout", "--quiet", "main")
          return { commit }
        })
    ],
    [
      "a commit that was amended away",
      "unreachable",
      (made) => Effect.as(made.git("commit", "--quiet", "--amend", "-m", "again"), { commit: made.work })
    ],
    ["the base itself", "not-new", (made) => Effect.succeed({ commit: made.base })],
    ["a commit older than the base", "not-new", (made) => Effect.succeed({ commit: made.base, base: made.work })],
    [
      "work after a base that was rewritten",
      "not-new",
      (made) =>
        Effect.gen(function* () {
          yield* made.git("checkout", "--quiet", "--orphan", "fresh")
          return { commit: yield* made.commit("rewritten") }
        })
    ],
    [
      "an empty commit",
      "empty",
      (made) => Effect.map(made.commit("nothing"), (commit) => ({ commit, base: made.work }))
    ],
    [
      "work with a file left changed",
      "dirty-tree",
      (made) => Effect.as(made.write("src/a.ts", "changed"), { commit: made.work })
    ],
    [
      "work with a file left untracked",
      "dirty-tree",
      (made) => Effect.as(made.write("new/b.ts", "1"), { commit: made.work })
    ],
    [
      "work with a file left staged",
      "dirty-tree",
      (made) => Effect.as(Effect.andThen(made.write("b.ts", "1"), made.git("add", "b.ts")), { commit: made.work })
    ],
    [
      "work with a renamed file left staged",
      "dirty-tree",
      (made) => Effect.as(made.git("mv", "src/a.ts", "src/z.ts"), { commit: made.work })
    ]
  ]
  for (const [what, reason, arrange] of rejections) {
    it.effect(`rejects ${what} as ${reason}`, () =>
      Effect.gen(function* () {
        const made = yield* withWork
        const { base = made.base, commit } = yield* arrange(made)
        assert.strictEqual(yield* outcome(made, commit, base), reason)
      })
    )
  }

  it.effect("names the commit that the work counts from once its base was amended, and only then", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.git("commit", "--quiet", "--amend", "-m", "again")
      const amended = yield* made.git("rev-parse", "HEAD")
      const rejected = yield* verifyCommit(verify(amended, made.work), made.place)
      assert.containSubset(rejected, { _tag: "CommitRejected", reason: "not-new", base: made.base })
      assert.strictEqual((yield* verifyCommit(verify(amended, made.base), made.place))._tag, "CommitVerified")
      assert.notProperty(yield* verifyCommit(verify(made.base, made.base), made.place), "base")
    })
  )

  const hostile = [
    "--upload-pack=touch owned",
    "-x",
    "--",
    "HEAD~1..HEAD",
    "a..b",
    "HEAD",
    "HEAD^",
    "main",
    "HEAD@{1}",
    "abcd\n^HEAD",
    "abcd --not HEAD",
    ":/work",
    "$(touch owned)",
    "`touch owned`",
    "abc",
    "g".repeat(40),
    "a".repeat(65),
    "abcd\0ef"
  ]
  for (const name of hostile) {
    it.effect(`refuses the name ${JSON.stringify(name.slice(0, 50))} before git sees it`, () =>
      Effect.gen(function* () {
        const made = yield* withWork
        // Not a repository: git would fail where the name alone does not decide.
        yield* made.remove(".git")
        assert.strictEqual(yield* outcome(made, name, made.base), "not-a-commit")
      })
    )
  }

  it.effect("ignores the review file and the files that Reprise writes", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      for (const path of [
        "docs/reviews/plan-phase-1-review.md",
        ".reprise/logs/r1/x.log",
        ".planning/phases/01-one/.continuation-state.json",
        ".planning/phases/01-one/SUMMARY.md"
      ]) {
        yield* made.write(path, "x")
      }
      assert.strictEqual(yield* outcome(made, made.work, made.base, "./docs/reviews/plan-phase-1-review.md"), made.work)
      assert.strictEqual(yield* outcome(made, made.work, made.base), "dirty-tree")
    })
  )

  for (const path of ["opencode.json", "packages/app/opencode.jsonc"]) {
    it.effect(`ignores the schema address that OpenCode adds to ${path}, but no other change to it`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        const base = yield* made.git("rev-parse", "HEAD")
        yield* made.write(path, '{"share":"disabled"}\n')
        const work = yield* made.commit("work")
        const address = '{\n  "$schema": "https://opencode.ai/config.json",'
        yield* made.write(path, `${address}"share":"disabled"}\n`)
        assert.strictEqual(yield* outcome(made, work, base), work)
        yield* made.write(path, `${address}"share":"manual"}\n`)
        assert.strictEqual(yield* outcome(made, work, base), "dirty-tree")
        yield* made.remove(path)
        assert.strictEqual(yield* outcome(made, work, base), "dirty-tree")
      })
    )
  }

  it.effect("ignores that address where git checks files out with other line ends", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const base = yield* made.git("rev-parse", "HEAD")
      yield* made.git("config", "core.autocrlf", "true")
      yield* made.write("opencode.json", '{\r\n"share":"disabled"}\r\n')
      const work = yield* made.commit("work")
      yield* made.write(
        "opencode.json",
        '{\n  "$schema": "https://opencode.ai/config.json",\r\n"share":"disabled"}\r\n'
      )
      assert.strictEqual(yield* outcome(made, work, base), work)
    })
  )

  it.effect("ignores a reprise.local.toml of the user, but not one that the repository has", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("reprise.local.toml", 'model = "a/b"\n')
      assert.strictEqual(yield* outcome(made, made.work, made.base), made.work)
      yield* made.write("below/reprise.local.toml", 'model = "a/b"\n')
      assert.strictEqual(yield* outcome(made, made.work, made.base), "dirty-tree")
      const work = yield* made.commit("with settings")
      yield* made.write("reprise.local.toml", 'model = "c/d"\n')
      assert.strictEqual(yield* outcome(made, work, made.base), "dirty-tree")
    })
  )

  it.effect("does not ignore a SUMMARY.md elsewhere", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("docs/SUMMARY.md", "x")
      assert.strictEqual(yield* outcome(made, made.work, made.base), "dirty-tree")
    })
  )

  it.effect("ignores files that were dirty when the run began with --allow-dirty, and no others", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("notes/todo.txt", "x")
      const place = { ...made.place, tolerated: ["notes/"] }
      const verified = yield* verifyCommit(verify(made.work, made.base), place)
      assert.strictEqual(verified._tag, "CommitVerified")
      yield* made.write("notes2.txt", "x")
      const rejected = yield* verifyCommit(verify(made.work, made.base), place)
      assert.containSubset(rejected, {
        _tag: "CommitRejected",
        reason: "dirty-tree",
        detail: "Not committed: notes2.txt."
      })
    })
  )

  it.effect("names dirty files, however odd their names are", () =>
    Effect.gen(function* () {
      const made = yield* withWork
      yield* made.write("ä b\nc.txt", "x")
      const event = yield* verifyCommit(verify(made.work, made.base), made.place)
      assert.containSubset(event, { reason: "dirty-tree", detail: "Not committed: ä b\nc.txt." })
    })
  )
})
