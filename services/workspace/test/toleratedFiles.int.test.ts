/** What was not committed when a run began is not a change as long as it is as it was then: a gate runs on it, and no reviewer sees it. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Place } from "../src/actor/work.ts"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { commandSlugs, qualityLog } from "../src/work/qualityGates/logNames.ts"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { finish, gates, verify } from "./support/commands.ts"
import { forge, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const unreadableName = ({ root }: { readonly root: string }) => Buffer.from(`${root}/generated/caf\xe9.py`, "latin1")

/** A tree that was dirty when a run began in it: the run's own, left so by `postCreate`, or the user's, with --allow-dirty. */
const dirtyTree = Effect.fnUntraced(function* (whose: "run" | "user") {
  const at = yield* scene
  // Of a run's own tree the state is elsewhere.
  const root = whose === "user" ? at.root : `${at.root}-state`
  mkdirSync(root, { recursive: true })
  at.put("tests/one.mjs", "committed\n")
  at.put(".gitignore", "node_modules/\n*.log\n/.reprise/\n")
  const base = at.commit("tests")
  at.put("tests/one.mjs", "mine\n")
  at.put("generated/data.txt", "1\n")
  at.put("generated/deep/data.txt", "1\n")
  at.put("generated/constructor", "1\n")
  at.put("notes.txt", "1\n")
  at.put("opencode.json", '{ "a": 1 }\n')
  writeFileSync(unreadableName(at), "1\n")
  mkdirSync(join(at.root, "nested"))
  at.git("-C", "nested", "init", "--quiet")
  at.put("nested/a.txt", "1\n")
  const tolerated = yield* requireClean({ directory: at.root, root }, true)
  const place: Place = { ...at.place, root, tolerated }
  const work = () => {
    at.put("src/a.mjs", "export const a = 1\n")
    at.git("add", "src")
    at.git("commit", "--quiet", "-m", "work")
  }
  const outcome = Effect.suspend(() =>
    Effect.map(verifyCommit(verify(at.git("rev-parse", "HEAD"), base), place), (event) =>
      event._tag === "CommitRejected" ? `${event.reason}: ${event.detail}` : (event.notes?.join(" ") ?? "verified")
    )
  )
  return { ...at, base, place, work, outcome }
})
const dirty = dirtyTree("run")
type Dirty = Effect.Success<typeof dirty>

const isNew = "\\(is in no commit, and was not there when the run began"
const isChanged = "\\(was not committed when the run began, and has another content now"

const isInPart = "\\(has another content than this work's commits have of it"

const attacks: ReadonlyArray<{
  readonly name: string
  readonly attack: (at: Dirty) => void
  readonly told: RegExp
}> = [
  {
    name: "a new file in a folder",
    attack: (at) => at.put("generated/conftest.py", "\n"),
    told: new RegExp(`generated/conftest\\.py ${isNew}`)
  },
  {
    name: "new files with names that every object has",
    attack: (at) => {
      at.put("generated/toString", "\n")
      at.put("generated/__proto__", "\n")
    },
    told: new RegExp(`generated/__proto__ ${isNew}.*generated/toString ${isNew}`)
  },
  {
    name: "a file in a folder with another content, and the same size and time",
    attack: (at) => forge(at, "generated/deep/data.txt", "2\n"),
    told: new RegExp(`generated/deep/data\\.txt ${isChanged}`)
  },
  {
    name: "a file with another content whose name is not UTF-8",
    attack: (at) => writeFileSync(unreadableName(at), "2\n"),
    told: new RegExp(`generated/caf\uFFFDe9\\.py ${isChanged}`)
  },
  {
    name: "a committed file whose name is not UTF-8, removed",
    attack: (at) => {
      at.git("add", "generated")
      at.git("commit", "--quiet", "-m", "generated")
      rmSync(unreadableName(at))
    },
    told: new RegExp(`generated/caf\uFFFD\\.py ${isInPart}`)
  },
  {
    name: "settings of OpenCode's with more than the address of their schema",
    attack: (at) => at.put("opencode.json", '{\n  "$schema": "https://opencode.ai/config.json", "a": 2 }\n'),
    told: new RegExp(`opencode\\.json ${isChanged}`)
  },
  {
    name: "a file outside of folders",
    attack: (at) => forge(at, "notes.txt", "2\n"),
    told: new RegExp(`notes\\.txt ${isChanged}`)
  },
  {
    name: "a link in the place of a file",
    attack: (at) => {
      rmSync(join(at.root, "notes.txt"))
      symlinkSync("generated/data.txt", join(at.root, "notes.txt"))
    },
    told: new RegExp(`notes\\.txt ${isChanged}`)
  },
  {
    name: "a folder under another name",
    attack: (at) => renameSync(join(at.root, "generated/deep"), join(at.root, "generated/other")),
    told: new RegExp(`generated/other/data\\.txt ${isNew}`)
  },
  {
    name: "a committed file that somebody had changed, with another content",
    attack: (at) => at.put("tests/one.mjs", "evil\n"),
    told: new RegExp(`tests/one\\.mjs ${isChanged}`)
  },
  {
    name: "a committed file that somebody had changed, removed",
    attack: (at) => rmSync(join(at.root, "tests/one.mjs")),
    told: new RegExp(`tests/one\\.mjs ${isChanged}`)
  },
  {
    name: "a file of a folder that the author committed, with another content afterwards",
    attack: (at) => {
      at.put("generated/check.mjs", "honest\n")
      at.git("add", "generated/check.mjs")
      at.git("commit", "--quiet", "-m", "check")
      at.put("generated/check.mjs", "forged\n")
    },
    told: new RegExp(`generated/check\\.mjs ${isInPart}`)
  },
  {
    name: "a new file in a repository of its own, of which git lists only the folder",
    attack: (at) => at.put("nested/conftest.py", "\n"),
    told: new RegExp(`nested/conftest\\.py ${isNew}`)
  }
]

