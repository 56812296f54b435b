/**
 * git shows another object in the place of one where a ref below `refs/replace` says so, and no history beyond what its file
 * `shallow` names. Whoever works in the tree may write both, and the git of a person who merges the work obeys them.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { finish } from "./support/commands.ts"
import { type Attack, forged, honest, isRefused, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** Work, and a commit of other work that no branch has. */
const twoWorks = (at: Scene) => {
  const done = at.work()
  at.put("src/a.mjs", forged)
  const other = at.commit()
  at.git("reset", "--quiet", "--hard", done)
  return { done, other }
}

const putPacked = (at: Scene, ...lines: ReadonlyArray<string>) =>
  writeFileSync(
    join(at.root, ".git/packed-refs"),
    ["# pack-refs with: peeled fully-peeled sorted ", ...lines].map((line) => `${line}\n`).join("")
  )

/** Lines among which the folder of replacements is found only by its name with a slash. */
const hiddenAmong = (hash: string, line: string) => [
  `${hash} refs/replace-${"x".repeat(200)}/${"x".repeat(200)}`,
  `${hash} refs/zzz`,
  `${hash} refs/replace-${"y".repeat(100)}`,
  line
]

const putShallow = (at: Scene, ...hashes: ReadonlyArray<string>) =>
  writeFileSync(join(at.root, ".git/shallow"), hashes.map((hash) => `${hash}\n`).join(""))

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a packed ref that replaces the commit",
    attack: (at) => {
      const { done, other } = twoWorks(at)
      putPacked(at, `${other} refs/replace/${done}`)
      return done
    },
    shown: true,
    told: /git's refs\/replace\/[0-9a-f]{40} \(has git show [0-9a-f]{40} in the place of .* 'git update-ref --no-deref -d refs\/replace\/[0-9a-f]{40}'/
  },
  {
    name: "a ref that replaces a file of the commit",
    attack: (at) => {
      const { done, other } = twoWorks(at)
      at.git("replace", at.git("rev-parse", `${done}:src/a.mjs`), at.git("rev-parse", `${other}:src/a.mjs`))
      return done
    },
    told: /git's refs\/replace\/[0-9a-f]{40} \(has git show /
  },
  {
    name: "a packed ref that replaces the commit, where git does not list it",
    attack: (at) => {
      const { done, other } = twoWorks(at)
      const lines = hiddenAmong(done, `${other} refs/replace/${done}`)
      putPacked(at, `${done} refs/heads/main`, ...lines)
      assert.strictEqual(at.git("for-each-ref", "refs/replace"), "")
      assert.strictEqual(at.git("replace", "--list"), done)
      return done
    },
    shown: true,
    told: /git's refs\/replace\/[0-9a-f]{40} \(has git show .*git's packed-refs \(has a line that git would not write there, "[0-9a-f]{40} refs\/replace-y+", .* remove the line if/
  },
  {
    name: "packed refs among which a tag is twice",
    attack: (at) => {
      const done = at.work()
      at.git("pack-refs", "--all")
      putPacked(at, `${done} refs/heads/main`, ...[done, at.base].map((hash) => `${hash} refs/tags/v1`))
      return done
    },
    told: /git's packed-refs \(has a line that git would not write there, "[0-9a-f]{40} refs\/tags\/v1", /
  },
  {
    name: "a packed tag that is said to stand for the work",
    attack: (at) => {
      at.git("tag", "--annotate", "-m", "one", "v1", at.base)
      const done = at.work()
      putPacked(at, `${at.git("rev-parse", "v1")} refs/tags/v1`, `^${done}`)
      rmSync(join(at.root, ".git/refs/tags/v1"))
      assert.strictEqual(at.git("describe"), "v1")
      return done
    },
    told: /git's packed refs\/tags\/v1 \(says that it stands for [0-9a-f]{40}, and it stands for [0-9a-f]{40}, so git describes/
  },
  {
    name: "a packed tag that is said to be none",
    attack: (at) => {
      at.git("tag", "--annotate", "-m", "one", "v1", at.base)
      const done = at.work()
      putPacked(at, `${at.git("rev-parse", "v1")} refs/tags/v1`)
      rmSync(join(at.root, ".git/refs/tags/v1"))
      return done
    },
    told: /git's packed refs\/tags\/v1 \(says that it stands for /
  },
  {
    name: "a packed ref of a submodule that replaces its commit",
    attack: (at) => {
      mkdirSync(join(at.root, "library"))
      at.git("-C", "library", "init", "--quiet")
      at.put("library/index.mjs", honest)
      at.git("-C", "library", "add", "--all")
      at.git("-C", "library", "commit", "--quiet", "-m", "library")
      const done = at.commit()
      const [commit, other] = [
        at.git("-C", "library", "rev-parse", "HEAD"),
        at.git(
          "-C",
          "library",
          "commit-tree",
          "-m",
          "x",
          at.git("-C", "library", "hash-object", "-wt", "tree", "/dev/null")
        )
      ]
      writeFileSync(join(at.root, "library/.git/packed-refs"), `${other}\trefs/replace/${commit}\n`)
      return done
    },
    shown: true,
    told: /library \(differs from its commit: git's refs\/replace\/[0-9a-f]{40}, which has git show /
  },
  {
    name: "a file that ends the history at the commit before the work",
    attack: (at) => {
      const done = at.work()
      putShallow(at, at.base)
      return done
    },
    told: /git's shallow at [0-9a-f]{40} \(ends the history there: take the line out of the file/
  },
  {
    name: "such a file that a link leads to",
    attack: (at) => {
      const done = at.work()
      writeFileSync(join(at.root, ".reprise", "ends"), `${at.base}\n`)
      symlinkSync("../.reprise/ends", join(at.root, ".git/shallow"))
      return done
    },
    told: /git's shallow at [0-9a-f]{40} \(ends the history there/
  }
]

layer(adapters, { excludeTestServices: true })("a history that git's folder alters", (it) => {
  it.effect.each(attacks)("is refused for the work, the claims and the phase: $name", isRefused)

  it.effect("is refused where the user's environment names the refs that replace objects", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      putPacked(at, `${other} refs/instead/${done}`)
      const name = "GIT_REPLACE_REF_BASE"
      const detail = yield* Effect.acquireUseRelease(
        Effect.sync(() => Object.assign(process.env, { [name]: "refs/instead/" })),
        () => at.detailOf(done),
        () => Effect.sync(() => delete process.env[name])
      )
      assert.match(detail, /git's refs\/instead\/[0-9a-f]{40} \(has git show /)
    })
  )

  it.effect("is believed as it stood before the run, and refused as it is changed later", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      const blob = (commit: string) => at.git("rev-parse", `${commit}:src/a.mjs`)
      at.git("replace", at.base, done)
      at.git("replace", "--force", blob(done), blob(other))
      yield* requireClean({ directory: at.root, root: at.root }, true)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      at.git("replace", "--force", blob(done), at.git("rev-parse", `${done}:.gitignore`))
      assert.match(yield* at.detailOf(done), /git's refs\/replace\//)
    })
  )

  it.effect(
    "is none where packed refs are as a git without order or tags, or an author that fixes them, leaves them",
    () =>
      Effect.gen(function* () {
        const at = yield* scene
        const done = at.work()
        at.git("tag", "--annotate", "-m", "one", "v1")
        at.git("branch", "a")
        at.git("pack-refs", "--all")
        const file = join(at.root, ".git/packed-refs")
        const written = readFileSync(file, "utf8")
        assert.strictEqual(yield* at.detailOf(done), "verified")
        const lines = written.split("\n").filter((line) => /^[0-9a-f]/.test(line))
        writeFileSync(file, `${lines.toReversed().join("\n")}\n`)
        assert.strictEqual(yield* at.detailOf(done), "verified")
        putPacked(at, ...lines.toReversed())
        const [, mend = ""] = /'(sed .* pack-refs --all)'/.exec(yield* at.detailOf(done)) ?? []
        execFileSync("sh", ["-c", mend], { cwd: at.root })
        assert.strictEqual(yield* at.detailOf(done), "verified")
        assert.strictEqual(readFileSync(file, "utf8"), written)
      })
  )

  it.effect("is believed where the clone was shallow before the run, and refused where it ends elsewhere later", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const older = at.git("rev-parse", "HEAD^")
      putShallow(at, older)
      yield* requireClean({ directory: at.root, root: at.root }, false)
      const done = at.work()
      assert.strictEqual(yield* at.detailOf(done), "verified")
      putShallow(at, older, at.base)
      assert.match(yield* at.detailOf(done), new RegExp(`git's shallow at ${at.base} `))
    })
  )

  it.effect("keeps a phase from its end where a quality gate altered it after the verification", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { done, other } = twoWorks(at)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      putPacked(at, `${other} refs/replace/${done}`)
      const finished = yield* finishPhase(finish(undefined, done), at.place)
      assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join() : finished._tag, /git's refs\/replace\//)
    })
  )
})