/** The author leaves the file as it was, and commits it otherwise. */
const committedInPart: ReadonlyArray<{ readonly name: string; readonly path: string }> = [
  { name: "a file that had a change", path: "tests/one.mjs" },
  { name: "a file that no commit had", path: "notes.txt" },
  { name: "a file in a folder that no commit had", path: "generated/deep/data.txt" }
]

const allowed: ReadonlyArray<{ readonly name: string; readonly leave: (at: Dirty) => void }> = [
  { name: "as it was", leave: () => undefined },
  {
    name: "touched, or written again with the same content",
    leave: (at) => {
      const now = new Date()
      utimesSync(join(at.root, "generated/data.txt"), now, now)
      at.put("generated/deep/data.txt", "1\n")
    }
  },
  {
    name: "with the address of its schema, which OpenCode adds",
    leave: (at) => at.put("opencode.json", '{\n  "$schema": "https://opencode.ai/config.json", "a": 1 }\n')
  },
  {
    name: "removed where no commit has it",
    leave: (at) => {
      rmSync(join(at.root, "notes.txt"))
      rmSync(join(at.root, "generated/deep"), { recursive: true })
    }
  },
  {
    name: "committed",
    leave: (at) => {
      at.put("tests/one.mjs", "work\n")
      at.git("add", "tests", "generated")
      at.git("commit", "--quiet", "-m", "more")
    }
  },
  {
    name: "together with what rules of the commit hide",
    leave: (at) => at.put("generated/node_modules/a/index.js", "")
  },
  {
    name: "together with what git keeps of a repository in it",
    leave: (at) => {
      at.git("-C", "nested", "add", "a.txt")
      at.git("-C", "nested", "commit", "--quiet", "-m", "theirs")
    }
  }
]

layer(adapters, { excludeTestServices: true })("what was not committed before a run", (it) => {
  it.effect.each(attacks)("is told to the author with $name, and the phase does not end", ({ attack, told }) =>
    Effect.gen(function* () {
      const at = yield* dirty
      at.work()
      assert.strictEqual(yield* at.outcome, "verified")
      attack(at)
      const detail = yield* at.outcome
      assert.match(detail, /^dirty-tree: Not committed: /)
      assert.match(detail, told)
      const finished = yield* finishPhase(finish(undefined, at.git("rev-parse", "HEAD")), at.place)
      assert.strictEqual(finished._tag, "PhaseBlocked")
    })
  )

  it.effect.each(allowed)("does not count as a change by the author: $name", ({ leave }) =>
    Effect.gen(function* () {
      const at = yield* dirty
      at.work()
      leave(at)
      assert.strictEqual(yield* at.outcome, "verified")
    })
  )

  it.effect.each(committedInPart)("is told to the author who commits $name with another content", ({ path }) =>
    Effect.gen(function* () {
      for (const whose of ["run", "user"] as const) {
        const at = yield* dirtyTree(whose)
        at.work()
        const other = at.git("rev-parse", "HEAD:tools/check.mjs")
        at.git("update-index", "--add", "--cacheinfo", `100644,${other},${path}`)
        at.git("commit", "--quiet", "-m", "in part")
        assert.match(yield* at.outcome, new RegExp(`^dirty-tree: Not committed: .*${path} ${isInPart}`))
      }
    })
  )

  it.effect("is noted and not refused where it changed in the user's own tree, in which a user may work", () =>
    Effect.gen(function* () {
      const at = yield* dirtyTree("user")
      at.work()
      at.put("notes.txt", "2\n")
      assert.match(yield* at.outcome, /^Files that were not committed .* have changed, .*: notes\.txt\.$/)
      const finished = yield* finishPhase(finish(undefined, at.git("rev-parse", "HEAD")), at.place)
      assert.strictEqual(finished._tag, "PhaseFinished")
      at.put("generated/conftest.py", "\n")
      assert.match(yield* at.outcome, new RegExp(`^dirty-tree: .*generated/conftest\\.py ${isNew}`))
    })
  )

  it.effect.each(["true", "false"])("is put back after quality gates, whether they pass: %s", (ending) =>
    Effect.gen(function* () {
      const at = yield* dirty
      at.work()
      const writing =
        "echo 2 > generated/data.txt && echo 2 > generated/report.txt && ln -sf notes.txt generated/deep/data.txt"
      const event = yield* qualityGates(gates([writing, "chmod 755 notes.txt", ending]), at.place)
      assert.strictEqual(event._tag, ending === "true" ? "QualityPassed" : "QualityFailed")
      assert.strictEqual(yield* at.outcome, "verified")
      assert.strictEqual(readFileSync(join(at.root, "generated/data.txt"), "utf8"), "1\n")
      assert.strictEqual(readFileSync(join(at.root, "generated/deep/data.txt"), "utf8"), "1\n")
      assert.isFalse(existsSync(join(at.root, "generated/report.txt")))
      const [moved = "", restored = ""] = "notes" in event ? (event.notes ?? []) : []
      assert.match(moved, /was moved to .*: generated\/report\.txt\.$/)
      assert.match(restored, /were put back, .*: generated\/data\.txt, generated\/deep\/data\.txt, notes\.txt\.$/)
      const [, aside = ""] = /moved to (.*): /.exec(moved) ?? []
      assert.lengthOf(readdirSync(aside), 4, "nothing is lost")
    })
  )

  it.effect("is put back before quality gates, if earlier ones were killed with their host", () =>
    Effect.gen(function* () {
      const at = yield* dirty
      at.work()
      at.put("generated/report.txt", "2\n")
      at.put("generated/data.txt", "2\n")
      const command = gates(["grep 1 generated/data.txt && test ! -e generated/report.txt"])
      const [slug = ""] = commandSlugs(command.commands)
      const log = join(at.place.root, qualityLog(command.runId, command.phase, command.attempt, slug))
      mkdirSync(dirname(log), { recursive: true })
      writeFileSync(log, "begun")
      const event = yield* qualityGates(command, at.place)
      assert.strictEqual(event._tag, "QualityPassed")
    })
  )

  it.effect("stays as quality gates changed it in the user's own tree, and what they add is moved away", () =>
    Effect.gen(function* () {
      const at = yield* dirtyTree("user")
      at.work()
      yield* qualityGates(gates(["echo 2 > notes.txt; echo 2 > generated/report.txt"]), at.place)
      assert.match(yield* at.outcome, /^Files that were not committed .* have changed, .*: notes\.txt\.$/)
      assert.isFalse(existsSync(join(at.root, "generated/report.txt")))
    })
  )

  it.effect("is not what an earlier run left there, when another run begins in its worktree", () =>
    Effect.gen(function* () {
      const at = yield* dirty
      yield* requireClean(at.place, false, at.place.tolerated)
      at.put("generated/conftest.py", "\n")
      const refused = yield* Effect.flip(requireClean(at.place, false, at.place.tolerated))
      assert.match(refused._tag === "Refused" ? refused.reason : refused._tag, /generated\/conftest\.py/)
      rmSync(join(at.root, "generated/conftest.py"))
      yield* requireClean(at.place, false, at.place.tolerated)
    })
  )
})
